"""NVML's answers as values: each call gives a figure, or None and why. No exception of pynvml leaves this file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from layadesk.domain.hardware import Throttle, Why

ValueT = TypeVar("ValueT")

_NOT_AVAILABLE = 2**64 - 1  # NVML_VALUE_NOT_AVAILABLE, also as two 32-bit halves elsewhere
_NOT_AVAILABLE_32 = 2**32 - 1

# nvmlClocksEventReasons; 0x1 is idle
_THROTTLE = {
    Throttle.THERMAL: 0x20 | 0x40,
    Throttle.POWER_BRAKE: 0x80,
    Throttle.HARDWARE: 0x8,
    Throttle.POWER_CAP: 0x4,
}

# nvmlReturn_t
_REASONS = {
    1: Why.LOST,  # uninitialized: someone else shut it down
    2: Why.LOST,  # invalid argument: the handle of a GPU that was unplugged
    3: Why.UNSUPPORTED,
    4: Why.NO_PERMISSION,
    6: Why.LOST,  # not found
    9: Why.NO_DRIVER,
    10: Why.TIMEOUT,
    12: Why.NO_DRIVER,
    13: Why.UNSUPPORTED,  # function not found: an older driver
    15: Why.LOST,
    18: Why.DRIVER_MISMATCH,
    25: Why.UNSUPPORTED,  # argument version mismatch
    28: Why.LOST,  # GPU not found
    999: Why.LOST,  # unknown: what a container gets whose devices were taken away
}


@dataclass(frozen=True, slots=True)
class Answer(Generic[ValueT]):
    """A figure, or None and why."""

    value: ValueT | None
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class Vram:
    """Bytes of one GPU; `used_bytes` is without `reserved_bytes`, as far as the driver tells them apart."""

    total_bytes: int | None
    used_bytes: int | None
    reserved_bytes: int | None


@dataclass(frozen=True, slots=True)
class ProcessShares:
    """Bytes by pid, None where the driver does not tell; `n_scrambled` rows made no sense."""

    by_pid: Mapping[int, int | None]
    n_scrambled: int = 0


@dataclass(frozen=True, slots=True)
class NvmlGpu:
    """One GPU at the opening of the driver. `address` is the PCI address as sysfs writes it, where known; `instances`
    are the handles of the parts (MIG) that this program may see, where the GPU is cut into such.
    """

    gpu_id: str
    name: str
    handle: Any
    address: str | None
    instances: tuple[Any, ...] = ()


class Nvml:
    """An initialised NVML. GPU lane only."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._has_memory_v2 = True
        self.count = 0

    @classmethod
    def open(cls, load: Callable[[], Any]) -> tuple["Nvml | None", Why | None]:
        """Load and initialise, or say why that is not possible."""
        try:
            library = load()
        except (ImportError, OSError):
            return None, Why.NO_DRIVER
        nvml = cls(library)
        why = nvml._ask(library.nvmlInit).why
        return (nvml, None) if why is None else (None, why)

    def shutdown(self) -> None:
        """Let go of the driver; a driver that is gone already is no error."""
        self._ask(self._library.nvmlShutdown)

    def gpus(self) -> Iterator[NvmlGpu]:
        """The GPUs that answer, with handles by UUID: indices change when one is unplugged."""
        library = self._library
        self.count = self._ask(library.nvmlDeviceGetCount).value or 0
        for index in range(self.count):
            first = self._ask(library.nvmlDeviceGetHandleByIndex, index).value
            uuid = None if first is None else self._ask(library.nvmlDeviceGetUUID, first).value
            handle = None if uuid is None else self._ask(library.nvmlDeviceGetHandleByUUID, uuid).value
            if uuid is None or handle is None:
                continue
            name = self._ask(library.nvmlDeviceGetName, handle).value or "NVIDIA GPU"
            pci = self._ask(library.nvmlDeviceGetPciInfo, handle).value
            address = None if pci is None else _sysfs_address(_text(pci.busId))
            yield NvmlGpu(_text(uuid), _text(name), handle, address, tuple(self._instances(handle)))

    def memory(self, handle: Any, instances: Iterable[Any] = ()) -> Answer[Vram]:
        """Total, used and reserved. A GPU that is cut into instances refuses (nvidia-container-toolkit #842): then
        it is the sum of those that may be seen.
        """
        answer = self._memory(handle)
        if answer.why not in {Why.NO_PERMISSION, Why.UNSUPPORTED}:
            return answer
        parts = [part for one in instances if (part := self._memory(one).value) is not None]
        if not parts:
            return answer
        totals, used = [part.total_bytes for part in parts], [part.used_bytes for part in parts]
        return Answer(Vram(_sum(totals), _sum(used), _sum([part.reserved_bytes for part in parts])))

    def _instances(self, handle: Any) -> Iterator[Any]:
        count = self._ask(self._library.nvmlDeviceGetMaxMigDeviceCount, handle).value or 0
        for index in range(count):
            found = self._ask(self._library.nvmlDeviceGetMigDeviceHandleByIndex, handle, index).value
            if found is not None:
                yield found

    def _memory(self, handle: Any) -> Answer[Vram]:
        # newer drivers' first version counts the reserved part as used (gpustat #141)
        library = self._library
        if self._has_memory_v2:
            answer = self._ask(library.nvmlDeviceGetMemoryInfo, handle, library.nvmlMemory_v2)
            if answer.value is not None:
                return _vram(answer.value, reserved=int(answer.value.reserved))
            if answer.why is Why.LOST:
                return Answer(None, answer.why)
        answer = self._ask(library.nvmlDeviceGetMemoryInfo, handle)
        if answer.value is None:
            return Answer(None, answer.why)
        self._has_memory_v2 = False  # an older driver; not asked again
        return _vram(answer.value, reserved=None)

    def utilization(self, handle: Any) -> tuple[Answer[float], Answer[float]]:
        """Percent of the last moments in which any kernel ran, and in which memory was read or written."""
        answer = self._ask(self._library.nvmlDeviceGetUtilizationRates, handle)
        if answer.value is None:
            return Answer(None, answer.why), Answer(None, answer.why)
        return _within(float(answer.value.gpu), 0, 100), _within(float(answer.value.memory), 0, 100)

    def power_watts(self, handle: Any) -> Answer[float]:
        """Watts, as a 1 s average on newer GPUs."""
        answer = self._ask(self._library.nvmlDeviceGetPowerUsage, handle)
        return Answer(None, answer.why) if answer.value is None else _within(answer.value / 1000, 0, 5000)

    def power_limit_watts(self, handle: Any) -> Answer[float]:
        """The limit in force, in watts."""
        answer = self._ask(self._library.nvmlDeviceGetEnforcedPowerLimit, handle)
        return Answer(None, answer.why) if answer.value is None else _within(answer.value / 1000, 0, 5000)

    def throttle(self, handle: Any) -> Answer[tuple[Throttle, ...]]:
        """Why the clocks are lower than they could be; empty: they are not."""
        answer: Answer[Any] = Answer(None, Why.UNSUPPORTED)
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            function = getattr(self._library, name, None)
            answer = answer if function is None else self._ask(function, handle)
            if answer.value is not None:
                return Answer(tuple(reason for reason, bits in _THROTTLE.items() if int(answer.value) & bits))
        return Answer(None, answer.why)

    def pcie_bytes_per_s(self, handle: Any) -> tuple[Answer[float], Answer[float]]:
        """Received and sent. Blocks some 20 ms for each, so this is only for loads."""
        answers = [self._ask(self._library.nvmlDeviceGetPcieThroughput, handle, counter) for counter in (1, 0)]
        received, sent = (Answer(None if a.value is None else a.value * 1024.0, a.why) for a in answers)
        return received, sent

    def bandwidth_bytes_per_s(self, handle: Any) -> float | None:
        """The memory's rated speed: twice its highest clock (double data rate) times the width of its bus."""
        clock = self._ask(self._library.nvmlDeviceGetMaxClockInfo, handle, 2).value
        width = self._ask(self._library.nvmlDeviceGetMemoryBusWidth, handle).value
        return 2e6 * clock * width / 8 if clock and width else None

    def temperature(self, handle: Any) -> Answer[float]:
        """Degrees Celsius of the chip."""
        answer = self._ask(self._library.nvmlDeviceGetTemperature, handle, 0)
        return Answer(None, answer.why) if answer.value is None else _within(float(answer.value), -50, 150)

    def processes(self, handle: Any) -> Answer[ProcessShares]:
        """Who uses the GPU. A process in both lists (compute and graphics) counts once."""
        found: dict[int, int | None] = {}
        n_scrambled = 0
        for kind in ("Compute", "Graphics"):
            answer = self._process_list(kind, handle)
            if answer.value is None:
                return Answer(None, answer.why)
            for process in answer.value:
                pid, used = int(process.pid), process.usedGpuMemory
                if pid == 0 or pid >= 2**31:  # a driver with another layout than this module's (nvitop #75)
                    n_scrambled += 1
                    continue
                share = None if used is None or used >= _NOT_AVAILABLE else int(used)
                found[pid] = max((known for known in (found.get(pid), share) if known is not None), default=None)
        return Answer(ProcessShares(found, n_scrambled))

    def _process_list(self, kind: str, handle: Any) -> Answer[Any]:
        # not the unversioned call: it raises something that is no NVMLError on older drivers
        answer: Answer[Any] = Answer(None, Why.UNSUPPORTED)
        for version in ("_v3", "_v2"):
            function = getattr(self._library, f"nvmlDeviceGet{kind}RunningProcesses{version}", None)
            if function is None:
                continue
            answer = self._ask(function, handle)
            if answer.why is not Why.UNSUPPORTED:
                break
        return answer

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Answer[Any]:
        try:
            return Answer(function(*arguments))
        except AttributeError:  # a function this module does not know
            return Answer(None, Why.UNSUPPORTED)
        except self._library.NVMLError as error:
            return Answer(None, _REASONS.get(int(error.value), Why.UNREADABLE))


def _vram(raw: Any, *, reserved: int | None) -> Answer[Vram]:
    total, used, free = int(raw.total), int(raw.used), int(raw.free)
    if max(total, used, free) >= _NOT_AVAILABLE or (reserved or 0) >= _NOT_AVAILABLE:
        return Answer(None, Why.BAD_VALUE)  # WSL2 and WDDM answer like this (nvtop #432)
    if reserved is not None and used + free >= total > 0 and used >= reserved > 0:
        used -= reserved  # total == used + free: the reserved part is inside
    if not 0 <= used <= total:
        return Answer(Vram(total or None, None, reserved), Why.BAD_VALUE)
    return Answer(Vram(total, used, reserved))


def _sum(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _within(value: float, low: float, high: float) -> Answer[float]:
    inside = low <= value <= high and value != _NOT_AVAILABLE_32
    return Answer(value) if inside else Answer(None, Why.BAD_VALUE)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _sysfs_address(bus_id: str) -> str:
    """`00000000:01:00.0` of NVML is `0000:01:00.0` in sysfs."""
    domain, _, rest = bus_id.lower().partition(":")
    return f"{domain[-4:]}:{rest}"
