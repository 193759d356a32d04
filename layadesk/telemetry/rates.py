"""Rates from counters that only grow: two readings make one, and a counter that ran backwards makes none."""

from collections.abc import Sequence

from layadesk.domain.hardware import Why

Rate = tuple[float | None, Why | None]


class Rates:
    """Several counters that are read together. One thread."""

    def __init__(self) -> None:
        self._before: tuple[float, tuple[float | None, ...]] | None = None

    def take(self, now: float, counters: Sequence[float | None]) -> tuple[Rate, ...]:
        """Per counter its growth a second since the last call, or None and why."""
        before, self._before = self._before, (now, tuple(counters))
        if before is None or now <= before[0] or len(before[1]) != len(counters):
            return tuple((None, Why.UNSUPPORTED if counter is None else Why.NOT_YET) for counter in counters)
        seconds = now - before[0]
        return tuple(_rate(earlier, counter, seconds) for earlier, counter in zip(before[1], counters, strict=True))

    def forget(self) -> None:
        """The next reading is a first one."""
        self._before = None


def _rate(earlier: float | None, counter: float | None, seconds: float) -> Rate:
    if counter is None:
        return None, Why.UNSUPPORTED
    if earlier is None:
        return None, Why.NOT_YET
    return (None, Why.BAD_VALUE) if counter < earlier else ((counter - earlier) / seconds, None)
