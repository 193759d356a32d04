"""The router that needs no weights: it is asked like any other and says that it does not know."""

import time
from collections.abc import Sequence

from layadesk.domain.routing import RouterAnswer


class NoOpinion:
    """Answers every request with empty distributions, so that the policy takes the pinned, only or default expert."""

    router_id = "none"

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:  # nothing is read
        """No opinion, and how long it took to have none."""
        start = time.perf_counter()
        return RouterAnswer(self.router_id, route_ms=(time.perf_counter() - start) * 1000.0)
