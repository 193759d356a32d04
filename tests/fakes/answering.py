"""Workers that a test plays by hand, and a desk of real use cases over a real store."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from layadesk.domain.chat import Conversation
from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.domain.routing import PoolExpert, RouterAnswer
from layadesk.model_library.expert_table import ExpertTable
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from layadesk.protocol.commands import CountTokens, Generate
from layadesk.protocol.events import Failed, Finished, PromptBuilt, RequestEvent, TextDelta, TokensCounted
from layadesk.protocol.feed import Feed
from layadesk.settings.settings import Settings
from layadesk.store.store import Store
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.continue_answer import ContinueAnswer
from layadesk.usecases.count_context import CountContext
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.expert_runners import ExpertRunners
from layadesk.usecases.manage_conversations import Conversations
from layadesk.usecases.regenerate import Regenerate
from layadesk.usecases.running_turns import RunningTurns
from layadesk.usecases.send_message import SendMessage, StartTurn
from layadesk.usecases.stop_generation import StopGeneration
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnPhase, TurnProgress, TurnStarted
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient
from tests.fakes.gguf_files import chat_metadata, write_gguf

PATIENCE_S = 10.0
ResultT = TypeVar("ResultT")


class PlayedEngine:
    """Keeps what it is asked; the test says what it answers."""

    def __init__(self) -> None:
        self.loaded: dict[str, LoadedModel] = {}
        self.suspects: set[str] = set()
        self.experts: tuple[ExpertSpec, ...] = ()
        self.cancelled: list[str] = []
        self.at_generate: Callable[[Generate], None] = lambda _: None
        self.counted: list[CountTokens] = []
        self.count: Callable[[CountTokens], TokensCounted] = lambda command: TokensCounted(command.count_id)
        self._said: dict[str, str] = {}
        self._failed: set[str] = set()
        self._asked: list[tuple[Generate, Callable[[RequestEvent], None]]] = []
        self._changed = threading.Condition()

    def is_suspect(self, model_id: str) -> bool:
        """As the engine client."""
        return model_id in self.suspects

    def configure(self, experts: tuple[ExpertSpec, ...]) -> None:
        """As the engine client."""
        self.experts = experts

    def generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        """Keep the request for the test."""
        self.at_generate(request)
        with self._changed:
            self._asked.append((request, on_event))
            self._changed.notify_all()

    def cancel(self, request_id: str) -> None:
        """End the request as cancelled, as a real engine would, if it is known here."""
        self.cancelled.append(request_id)
        for request, on_event in self._asked:
            if request.request_id == request_id and request_id not in self._failed:
                on_event(Finished(request_id, self._said.get(request_id, ""), FinishReason.CANCELLED, Timings()))

    def count_tokens(self, command: CountTokens, on_counted: Callable[[TokensCounted], None]) -> None:
        """As the engine client; `count` says what is found."""
        self.counted.append(command)
        on_counted(self.count(command))

    def request(self, number: int = 0) -> Generate:
        """The request with this number; waits for it."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self._asked) > number, PATIENCE_S), "the engine was not asked"
            return self._asked[number][0]

    @property
    def n_asked(self) -> int:
        """How many requests came so far."""
        return len(self._asked)

    def say(self, *texts: str, number: int = 0, n_dropped: int = 0, end: FinishReason | None = None) -> None:
        """Answer a request with these deltas, and end it with all of them when `end` is given."""
        request = self.request(number)
        on_event = self._asked[number][1]
        built = PromptBuilt(request.request_id, 10, 0, n_dropped, 512, MemoryUse(weights_bytes=1000))
        on_event(built)
        for n_decoded, text in enumerate(texts, 1):
            self._said[request.request_id] = self._said.get(request.request_id, "") + text
            on_event(TextDelta(request.request_id, text, n_decoded))
        if end is not None:
            on_event(Finished(request.request_id, "".join(texts), end, Timings(n_decoded=len(texts))))

    def tell(self, event: RequestEvent, number: int = 0) -> None:
        """Send any event of a request."""
        self.request(number)
        if isinstance(event, Failed):
            self._failed.add(str(event.request_id))
        self._asked[number][1](event)


class PlayedRouter:
    """Answers at once with `answer`, or keeps the question while `holds`."""

    def __init__(self) -> None:
        self.answer: RouterAnswer | None = RouterAnswer("played", 0.1)
        self.holds = False
        self.held: list[Callable[[RouterAnswer | None], None]] = []
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.arrived = threading.Event()
        self.n_restarts = 0

    def restart(self) -> None:
        """As the router client."""
        self.n_restarts += 1

    def route(
        self,
        text: str,
        history: Sequence[str],
        on_answer: Callable[[RouterAnswer | None], None],
        deadline_s: float = 0.4,
    ) -> None:
        """As the router client."""
        self.asked.append((text, tuple(history)))
        if self.holds:
            self.held.append(on_answer)
            self.arrived.set()
        else:
            on_answer(self.answer)


class TurnLog:
    """Every turn event, in order, and a way to wait for one."""

    def __init__(self, feed: Feed[TurnEvent]) -> None:
        self.events: list[TurnEvent] = []
        self._changed = threading.Condition()
        feed.subscribe(self._keep)

    def _keep(self, event: TurnEvent) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def wait(self, fits: Callable[[TurnEvent], bool]) -> None:
        """Wait until an event fits."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(map(fits, self.events)), PATIENCE_S), "no such event came"

    def queued(self, message_id: str) -> None:
        """Wait until an answer is told to wait."""

        def found() -> bool:
            waiting = [e for e in self.events if isinstance(e, TurnProgress) and e.phase is TurnPhase.QUEUED]
            return any(event.message_id == message_id for event in waiting)

        with self._changed:
            assert self._changed.wait_for(found, PATIENCE_S), "the answer does not wait"

    def ended(self, message_id: str) -> TurnEnded:
        """The end of an answer; waits for it."""

        def found() -> TurnEnded | None:
            return next((e for e in self.events if isinstance(e, TurnEnded) and e.message_id == message_id), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, PATIENCE_S), "the answer did not end"
        end = found()
        assert end is not None
        return end


class PlayedDesk:
    """Real use cases, store, settings and inventory over played workers."""

    def __init__(self, paths: DataPaths, store: Store) -> None:
        self.paths = paths
        self.store = store
        self.engine = PlayedEngine()
        self.remote = PlayedEngine()
        self.remotes: list[PoolExpert] = []
        self.router = PlayedRouter()
        self.settings = Settings(paths)
        self.inventory = Inventory(paths)
        self.pool = ExpertPool(
            self.inventory,
            self.settings,
            cast("EngineClient", self.engine),
            ExpertTable(paths.expert_table),
            remotes=lambda: tuple(self.remotes),
        )
        self.answers = AnswerRequest(
            self.pool, cast("RouterClient", self.router), ExpertRunners(self.engine, self.remote)
        )
        self.running = RunningTurns(store.save_progress)
        self.turns: Feed[TurnEvent] = Feed()
        self.log = TurnLog(self.turns)
        start_turn = StartTurn(
            store=store,
            pool=self.pool,
            answers=self.answers,
            running=self.running,
            feed=self.turns,
            settings=self.settings,
        )
        self.forgotten: list[str] = []
        self.conversations = Conversations(store, self.running, self.turns, forget=self.forgotten.append)
        self.send = SendMessage(start_turn)
        self.regenerate = Regenerate(start_turn)
        self.continue_answer = ContinueAnswer(start_turn)
        self.count_context = CountContext(start_turn, self.pool, cast("EngineClient", self.engine))
        self.stop = StopGeneration(self.answers, self.running)

    def install(self, name: str = "alpha", *, n_ctx_train: int = 4096) -> str:
        """Import a tiny file as an expert; gives its id."""
        path = write_gguf(self.paths.root / f"{name}.gguf", {**_metadata(n_ctx_train), "general.name": name})
        return self.inventory.import_file(path, model_id=name).model_id

    def ask(self, text: str, conversation: Conversation | None = None, *, edit_of: str | None = None) -> TurnStarted:
        """Send a message and wait until the turn has started."""
        return self.result(self.send(conversation or self.conversations.create(), text, edit_of=edit_of))

    def whole_turn(self, question: str, answer: str, conversation: Conversation | None = None) -> TurnStarted:
        """A question and its complete answer."""
        number = self.engine.n_asked
        started = self.ask(question, conversation)
        self.engine.say(answer, number=number, end=FinishReason.STOP)
        self.log.ended(started.answer.message_id)
        return started

    @staticmethod
    def result(future: "Future[ResultT]") -> ResultT:
        """What a use case gives, or raises."""
        return future.result(PATIENCE_S)


def _metadata(n_ctx_train: int) -> dict[str, object]:
    return {**chat_metadata(), "llama.context_length": n_ctx_train}


@contextmanager
def played_desk(root: Path) -> Iterator[PlayedDesk]:
    """A desk on an empty data directory; closed at the end."""
    paths = DataPaths(root)
    store = Store.open(paths, now=1_000_000.0)
    desk = PlayedDesk(paths, store)
    try:
        yield desk
    finally:
        desk.stop.all(PATIENCE_S)
        store.close()
