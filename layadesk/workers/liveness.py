"""When a child that still runs counts as hung. Counted in pings, never in seconds.

A laptop that slept, a stopped program or a blocked client thread sends no pings, so none of them makes a child look
dead; a clock would.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from layadesk.domain.worker_state import restart_delay
from layadesk.protocol.commands import Ping
from layadesk.protocol.events import Pong

_STUCK_S = MappingProxyType({"decode": 60.0, "prefill": 60.0})


@dataclass(frozen=True, slots=True)
class Timing:
    """How patient a supervisor is, in seconds. The default is what the product uses; tests are in a hurry.

    `stuck_s` says per phase how long a step may stand still: other phases (a model load of ten minutes) are not judged.
    """

    ping_every_s: float = 2.0
    silent_s: float = 60.0
    stuck_s: Mapping[str, float] = field(default_factory=lambda: _STUCK_S)
    start_s: float = 180.0  # importing torch from a slow disk takes its time
    pipe_full_s: float = 5.0
    half_frame_s: float = 10.0
    leave_s: float = 1.0  # between the end of the pipe and the end of the process
    terminate_s: float = 0.5  # between SIGTERM and SIGKILL
    unkillable_s: float = 5.0  # a process in a driver call may outlive even SIGKILL
    back_off: Callable[[Sequence[float], float], float | None] = restart_delay


class Liveness:
    """Follows the pings and pongs of one child. Owned by its client thread."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._n_pings = 0
        self._n_silent = 0
        self._n_stuck = 0
        self._last: tuple[str, int] | None = None

    def next_ping(self) -> Ping:
        """The ping to send now, one every `ping_every_s`."""
        self._n_pings += 1
        self._n_silent += 1
        return Ping(self._n_pings)

    def take(self, pong: Pong) -> None:
        """Note one answer."""
        self._n_silent = 0
        now = (pong.phase, pong.step)
        self._n_stuck = self._n_stuck + 1 if now == self._last else 0
        self._last = now

    def complaint(self) -> str | None:
        """Why the child counts as hung (`silent`, or the phase it is stuck in); None while it is well."""
        if self._n_silent > self._pings_in(self._timing.silent_s):
            return "silent"
        if self._last is not None:
            limit_s = self._timing.stuck_s.get(self._last[0])
            if limit_s is not None and self._n_stuck >= self._pings_in(limit_s):
                return self._last[0]
        return None

    def is_overdue(self) -> bool:
        """Whether a child that has not said Ready yet has had its time."""
        return self._n_pings > self._pings_in(self._timing.start_s)

    def _pings_in(self, seconds: float) -> int:
        return max(1, round(seconds / self._timing.ping_every_s))
