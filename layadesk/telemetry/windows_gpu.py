r"""GPU memory and load on Windows for every maker, by performance counters; NVML adds what only NVIDIA tells.

`Local Usage` is what is resident in a GPU's memory, `Non Local Usage` what its driver keeps in RAM; the other counters
are promises (systeminformer #2389). On a GPU that computes in RAM the model is in the shared part.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from layadesk.domain.hardware import GpuKind, GpuSample, Why
from layadesk.telemetry.gpu_draft import GpuDraft
from layadesk.telemetry.pdh import PdhQuery
from layadesk.telemetry.sensors import GpuReading, GpuSensor, Watched

GPU_COUNTERS = {
    "dedicated": r"\GPU Adapter Memory(*)\Dedicated Usage",
    "shared": r"\GPU Adapter Memory(*)\Shared Usage",
    "local": r"\GPU Process Memory(*)\Local Usage",
    "non_local": r"\GPU Process Memory(*)\Non Local Usage",
    "busy": r"\GPU Engine(*)\Utilization Percentage",
}
_LEAST_IN_RAM = 256 * 2**20  # every driver keeps a little there
_ADAPTER = re.compile(r"(luid_0x[0-9a-f]+_0x[0-9a-f]+)_phys_(\d+)", re.IGNORECASE)
_PROCESS = re.compile(r"pid_(\d+)_", re.IGNORECASE)
_ENGINE = re.compile(r"_eng_(\d+)_", re.IGNORECASE)


@dataclass(slots=True)
class AdapterUse:
    """One adapter: bytes of all programs and of one, and the busiest of its engines in percent."""

    dedicated_bytes: int | None = None
    shared_bytes: int | None = None
    ours_bytes: int = 0
    ours_shared_bytes: int = 0
    busy_by_engine: dict[str, float] = field(default_factory=dict)

    @property
    def busy_percent(self) -> float | None:
        """The busiest engine: added up they exceed 100 (windows_exporter #725)."""
        return min(max(self.busy_by_engine.values()), 100.0) if self.busy_by_engine else None


def adapters(counters: Mapping[str, Mapping[str, float]], pid: int | None) -> dict[str, AdapterUse]:
    """The counters of GPU_COUNTERS by adapter; `pid` is whose share is wanted."""
    found: dict[str, AdapterUse] = {}
    for name, values in counters.items():
        for instance, value in values.items():
            adapter = _ADAPTER.search(instance)
            if adapter is None:
                continue
            use = found.setdefault(f"{adapter.group(1).lower()}_phys_{adapter.group(2)}", AdapterUse())
            process = _PROCESS.match(instance)
            _take(use, name, value, instance, is_ours=process is not None and int(process.group(1)) == pid)
    return found


def _take(use: AdapterUse, name: str, value: float, instance: str, *, is_ours: bool) -> None:
    match name:
        case "dedicated":
            use.dedicated_bytes = int(value)
        case "shared":
            use.shared_bytes = int(value)
        case "local" if is_ours:
            use.ours_bytes += int(value)
        case "non_local" if is_ours:
            use.ours_shared_bytes += int(value)
        case "busy":
            engine = _ENGINE.search(instance)
            key = engine.group(1) if engine else ""
            use.busy_by_engine[key] = use.busy_by_engine.get(key, 0.0) + value
        case _:  # of another program
            pass


class WindowsGpus:
    """All adapters with counters. GPU lane only.

    NVIDIA's own sensor knows totals, power and temperature; `join` puts the two together. No counter tells which GPU
    computes in RAM: one that holds more of the engine there than it has in use of its own memory is taken for such.
    """

    def __init__(self, query: PdhQuery) -> None:
        self._query = query
        self._in_ram: set[str] = set()

    def read(self, now: float, watched: Watched) -> GpuReading:
        """One reading; an adapter that nothing uses (a basic display) is left out."""
        samples = []
        for adapter, use in sorted(adapters(self._query.collect(), watched.engine_pid).items()):
            if not use.dedicated_bytes and not use.shared_bytes:
                continue
            if use.ours_shared_bytes > max(use.dedicated_bytes or 0, _LEAST_IN_RAM):
                self._in_ram.add(adapter)
            draft = GpuDraft(adapter, "GPU", GpuKind.UNIFIED if adapter in self._in_ram else None, "pdh")
            missing = Why.NOT_RUNNING if watched.engine_pid is None else None
            draft.put("vram_used_bytes", use.dedicated_bytes)
            draft.put("shared_used_bytes", use.shared_bytes)
            draft.put_part("engine_bytes", None if missing else use.ours_bytes, use.dedicated_bytes, missing)
            draft.put_part("engine_shared_bytes", None if missing else use.ours_shared_bytes, use.shared_bytes, missing)
            busy = use.busy_percent
            draft.put("utilization_percent", busy, Why.NOT_YET if busy is None else None)
            samples.append(draft.sample())
        return GpuReading(tuple(samples), None if samples else Why.NO_GPU)

    def reset(self) -> None:
        """Rates start anew."""
        self._query.close()

    def close(self) -> None:
        """End the query."""
        self._query.close()


def join(nvidia: GpuReading, counted: GpuReading) -> GpuReading:
    """One list: of each NVIDIA GPU also what only Windows counts, found by the closest memory in use.

    Neither names the other's adapter, so the two figures of the same memory are compared; a tenth may lie between them.
    """
    left = list(counted.gpus)
    joined: list[GpuSample] = []
    for gpu in nvidia.gpus:
        twin = _twin(gpu, left)
        if twin is not None:
            left.remove(twin)
        joined.append(gpu if twin is None else _with_shares(gpu, twin))
    gpus = (*joined, *left)
    return GpuReading(gpus, None if gpus else counted.reason or nvidia.reason)


def _twin(gpu: GpuSample, others: list[GpuSample]) -> GpuSample | None:
    used, reserved = gpu.vram_used_bytes, gpu.vram_reserved_bytes or 0
    if used is None:
        return None
    distance = {other.gpu_id: abs(used + reserved - (other.vram_used_bytes or 0)) for other in others}
    closest = min(others, key=lambda other: distance[other.gpu_id], default=None)
    limit = max((gpu.vram_total_bytes or 0) // 10, 1 << 30)
    return closest if closest is not None and distance[closest.gpu_id] <= limit else None


def _with_shares(gpu: GpuSample, twin: GpuSample) -> GpuSample:
    draft = GpuDraft(gpu.gpu_id, gpu.name, gpu.kind, "nvml+pdh")
    taken = {"engine_bytes", "shared_used_bytes", "engine_shared_bytes"}
    for name in GpuSample.__dataclass_fields__:
        if name in {"gpu_id", "name", "kind", "source", "reasons"}:
            continue
        source = twin if name in taken else gpu
        why = source.reasons.get(name)
        draft.put(name, getattr(source, name), None if why is None else Why(why))
    return draft.sample()


class WindowsNvidia:
    """NVIDIA's sensor and Windows' counters as one. GPU lane only."""

    def __init__(self, nvidia: GpuSensor, counted: WindowsGpus) -> None:
        self._nvidia = nvidia
        self._counted = counted

    def read(self, now: float, watched: Watched) -> GpuReading:
        """Both, joined."""
        return join(self._nvidia.read(now, watched), self._counted.read(now, watched))

    def reset(self) -> None:
        """Both start anew."""
        self._nvidia.reset()
        self._counted.reset()

    def close(self) -> None:
        """Both let go."""
        self._nvidia.close()
        self._counted.close()
