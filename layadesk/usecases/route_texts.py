"""Routes without answers: what `layadesk route` prints. No expert is loaded."""

import queue
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from layadesk.domain.follow_up import slash_word
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import Policy, PoolExpert, Route, RouterAnswer, Turn
from layadesk.usecases.answer_order import clean_text
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.workers.router_client import RouterClient

START_S = 20.0  # a router that has just been started may still be reading its weights
ANSWER_S = 5.0
AHEAD = 16  # questions under way at once, so that the pipe's latency is not paid for each


@dataclass(frozen=True, slots=True)
class RoutedText:
    """`route` is None where no expert is installed or can answer, `answer` where the router did not."""

    text_id: str
    answer: RouterAnswer | None
    route: Route | None


class RouteTexts:
    """Blocks the caller; for command lines and measurements."""

    def __init__(self, pool: ExpertPool, router: RouterClient) -> None:
        self._pool = pool
        self._router = router

    def __call__(self, texts: Iterable[tuple[str, str]]) -> Iterator[RoutedText]:
        """Route each (id, text) in order; memory does not grow with their number."""
        pool, policy = self._pool.candidates(), self._pool.policy()
        waiting: list[tuple[str, str, queue.SimpleQueue[RouterAnswer | None]]] = []
        deadline_s = START_S
        for text_id, text in texts:
            answer: queue.SimpleQueue[RouterAnswer | None] = queue.SimpleQueue()
            cleaned = clean_text(text)
            self._router.route(cleaned, (), answer.put, deadline_s)
            waiting.append((text_id, cleaned, answer))
            if len(waiting) >= AHEAD:
                yield _routed(*waiting.pop(0), pool, policy)
                deadline_s = ANSWER_S
        for one in waiting:
            yield _routed(*one, pool, policy)


def _routed(
    text_id: str,
    text: str,
    answered: "queue.SimpleQueue[RouterAnswer | None]",
    pool: Sequence[PoolExpert],
    policy: Policy,
) -> RoutedText:
    answer = answered.get()
    route = None
    if any(expert.out is None for expert in pool):
        route = choose(answer, pool, turn=Turn(slash=slash_word(text)), policy=policy)
    return RoutedText(text_id, answer, route)
