"""The router that needs no weights: it is asked like any other and says that it does not know."""

import time
from collections.abc import Sequence

from layadesk.domain.routing import RouterAnswer


class NoOpinion:
    """Answers every request with empty distributions, so that the policy takes the pinned, only or default expert.

    It also stands in for a router that cannot be loaded: `wanted` is that one and `lack` why, and every answer says so.
    """

    router_id = "none"

    def __init__(self, wanted: str | None = None, lack: str | None = None) -> None:
        self._wanted = wanted
        self._lack = lack

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:  # nothing is read
        """No opinion, and how long it took to have none."""
        start = time.perf_counter()
        route_ms = (time.perf_counter() - start) * 1000.0
        return RouterAnswer(self.router_id, route_ms, wanted=self._wanted, wanted_lack=self._lack)
