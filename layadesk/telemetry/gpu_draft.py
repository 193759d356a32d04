"""A GPU's sample while a sensor fills it in: each figure is a value, or None and why."""

from dataclasses import dataclass, field
from typing import Any

from layadesk.domain.hardware import GPU_FIELDS, GpuKind, GpuSample, Throttle, Why

GpuFigure = int | float | tuple[Throttle, ...] | None


@dataclass(slots=True)
class GpuDraft:
    """One reading of one GPU. What is never spoken of is UNSUPPORTED."""

    gpu_id: str
    name: str
    kind: GpuKind | None = None
    source: str = ""
    values: dict[str, GpuFigure] = field(default_factory=dict)
    reasons: dict[str, Why] = field(default_factory=dict)

    def put(self, name: str, value: GpuFigure, why: Why | None = None) -> None:
        """Set the figure `name` of GPU_FIELDS; `why` says why it is None, or is a remark on it."""
        self.values[name] = value
        if why is not None:
            self.reasons[name] = why

    def put_part(self, name: str, value: int | None, whole: int | None, why: Why | None = None) -> None:
        """A part of `whole` bytes; more than the whole is no value (Windows after a sleep, nvtop #432)."""
        if value is not None and whole is not None and not 0 <= value <= whole:
            value, why = None, Why.BAD_VALUE
        self.put(name, value, why)

    def sample(self) -> GpuSample:
        """The finished sample."""
        reasons: dict[str, str] = dict(self.reasons)
        for name in GPU_FIELDS:
            if self.values.get(name) is None:
                reasons.setdefault(name, Why.UNSUPPORTED)
        figures: dict[str, Any] = self.values
        return GpuSample(self.gpu_id, self.name, reasons=reasons, kind=self.kind, source=self.source, **figures)
