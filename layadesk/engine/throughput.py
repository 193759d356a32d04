"""What the engine alone knows about its speed and its cells, twice a second while it works."""

from collections.abc import Callable, Iterable

from layadesk.engine.decode_step import StepWork
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.protocol.events import EngineEvent, EngineStats

EVERY_S = 0.5


class Throughput:
    """Counts the work of steps and tells EngineStats. Decode thread."""

    def __init__(self, put: Callable[[EngineEvent], None], clock: Callable[[], float]) -> None:
        self._put = put
        self._clock = clock
        self._since: float | None = None  # None while idle
        self._n_prefill = 0
        self._n_decoded = 0

    def begin(self) -> None:
        """Work begins, if it had not already."""
        if self._since is None:
            self._since = self._clock()

    def add(self, work: StepWork) -> None:
        """Count one step."""
        self._n_prefill += work.n_prefill
        self._n_decoded += work.n_decoded

    def tell(self, runners: Iterable[ExpertRunner], *, n_waiting: int, is_over: bool) -> None:
        """Send what has been counted, if it is time or if the work is over; after that the engine is idle again."""
        if self._since is None:
            return
        elapsed = self._clock() - self._since
        if elapsed < EVERY_S and not is_over:
            return
        per_s = 1.0 / max(elapsed, 1e-6)
        uses = tuple(runner.use() for runner in runners)
        self._put(
            EngineStats(
                n_running=sum(one.n_running for one in uses),
                n_waiting=n_waiting,
                kv_used=sum(one.kv_used for one in uses),
                kv_kept=sum(one.kv_kept for one in uses),
                kv_size=sum(one.kv_size for one in uses),
                prefill_tps=0.0 if is_over else self._n_prefill * per_s,
                decode_tps=0.0 if is_over else self._n_decoded * per_s,
                experts=uses,
            )
        )
        self._since = None if is_over else self._clock()
        self._n_prefill = self._n_decoded = 0
