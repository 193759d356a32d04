"""What a sensor is. A new platform or GPU maker joins by writing one more class of these shapes; no caller changes."""

from dataclasses import dataclass, field
from typing import Protocol

from layadesk.domain.hardware import GpuSample, HardwareSample, Why


@dataclass(slots=True)
class HostDraft:
    """A sample of the host while its sensors fill it in, one after the other, on the host lane."""

    ram_total_bytes: int | None = None
    ram_available_bytes: int | None = None
    engine_bytes: int | None = None
    router_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_in_bytes_per_s: float | None = None
    swap_out_bytes_per_s: float | None = None
    reasons: dict[str, Why] = field(default_factory=dict)

    def sample(self, taken_at: float, gpus: tuple[GpuSample, ...], gpus_reason: Why | None) -> HardwareSample:
        """The finished sample."""
        reasons: dict[str, str] = dict(self.reasons)
        if gpus_reason is not None:
            reasons["gpus"] = gpus_reason
        return HardwareSample(
            taken_at=taken_at,
            ram_total_bytes=self.ram_total_bytes,
            ram_available_bytes=self.ram_available_bytes,
            engine_bytes=self.engine_bytes,
            router_bytes=self.router_bytes,
            swap_total_bytes=self.swap_total_bytes,
            swap_used_bytes=self.swap_used_bytes,
            swap_in_bytes_per_s=self.swap_in_bytes_per_s,
            swap_out_bytes_per_s=self.swap_out_bytes_per_s,
            gpus=gpus,
            reasons=reasons,
        )


HOST_FIELDS = (
    "ram_total_bytes",
    "ram_available_bytes",
    "engine_bytes",
    "router_bytes",
    "swap_total_bytes",
    "swap_used_bytes",
    "swap_in_bytes_per_s",
    "swap_out_bytes_per_s",
)
GPU_FIELDS = (
    "vram_total_bytes",
    "vram_used_bytes",
    "vram_reserved_bytes",
    "engine_bytes",
    "utilization_percent",
    "power_watts",
    "temperature_celsius",
)


class HostSensor(Protocol):
    """Reads something of the host. Called on the host lane only; must not block."""

    fields: tuple[str, ...]  # what it fills in; they get Why.UNREADABLE when `fill` raises

    def fill(self, draft: HostDraft, now: float) -> None:
        """Set its fields, or why not, at `now` (monotonic seconds)."""

    def reset(self) -> None:
        """Time has passed unseen (suspend): forget what rates are made from."""


@dataclass(frozen=True, slots=True)
class GpuReading:
    """The GPUs one sensor sees; without any, `reason` says why."""

    gpus: tuple[GpuSample, ...] = ()
    reason: Why | None = None


class GpuSensor(Protocol):
    """Reads all GPUs of one maker. Called on the GPU lane only; may block for as long as a driver does."""

    def read(self, now: float, engine_pid: int | None) -> GpuReading:
        """One reading; `engine_pid` is whose share of the memory is wanted."""

    def reset(self) -> None:
        """Time has passed unseen (suspend): open the driver again at the next reading."""

    def close(self) -> None:
        """Let go of the driver."""


def blank(gpu: GpuSample, why: Why) -> GpuSample:
    """The same GPU with nothing known, all for one reason."""
    return GpuSample(gpu.gpu_id, gpu.name, reasons=dict.fromkeys(GPU_FIELDS, why))
