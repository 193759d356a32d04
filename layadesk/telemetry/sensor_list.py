"""The sensors of this system. Called on the lanes, because what they import takes a while."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.hardware import EngineWork
from layadesk.telemetry.sensors import GpuSensor, HostSensor

Pid = Callable[[], int | None]


@dataclass(frozen=True, slots=True)
class Observed:
    """Who is watched: the children, what the engine is at, and which files it has mapped.

    All are called at every sample, on the lanes, so they must answer at once.
    """

    engine_pid: Pid
    router_pid: Pid
    work: Callable[[], EngineWork] = EngineWork
    weight_files: Callable[[], Sequence[str]] = tuple


def host_sensors(observed: Observed) -> tuple[HostSensor, ...]:
    """RAM, swap, paging, the children and their weights; in this order, because some look at what others found."""
    if sys.platform == "linux":
        return _linux(observed)
    else:  # noqa: RET505 - mypy checks each system's branch by itself
        return _elsewhere(observed)


def gpu_sensors() -> tuple[GpuSensor, ...]:
    """One sensor for each maker."""
    from layadesk.telemetry.nvml import NvmlSensor  # noqa: PLC0415

    if sys.platform == "linux":
        from layadesk.telemetry.amdgpu import AmdSensor  # noqa: PLC0415
        from layadesk.telemetry.intel_gpus import IntelPresence  # noqa: PLC0415
        from layadesk.telemetry.pci import PciBus  # noqa: PLC0415

        return (NvmlSensor(), AmdSensor(), IntelPresence(PciBus(Path("/sys"))))
    elif sys.platform == "win32":  # noqa: RET505 - mypy checks each system's branch by itself
        from layadesk.telemetry.pdh import PdhQuery  # noqa: PLC0415
        from layadesk.telemetry.windows_gpu import GPU_COUNTERS, WindowsGpus, WindowsNvidia  # noqa: PLC0415

        return (WindowsNvidia(NvmlSensor(), WindowsGpus(PdhQuery(GPU_COUNTERS))),)
    else:
        return (NvmlSensor(),)


if sys.platform == "linux":

    def _linux(observed: Observed) -> tuple[HostSensor, ...]:
        from layadesk.telemetry.cachestat import CacheStat  # noqa: PLC0415
        from layadesk.telemetry.cgroup import CgroupMemory  # noqa: PLC0415
        from layadesk.telemetry.linux_memory import LinuxMemory, LinuxSwapKind  # noqa: PLC0415
        from layadesk.telemetry.linux_paging import LinuxPaging, LinuxPressure  # noqa: PLC0415
        from layadesk.telemetry.linux_processes import LinuxChildMemory, LinuxCpu, has_mapped  # noqa: PLC0415
        from layadesk.telemetry.weights import WeightsInRam  # noqa: PLC0415

        proc, sys_root = Path("/proc"), Path("/sys")
        cgroup = CgroupMemory(proc, sys_root / "fs" / "cgroup")
        return (
            LinuxMemory(proc, cgroup),
            LinuxSwapKind(proc, sys_root),
            LinuxPaging(proc),
            LinuxPressure(proc, cgroup.tightest_folder),
            LinuxChildMemory(
                "engine_bytes", observed.engine_pid, proc, mapped="engine_mapped_bytes", swap="engine_swap_bytes"
            ),
            LinuxChildMemory("router_bytes", observed.router_pid, proc),
            LinuxCpu(proc, observed.engine_pid),
            WeightsInRam(
                observed.weight_files, CacheStat(), lambda path: has_mapped(path, observed.engine_pid(), proc)
            ),
        )

else:

    def _elsewhere(observed: Observed) -> tuple[HostSensor, ...]:
        from layadesk.telemetry.psutil_host import PsutilChildMemory, PsutilCpu, PsutilMemory  # noqa: PLC0415
        from layadesk.telemetry.weights import WeightsInRam  # noqa: PLC0415

        common: tuple[HostSensor, ...] = (
            PsutilMemory(),
            PsutilChildMemory("engine_bytes", observed.engine_pid),
            PsutilChildMemory("router_bytes", observed.router_pid),
            PsutilCpu(observed.engine_pid),
        )
        if sys.platform == "win32":
            from layadesk.telemetry.pdh import PdhQuery  # noqa: PLC0415
            from layadesk.telemetry.windows_api import WindowsApi  # noqa: PLC0415
            from layadesk.telemetry.windows_host import HOST_COUNTERS, WindowsCommit, WindowsMapped  # noqa: PLC0415

            api = WindowsApi()
            own: tuple[HostSensor, ...] = (
                WindowsCommit(api, PdhQuery(HOST_COUNTERS)),
                WindowsMapped(api, observed.engine_pid),
            )
        elif sys.platform == "darwin":
            from layadesk.telemetry.macos_host import MacPressure  # noqa: PLC0415

            own = (MacPressure(),)
        else:
            own = ()
        return (*common, *own, WeightsInRam(observed.weight_files))
