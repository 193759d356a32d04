"""What the kept routes say together: who answered what, how sure the router was, how long it took. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from layadesk.domain.chat import Rating
from layadesk.domain.routing import RouteReason

DAY_S = 86_400.0
N_DAYS = 14
ONE_SIDED = 0.8
FEW = 10


@dataclass(frozen=True, slots=True)
class RouteRecord:
    """One answer's route as it was kept; `was_chosen` is false where there was nothing to choose (pin, only expert).

    `is_switch`: another expert had answered before; `n_reprefill` prompt tokens had to be read again for that, about.
    """

    created_at: float
    expert: str
    task: str | None = None
    confidence: float | None = None
    route_ms: float | None = None
    ttft_ms: float | None = None
    rating: Rating | None = None
    was_chosen: bool = True
    reason: RouteReason | None = None
    is_switch: bool = False
    n_reprefill: int = 0


@dataclass(frozen=True, slots=True)
class Spread:
    """Median and 95th percentile; None where nothing was measured."""

    p50: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class RouteCounts:
    """`experts`, `tasks` and `reasons` are counts, the largest first; `days` the last N_DAYS, oldest first, each by
    expert.
    """

    n_routes: int
    experts: tuple[tuple[str, int], ...] = ()
    tasks: tuple[tuple[str, int], ...] = ()
    days: tuple[tuple[tuple[str, int], ...], ...] = ()
    confidence: Spread = Spread()
    route_ms: Spread = Spread()
    ttft_ms: Spread = Spread()
    n_good: int = 0
    n_wrong: int = 0
    n_chosen: int = 0
    reasons: tuple[tuple[str, int], ...] = ()
    n_switches: int = 0
    n_reprefill: int = 0

    @property
    def one_sided(self) -> tuple[str, float] | None:
        """The expert that gets nearly everything, and its share, where there are enough routes to say so."""
        if self.n_routes < FEW or not self.experts:
            return None
        expert, n = self.experts[0]
        return (expert, n / self.n_routes) if n / self.n_routes >= ONE_SIDED else None


def counts_of(records: Sequence[RouteRecord], *, now: float) -> RouteCounts:
    """All of it for these records; `now` is seconds since the epoch."""
    days: list[Counter[str]] = [Counter() for _ in range(N_DAYS)]
    for record in records:
        age = int((now - record.created_at) // DAY_S)
        if 0 <= age < N_DAYS:
            days[N_DAYS - 1 - age][record.expert] += 1
    return RouteCounts(
        len(records),
        _counted(record.expert for record in records),
        _counted(record.task for record in records if record.task is not None),
        tuple(tuple(sorted(day.items())) for day in days),
        _spread([record.confidence for record in records]),
        _spread([record.route_ms for record in records]),
        _spread([record.ttft_ms for record in records]),
        sum(record.rating is Rating.GOOD for record in records),
        sum(record.rating is Rating.WRONG for record in records),
        sum(record.was_chosen for record in records),
        _counted(str(record.reason) for record in records if record.reason is not None),
        sum(record.is_switch for record in records),
        sum(record.n_reprefill for record in records),
    )


def _counted(names: Iterable[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0])))


def _spread(values: Sequence[float | None]) -> Spread:
    """By the nearest rank, so that each figure is one that was measured."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return Spread()
    return Spread(known[(len(known) - 1) // 2], known[min(int(len(known) * 0.95), len(known) - 1)])
