"""Intel's GPUs on Linux are not read; this says that one is there, so that nobody looks for a missing driver."""

from layadesk.domain.hardware import Why
from layadesk.telemetry.pci import PciBus
from layadesk.telemetry.sensors import GpuReading, Watched


class IntelPresence:
    """Looks once; a GPU on the bus stays there."""

    def __init__(self, pci: PciBus) -> None:
        self._pci = pci
        self._is_there: bool | None = None

    def read(self, now: float, watched: Watched) -> GpuReading:
        """No GPU, and that Intel's are not read where there is one."""
        if self._is_there is None:
            self._is_there = self._pci.has_intel()
        return GpuReading((), Why.INTEL if self._is_there else Why.NO_GPU)

    def reset(self) -> None:
        """Nothing is kept that a suspend changes."""

    def close(self) -> None:
        """Nothing is held."""
