"""What a sensor is. A new platform or GPU maker joins by writing one more class of these shapes; no caller changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from layadesk.domain.hardware import HOST_FIELDS, EngineWork, GpuSample, HardwareSample, Why

Figure = int | float | str | None


@dataclass(slots=True)
class HostDraft:
    """A sample of the host while its sensors fill it in, one after the other, on the host lane."""

    values: dict[str, Figure] = field(default_factory=dict)
    reasons: dict[str, Why] = field(default_factory=dict)

    def put(self, name: str, value: Figure, why: Why | None = None) -> None:
        """Set the figure `name` of HOST_FIELDS; `why` says why it is None, or is a remark on it."""
        self.values[name] = value
        if why is not None:
            self.reasons[name] = why

    def lack(self, why: Why, *names: str) -> None:
        """None of these can be told, for one reason."""
        for name in names:
            self.put(name, None, why)

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def sample(
        self,
        taken_at: float,
        gpus: tuple[GpuSample, ...],
        gpus_reason: Why | None,
        *,
        before: Mapping[str, str] | None = None,
        wall_at: float = 0.0,
        work: EngineWork = EngineWork(),  # noqa: B008 - frozen
        took_ms: float | None = None,
        slowed_by_ms: float | None = None,
    ) -> HardwareSample:
        """The finished sample. What no sensor of this system speaks of is UNSUPPORTED.

        `before` are the reasons of the sample before: they are taken again where nothing has changed, because half an
        hour of samples would otherwise hold thousands of equal mappings.
        """
        reasons: dict[str, str] = dict(self.reasons)
        for name in HOST_FIELDS:
            if self.values.get(name) is None:
                reasons.setdefault(name, Why.UNSUPPORTED)
        if gpus_reason is not None:
            reasons["gpus"] = gpus_reason
        kept = before if before is not None and before == reasons else reasons
        figures: dict[str, Any] = self.values
        return HardwareSample(
            taken_at,
            gpus=gpus,
            reasons=kept,
            wall_at=wall_at,
            work=work,
            took_ms=took_ms,
            slowed_by_ms=slowed_by_ms,
            **figures,
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


@dataclass(frozen=True, slots=True)
class Watched:
    """Whose share of a GPU is wanted, and what the engine is at: some readings are too dear at other times."""

    engine_pid: int | None = None
    is_loading: bool = False
    is_busy: bool = False


class GpuSensor(Protocol):
    """Reads all GPUs of one maker. Called on the GPU lane only; may block for as long as a driver does."""

    def read(self, now: float, watched: Watched) -> GpuReading:
        """One reading at `now` (monotonic seconds)."""

    def reset(self) -> None:
        """Time has passed unseen (suspend): open the driver again at the next reading."""

    def close(self) -> None:
        """Let go of the driver."""
