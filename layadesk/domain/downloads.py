"""Downloads as values: one row for each quantization that is fetched, and how fast it comes."""

from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum

from layadesk.domain.errors import ErrorReport

SPEED_WINDOW_S = 10.0
LEAST_STEP_S = 0.05


class DownloadState(StrEnum):
    """Where a download stands."""

    QUEUED = "queued"  # others come first
    LOOKING_UP = "looking_up"  # asking the hub what it has
    RUNNING = "running"
    PAUSED = "paused"  # by the user, or for the reason in `failure`, such as a full disk
    CHECKING = "checking"  # all bytes are here; the sha256 is finished and the file moved to its place
    INSTALLED = "installed"
    FAILED = "failed"  # `failure` says why; `resume` tries again from the bytes that are here


ACTIVE = frozenset({DownloadState.LOOKING_UP, DownloadState.RUNNING, DownloadState.CHECKING})
ENDED = frozenset({DownloadState.INSTALLED, DownloadState.FAILED})


@dataclass(frozen=True, slots=True)
class Download:
    """One row of the list. All shards of a split model, and all files of a checkpoint, are one.

    `n_bytes_total`, `bytes_per_s` and `remaining_s` are None while nobody knows. `host` is where the bytes come from,
    empty before it was asked. `was_interrupted`: it ran when the program ended, and waits to be resumed.
    """

    download_id: str
    model_id: str
    quantization: str
    state: DownloadState
    n_bytes_done: int = 0
    n_bytes_total: int | None = None
    bytes_per_s: float | None = None
    remaining_s: float | None = None
    failure: ErrorReport | None = None
    host: str = ""
    was_interrupted: bool = False

    @property
    def share(self) -> float | None:
        """0–1; None while the whole is unknown."""
        return None if not self.n_bytes_total else min(1.0, self.n_bytes_done / self.n_bytes_total)


def download_id(model_id: str, quantization: str) -> str:
    """The same for the same file, in every process and after every restart."""
    return f"{model_id}:{quantization}"


@dataclass(slots=True)
class SpeedWindow:
    """Bytes a second over the last ten seconds, of bytes that came in this session only (reported fault D09).

    One thread at a time; times are those of any steady clock.
    """

    _points: deque[tuple[float, int]] = field(default_factory=deque)

    def add(self, at_s: float, n_bytes_done: int) -> None:
        """`n_bytes_done` of the whole download at that time."""
        if self._points and at_s - self._points[-1][0] < LEAST_STEP_S:
            return
        self._points.append((at_s, n_bytes_done))
        while len(self._points) > 2 and self._points[1][0] < at_s - SPEED_WINDOW_S:
            self._points.popleft()

    def bytes_per_s(self) -> float | None:
        """None before there is half a second to look at."""
        if len(self._points) < 2:
            return None
        (start, first), (end, last) = self._points[0], self._points[-1]
        return (last - first) / (end - start) if end - start >= 0.5 else None

    def remaining_s(self, n_bytes_left: int | None) -> float | None:
        """None where the size or the speed is unknown, or nothing comes."""
        speed = self.bytes_per_s()
        return None if n_bytes_left is None or not speed else n_bytes_left / speed
