"""What the routes of the last days say together."""

import time
from collections.abc import Callable
from concurrent.futures import Future

from layadesk.domain.chat import Message
from layadesk.domain.route_counts import DAY_S, RouteCounts, RouteRecord, counts_of
from layadesk.domain.routing import RouteReason
from layadesk.store.store import Store
from layadesk.usecases.futures import then

_NOTHING_TO_CHOOSE = {RouteReason.PINNED, RouteReason.PICKED, RouteReason.ONLY_EXPERT}


class CountRoutes:
    """Any thread; read from the store each time, so that the page shows what is kept."""

    def __init__(self, store: Store, *, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now

    def __call__(self, n_days: int | None = None) -> Future[RouteCounts]:
        """Of the last `n_days`, None for all there are."""
        now = self._now()
        since = 0.0 if n_days is None else now - n_days * DAY_S
        return then(self._store.load_routed(since), lambda found: counts_of(_records(found), now=now))


def _records(messages: tuple[Message, ...]) -> list[RouteRecord]:
    records = []
    for message in messages:
        route = message.route
        if route is not None:
            records.append(
                RouteRecord(
                    message.created_at,
                    message.expert_id or route.expert,
                    route.task,
                    route.confidence,
                    route.route_ms,
                    None if message.timings is None else message.timings.ttft_ms,
                    None if message.correction is None else message.correction.rating,
                    route.reason not in _NOTHING_TO_CHOOSE,
                    route.reason,
                    route.previous is not None,
                    route.n_reprefill,
                )
            )
    return records
