"""NVIDIA's Python module as a small class: for systems without a compiler, and for what nvml.c cannot play."""

from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    """As in pynvml: `value` is the nvmlReturn_t."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


class FakePynvml:
    """One GPU; `memory` is what the driver answers, `init_error` an nvmlReturn_t."""

    NVMLError = NVMLError
    nvmlMemory_v2 = 0x02000028  # noqa: N815 - NVIDIA's name

    def __init__(self, *, init_error: int = 0, **memory: int) -> None:
        self.init_error = init_error
        self.memory = {"total": 100, "used": 40, "free": 50, "reserved": 10} | memory
        self.processes: list[Any] = []
        self.instances: list[dict[str, int]] = []  # memory of each part of a GPU that is cut into such
        self.n_inits = 0

    def nvmlInit(self) -> None:  # noqa: N802 - NVIDIA's name
        """Fails with `init_error` if that is not 0."""
        self.n_inits += 1
        if self.init_error:
            raise NVMLError(self.init_error)

    def nvmlDeviceGetMemoryInfo(self, handle: object, version: int | None = None) -> SimpleNamespace:  # noqa: N802
        """Both versions answer alike; `reserved` only the newer one has. A GPU in instances tells of them alone."""
        if isinstance(handle, dict):
            return SimpleNamespace(**handle)
        if self.instances:
            raise NVMLError(4)
        return SimpleNamespace(**self.memory)

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: object) -> int:  # noqa: N802
        """As many as the GPU could have, not as it has."""
        return 7 if self.instances else 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: object, index: int) -> dict[str, int]:  # noqa: N802
        """Not found for those that are not there or may not be seen."""
        if index >= len(self.instances):
            raise NVMLError(6)
        return self.instances[index]

    def nvmlDeviceGetPciInfo(self, handle: object) -> SimpleNamespace:  # noqa: N802
        """As bytes, like the C structure."""
        return SimpleNamespace(busId=b"00000000:01:00.0")

    def nvmlDeviceGetUtilizationRates(self, handle: object) -> SimpleNamespace:  # noqa: N802
        """Idle."""
        return SimpleNamespace(gpu=0, memory=0)

    def nvmlDeviceGetComputeRunningProcesses_v3(self, handle: object) -> list[Any]:  # noqa: N802
        """`processes`."""
        return self.processes

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_v2") or not name.startswith("nvml"):
            raise AttributeError(name)
        answers = {"nvmlDeviceGetCount": 1, "nvmlDeviceGetUUID": "GPU-fake", "nvmlDeviceGetName": "Fake"}
        lists = "nvmlDeviceGetGraphicsRunningProcesses_v3"
        return lambda *_: [] if name == lists else answers.get(name, 42)


def process(pid: int, used: int | None) -> SimpleNamespace:
    """One row of a process list."""
    return SimpleNamespace(pid=pid, usedGpuMemory=used)
