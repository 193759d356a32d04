"""How often to sample: often while something happens, seldom while nobody looks, less where a reading is slow."""

from dataclasses import dataclass

_MIN_S, _MAX_S = 0.1, 5.0
_DEAR_FRACTION = 0.2  # of the period that one sample may take
_N_DEAR = 2
_FREE_FRACTION = 0.05
_N_FREE = 20


@dataclass(slots=True)
class Pace:
    """Samples a second. Host lane only, `is_visible` excepted.

    While a request or a load runs, and `linger_s` longer, `busy_hz`. Two samples in a row that took more than a fifth
    of the period double it (`slowed_by_ms` says so), until twenty in a row were cheap again. One alone is chance: where
    an expert fills all cores, any thread waits now and then.
    """

    idle_hz: float = 2.0
    busy_hz: float = 4.0
    hidden_hz: float = 1.0
    linger_s: float = 10.0
    is_visible: bool = True
    slowed_by_ms: float | None = None
    _busy_at: float | None = None
    _n_dear: int = 0
    _n_halvings: int = 0
    _n_free: int = 0

    def period_s(self, now: float, *, is_busy: bool) -> float:
        """Seconds from one sample to the next, 0.1 to 5."""
        if is_busy:
            self._busy_at = now
        is_lively = self._busy_at is not None and now - self._busy_at <= self.linger_s
        hz = self.hidden_hz if not self.is_visible else self.busy_hz if is_lively else self.idle_hz
        return min(max(2.0**self._n_halvings / hz, _MIN_S), _MAX_S)

    def took(self, seconds: float, period_s: float) -> None:
        """Learn what one sample cost."""
        is_dear = seconds > _DEAR_FRACTION * period_s
        self._n_dear = self._n_dear + 1 if is_dear else 0
        if is_dear:
            self._n_free = 0
            if self._n_dear >= _N_DEAR and period_s < _MAX_S:
                self._n_halvings += 1
                self.slowed_by_ms = seconds * 1000
        elif self._n_halvings:
            self._n_free = self._n_free + 1 if seconds < _FREE_FRACTION * period_s else 0
            if self._n_free >= _N_FREE:
                self._n_halvings -= 1
                self._n_free = 0
                if not self._n_halvings:
                    self.slowed_by_ms = None
