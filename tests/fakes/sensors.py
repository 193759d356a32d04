"""Sensors and clocks that a test drives."""

import threading

from layadesk.domain.hardware import GpuSample, Why
from layadesk.telemetry.sensors import GpuReading, HostDraft, Watched


class FakeClock:
    """Time as a test sets it."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class FakeHost:
    """Counts what it is asked; `error` is raised by the next reading."""

    fields: tuple[str, ...] = ("ram_total_bytes", "ram_available_bytes")

    def __init__(self) -> None:
        self.n_fills = 0
        self.n_resets = 0
        self.error: Exception | None = None

    def fill(self, draft: HostDraft, now: float) -> None:
        """RAM that grows with each reading."""
        self.n_fills += 1
        if self.error is not None:
            raise self.error
        draft.put("ram_total_bytes", 1000)
        draft.put("ram_available_bytes", self.n_fills)

    def reset(self) -> None:
        """Counted."""
        self.n_resets += 1


class FakeGpus:
    """One GPU. `hang()` makes readings block like a driver that does not answer, until `answer()`."""

    def __init__(self) -> None:
        self.n_reads = 0
        self.n_resets = 0
        self.n_closes = 0
        self.reason: Why | None = None
        self.error: Exception | None = None
        self.has_read = threading.Semaphore(0)
        self._free = threading.Event()
        self._free.set()

    def hang(self) -> None:
        """Readings from now on do not return."""
        self._free.clear()

    def answer(self) -> None:
        """They return again."""
        self._free.set()

    def read(self, now: float, watched: Watched) -> GpuReading:
        """VRAM that grows with each reading."""
        self._free.wait()
        self.n_reads += 1
        self.has_read.release()
        if self.error is not None:
            raise self.error
        if self.reason is not None:
            return GpuReading((), self.reason)
        return GpuReading((GpuSample("GPU-1", "Fake", vram_used_bytes=self.n_reads, engine_bytes=watched.engine_pid),))

    def reset(self) -> None:
        """Counted."""
        self.n_resets += 1

    def close(self) -> None:
        """Counted."""
        self.n_closes += 1
