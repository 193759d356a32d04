"""Routes as the window shows and corrects them: what was kept, what was wrong, what has been learned."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from layadesk.domain.route_statistics import RouteStatistics, summarise_routes
from layadesk.store.store import Store
from layadesk.usecases.futures import flatten, then
from layadesk.usecases.regenerate import Regenerate
from layadesk.usecases.router_learning import Calibrated, RouterLearning
from layadesk.usecases.stored_conversation import StoredConversation, load_stored
from layadesk.usecases.turns import TurnStarted


class WatchRoutes:
    """Any thread; everything returns at once. `learning` is what the command line has too."""

    def __init__(self, store: Store, regenerate: Regenerate, learning: RouterLearning) -> None:
        self._store = store
        self._regenerate = regenerate
        self._learning = learning
        self._thread = ThreadPoolExecutor(1, "calibrate")

    def wrong(self, conversation_id: str, answer_id: str, *, task: str | None = None) -> Future[None]:
        """Keep that this answer went to the wrong expert; `task` is what the request really was, if the user says."""
        return self._learning.wrong_route(self._store, conversation_id, answer_id, task=task)

    def answer_with(self, conversation_id: str, answer_id: str, expert: str) -> Future[TurnStarted]:
        """Have `expert` answer the same question, beside the answer there is, and keep that as a correction."""
        kept = self._learning.wrong_route(self._store, conversation_id, answer_id, expert=expert)
        return flatten(then(kept, lambda _: self._regenerate(conversation_id, answer_id, picked=expert)))

    def answer_again(self, conversation_id: str, answer_id: str) -> Future[TurnStarted]:
        """Another answer to the same question; that it was wanted is evidence about the effort."""

        def note(stored: StoredConversation) -> None:
            answer = stored.messages.get(answer_id)
            if answer is not None:
                self._learning.regenerated(answer)

        noted = then(load_stored(self._store, conversation_id), note)
        return flatten(then(noted, lambda _: self._regenerate(conversation_id, answer_id)))

    def statistics(self) -> Future[RouteStatistics]:
        """Of all kept routes."""
        n_corrections = len(self._learning.corrections())
        return then(self._store.list_routes(), lambda routes: summarise_routes(routes, n_corrections=n_corrections))

    def calibrate(self) -> Future[Calibrated]:
        """Fit the router to the corrections; see `RouterLearning.calibrate`."""
        return self._thread.submit(self._learning.calibrate)

    def undo_calibration(self) -> Future[None]:
        """Take the last calibration back."""
        return self._thread.submit(self._learning.undo)

    def export_corrections(self, file: Path) -> Future[int]:
        """Write the corrections in Laya's fine-tuning format; the result is how many."""
        return self._thread.submit(self._learning.export, file)

    def close(self) -> None:
        """Nothing new is taken; what runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)
