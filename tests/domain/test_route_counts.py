"""What kept routes say in sum, for the Routes page and `layadesk router stats`."""

from layadesk.domain.chat import Rating
from layadesk.domain.route_counts import RouteRecord, counts_of
from layadesk.domain.routing import RouteReason


def test_routes_are_summed_up_and_nothing_is_made_of_none() -> None:
    found = counts_of(
        [
            RouteRecord(0.0, "a", "code", 0.9, 0.2, reason=RouteReason.ROUTER, rating=Rating.WRONG),
            RouteRecord(0.0, "b", None, None, 0.4, reason=RouteReason.PINNED, is_switch=True, n_reprefill=120),
        ],
        now=1.0,
    )
    assert (found.n_routes, found.n_switches, found.n_reprefill, found.n_wrong) == (2, 1, 120, 1)
    assert found.experts == (("a", 1), ("b", 1))
    assert found.tasks == (("code", 1),)
    assert dict(found.reasons) == {str(RouteReason.ROUTER): 1, str(RouteReason.PINNED): 1}
    assert (found.route_ms.p50, found.route_ms.p95) == (0.2, 0.4)
    empty = counts_of([], now=1.0)
    assert (empty.n_routes, empty.route_ms.p50, empty.experts) == (0, None, ())
