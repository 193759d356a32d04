"""What the kept routes say in sum: who answers what, how surely, how fast, and how often it was put right."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from layadesk.domain.routing import Route


@dataclass(frozen=True, slots=True)
class RouteStatistics:
    """Shares sum to 1 where there are routes. Medians are None where nothing was measured; times in ms."""

    n: int
    expert_share: Mapping[str, float]
    task_share: Mapping[str, float]
    reason_share: Mapping[str, float]
    route_ms_p50: float | None
    route_ms_p95: float | None
    confidence_p50: float | None
    n_corrections: int
    n_switches: int
    n_reprefill: int


def summarise_routes(routes: Iterable[Route], *, n_corrections: int) -> RouteStatistics:
    """Of any number of routes."""
    kept = list(routes)
    times = sorted(route.route_ms for route in kept if route.route_ms is not None)
    confidences = [route.confidence for route in kept if route.confidence is not None]
    return RouteStatistics(
        len(kept),
        _shares(route.expert for route in kept),
        _shares(route.task for route in kept if route.task is not None),
        _shares(str(route.reason) for route in kept),
        statistics.median(times) if times else None,
        times[min(len(times) - 1, int(0.95 * len(times)))] if times else None,
        statistics.median(confidences) if confidences else None,
        n_corrections,
        sum(route.previous is not None for route in kept),
        sum(route.n_reprefill for route in kept),
    )


def _shares(names: Iterable[str]) -> dict[str, float]:
    counts = Counter(names)
    total = sum(counts.values())
    return {name: n / total for name, n in counts.most_common()}
