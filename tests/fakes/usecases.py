"""Use cases without rooms below them, for tests of the window: the same calls, answered on other threads.

`House` is the whole of it. A test plays the engine: `house.say(answer_id, "text")` publishes on the engine's lane and
returns when that is done, as the real client thread would; what the store does happens on the store's lane.
"""

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from layadesk.domain.alert_watch import Alert
from layadesk.domain.chat import (
    Attachment,
    Conversation,
    Correction,
    DeletedConversation,
    Message,
    MessageStatus,
    OpenConversation,
    branch_to,
    newest_leaf_below,
    siblings_of,
    title_from,
)
from layadesk.domain.context_budget import ContextCount
from layadesk.domain.diagnosis import Diagnosis
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.inference import FinishReason, LoadParams, MemoryUse, Role, Timings
from layadesk.domain.memory_fit.load_record import LoadRecord
from layadesk.domain.memory_fit.plans import Outlook, Plan
from layadesk.domain.models import InstalledModel, LoadedModel, Origin
from layadesk.domain.route_counts import RouteCounts
from layadesk.domain.routing import Route
from layadesk.domain.search import SearchHit, excerpt, terms_of
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.domain.worker_state import WorkerKind, WorkerState, WorkerStatus
from layadesk.paths import DataPaths
from layadesk.protocol.events import EngineStats, ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.protocol.feed import Feed
from layadesk.settings.settings import Settings
from layadesk.usecases.about import About
from layadesk.usecases.check_installation import Check, Finding, Level
from layadesk.usecases.diagnose import Health
from layadesk.usecases.import_settings import ImportSettings
from layadesk.usecases.load_gate import LoadChoice, LoadOutlook
from layadesk.usecases.memory_guard import GuardState, Relief
from layadesk.usecases.move_chats import ChatFormat, Imported
from layadesk.usecases.timeline import Band
from layadesk.usecases.turns import (
    TurnEnded,
    TurnEvent,
    TurnPhase,
    TurnProgress,
    TurnPrompt,
    TurnRouted,
    TurnStarted,
    TurnText,
)
from layadesk.usecases.update_file import UpdateFile
from layadesk.usecases.watch_updates import WatchUpdates
from tests.fakes.inside import FakeInside, FakeTime
from tests.fakes.library_page import FakeDownloads, FakeLibrary, FakeLook
from tests.fakes.remotes import FakeRemotes
from tests.fakes.server import FakeServe

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases

ResultT = TypeVar("ResultT")
WAIT_S = 5.0
START = 1_800_000_000.0


class Lane:
    """One thread, in order."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, name)

    def run(self, call: Callable[[], ResultT]) -> Future[ResultT]:
        """Soon."""
        return self._executor.submit(call)

    def wait(self, call: Callable[[], ResultT]) -> ResultT:
        """Now, but on that thread."""
        return self._executor.submit(call).result(WAIT_S)

    def close(self) -> None:
        """End the thread."""
        self._executor.shutdown(wait=True)


class Books:
    """What the store holds, and the text of running answers. Touched on the store's lane and under tests' eyes."""

    def __init__(self) -> None:
        self.conversations: dict[str, Conversation] = {}
        self.messages: dict[str, dict[str, Message]] = {}
        self.deleted: set[str] = set()
        self.running: dict[str, Message] = {}
        self._numbers = itertools.count(1)

    def new_id(self, kind: str) -> str:
        """`message-7`."""
        return f"{kind}-{next(self._numbers)}"

    def time(self) -> float:
        """A clock that moves by a second each time it is read."""
        return START + next(self._numbers)

    def screen(self, conversation_id: str) -> OpenConversation:
        """As `Conversations.open` answers."""
        if conversation_id not in self.conversations:
            raise fail(ErrorCode.UNKNOWN_CONVERSATION)
        conversation = self.conversations[conversation_id]
        messages = self.messages.get(conversation_id, {})
        branch = branch_to(messages, conversation.leaf_id)
        shown = tuple(self.running.get(m.message_id, m) for m in branch)
        return OpenConversation(conversation, shown, siblings_of(messages.values(), branch))

    def add(self, *messages: Message) -> None:
        """Store messages; the last one becomes the leaf."""
        for message in messages:
            self.messages.setdefault(message.conversation_id, {})[message.message_id] = message
        last = messages[-1]
        conversation = self.conversations[last.conversation_id]
        self.conversations[last.conversation_id] = replace(
            conversation, leaf_id=last.message_id, updated_at=last.created_at
        )


class FakeConversations:
    def __init__(self, books: Books, lane: Lane) -> None:
        self._books = books
        self._lane = lane
        self._unstored: dict[str, Conversation] = {}
        self.changed: Feed[str] = Feed()
        self.drafts_saved: list[tuple[str, str]] = []

    def list(self) -> Future[tuple[Conversation, ...]]:
        return self._lane.run(self._list)

    def _list(self) -> tuple[Conversation, ...]:
        kept = [c for c in self._books.conversations.values() if c.conversation_id not in self._books.deleted]
        return tuple(sorted(kept, key=lambda c: -c.updated_at))

    def create(self) -> Conversation:
        now = self._books.time()
        conversation = Conversation(self._books.new_id("conversation"), "", now, now)
        self._unstored[conversation.conversation_id] = conversation
        return conversation

    def open(self, conversation_id: str) -> Future[OpenConversation]:
        return self._lane.run(lambda: self._books.screen(conversation_id))

    def switch_to(self, conversation_id: str, message_id: str) -> Future[OpenConversation]:
        def switch() -> OpenConversation:
            leaf = newest_leaf_below(self._books.messages[conversation_id].values(), message_id)
            self._change(conversation_id, leaf_id=leaf)
            return self._books.screen(conversation_id)

        return self._lane.run(switch)

    def rename(self, conversation_id: str, title: str) -> Future[None]:
        return self._changing("", lambda: self._change(conversation_id, title=title))

    def delete(self, conversation_id: str) -> Future[None]:
        return self._changing("", lambda: self._books.deleted.add(conversation_id))

    def restore(self, conversation_id: str) -> Future[None]:
        return self._changing("", lambda: self._books.deleted.discard(conversation_id))

    def deleted(self) -> Future[tuple[DeletedConversation, ...]]:
        def find() -> tuple[DeletedConversation, ...]:
            books = self._books
            return tuple(
                DeletedConversation(one, books.conversations[one].title, START, len(books.messages.get(one, {})))
                for one in sorted(books.deleted)
            )

        return self._lane.run(find)

    def erase(self, conversation_id: str) -> Future[None]:
        def erase() -> None:
            self._books.deleted.discard(conversation_id)
            self._books.conversations.pop(conversation_id)

        return self._lane.run(erase)

    def pin_expert(self, conversation_id: str, expert_id: str | None) -> Future[None]:
        return self._changing(conversation_id, lambda: self._change(conversation_id, expert_id=expert_id))

    def set_pinned(self, conversation_id: str, *, is_pinned: bool) -> Future[None]:
        return self._changing("", lambda: self._change(conversation_id, is_pinned=is_pinned))

    def set_folder(self, conversation_id: str, folder: str) -> Future[None]:
        return self._changing("", lambda: self._change(conversation_id, folder=folder))

    def set_system_prompt(self, conversation_id: str, text: str) -> Future[None]:
        return self._changing(conversation_id, lambda: self._change(conversation_id, system_prompt=text))

    def set_preset(self, conversation_id: str, preset: str) -> Future[None]:
        return self._changing(conversation_id, lambda: self._change(conversation_id, preset=preset))

    def correct(self, conversation_id: str, message_id: str, correction: Correction | None) -> Future[None]:
        def keep() -> None:
            messages = self._books.messages[conversation_id]
            messages[message_id] = replace(messages[message_id], correction=correction)

        return self._changing(conversation_id, keep)

    def search(self, query: str) -> Future[tuple[SearchHit, ...]]:
        return self._lane.run(lambda: self._search(terms_of(query)))

    def _search(self, terms: tuple[str, ...]) -> tuple[SearchHit, ...]:
        hits = []
        for conversation in self._list():
            for message in self._books.messages.get(conversation.conversation_id, {}).values():
                if all(term in message.text.casefold() for term in terms):
                    shown, spans = excerpt(message.text, terms)
                    hits.append(
                        SearchHit(
                            conversation.conversation_id,
                            conversation.title,
                            message.created_at,
                            shown,
                            spans,
                            message.message_id,
                            message.role,
                        )
                    )
        return tuple(hits)

    def open_at(self, conversation_id: str, message_id: str) -> Future[OpenConversation]:
        def at() -> OpenConversation:
            if all(m.message_id != message_id for m in self._books.screen(conversation_id).branch):
                leaf = newest_leaf_below(self._books.messages[conversation_id].values(), message_id)
                self._change(conversation_id, leaf_id=leaf)
            return self._books.screen(conversation_id)

        return self._lane.run(at)

    def save_draft(self, conversation_id: str, text: str) -> Future[None]:
        def save() -> None:
            self.drafts_saved.append((conversation_id, text))
            self._change(conversation_id, draft=text)

        return self._lane.run(save)

    def store_if_new(self, conversation: Conversation) -> None:
        """Store's lane: the first message, draft or pin makes it real."""
        self._unstored.pop(conversation.conversation_id, None)
        self._books.conversations.setdefault(conversation.conversation_id, conversation)

    def _change(self, conversation_id: str, **changes: object) -> None:
        if conversation_id in self._unstored:
            self.store_if_new(self._unstored[conversation_id])
        conversation = self._books.conversations[conversation_id]
        self._books.conversations[conversation_id] = replace(conversation, **changes)  # type: ignore[arg-type] # by name

    def _changing(self, what: str, call: Callable[[], object]) -> Future[None]:
        def change() -> None:
            call()
            self.changed.publish(what)

        return self._lane.run(change)


class FakeTurns:
    """`send_message`, `regenerate` and `stop_generation`, and the stage on which a test plays the engine."""

    def __init__(self, books: Books, store: Lane, conversations: FakeConversations) -> None:
        self._books = books
        self._store = store
        self._conversations = conversations
        self.feed: Feed[TurnEvent] = Feed()
        self.fail_next: LayaDeskError | None = None
        self.stopped: list[str] = []
        self.experts_asked: list[str | None] = []

    def send(
        self,
        conversation: Conversation,
        text: str,
        *,
        edit_of: str | None = None,
        attachments: tuple[Attachment, ...] = (),
    ) -> Future[TurnStarted]:
        return self._store.run(lambda: self._send(conversation, text, edit_of, attachments))

    def again(self, conversation_id: str, answer_id: str, *, expert: str | None = None) -> Future[TurnStarted]:
        def begin() -> TurnStarted:
            self.experts_asked.append(expert)
            self._refuse_if_asked(conversation_id)
            parent_id = self._books.messages[conversation_id][answer_id].parent_id
            return self._begin(conversation_id, None, str(parent_id))

        return self._store.run(begin)

    def go_on(self, conversation_id: str, answer_id: str) -> Future[TurnStarted]:
        def begin() -> TurnStarted:
            self._refuse_if_asked(conversation_id)
            answer = replace(self._books.messages[conversation_id][answer_id], status=MessageStatus.STREAMING)
            return self._tell_start(None, answer)

        return self._store.run(begin)

    def _send(
        self, conversation: Conversation, text: str, edit_of: str | None, attachments: tuple[Attachment, ...]
    ) -> TurnStarted:
        conversation_id = conversation.conversation_id
        self._refuse_if_asked(conversation_id)
        if not text.strip():
            raise fail(ErrorCode.EMPTY_PROMPT)
        self._conversations.store_if_new(replace(conversation, title=conversation.title or title_from(text)))
        stored = self._books.conversations[conversation_id]
        parent_id = stored.leaf_id
        if edit_of is not None:
            parent_id = self._books.messages[conversation_id][edit_of].parent_id
        question_id = self._books.new_id("question")
        question = Message(
            question_id, conversation_id, parent_id, Role.USER, text, self._books.time(), attachments=attachments
        )
        return self._begin(conversation_id, question, question_id)

    def _begin(self, conversation_id: str, question: Message | None, parent_id: str) -> TurnStarted:
        answer = Message(
            self._books.new_id("answer"),
            conversation_id,
            parent_id,
            Role.ASSISTANT,
            "",
            self._books.time(),
            MessageStatus.STREAMING,
        )
        return self._tell_start(question, answer)

    def _tell_start(self, question: Message | None, answer: Message) -> TurnStarted:
        self._books.add(*([answer] if question is None else [question, answer]))
        self._books.running[answer.message_id] = answer
        started = TurnStarted(answer.conversation_id, question, answer)
        self.feed.publish(started)
        self._conversations.changed.publish("")
        return started

    def _refuse_if_asked(self, conversation_id: str) -> None:
        if any(m.conversation_id == conversation_id for m in self._books.running.values()):
            raise fail(ErrorCode.CONVERSATION_BUSY)
        error, self.fail_next = self.fail_next, None
        if error is not None:
            raise error


class FakeStop:
    def __init__(self, house: "House") -> None:
        self._house = house

    def __call__(self, message_id: str) -> None:
        self._house.turns.stopped.append(message_id)
        self._house.engine.run(lambda: self._house.end_now(message_id, MessageStatus.CANCELLED))

    def all(self, timeout_s: float) -> bool:
        for message_id in list(self._house.books.running):
            self(message_id)
        return True


class FakeMoves:
    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.exported: list[tuple[tuple[str, ...], str, str]] = []
        self.imported: list[str] = []
        self.import_result = Imported(2, 7, 0, "")
        self.attached: dict[str, Attachment] = {}

    def export(self, conversation_ids: Sequence[str], path: str, form: ChatFormat) -> Future[int]:
        self.exported.append((tuple(conversation_ids), path, form.value))
        return self._lane.run(lambda: max(len(conversation_ids), 1))

    def import_file(self, path: str) -> Future[Imported]:
        def read() -> Imported:
            if not path.endswith(".json"):
                raise fail(ErrorCode.CHAT_FILE_UNREADABLE, path=path)
            self.imported.append(path)
            return self.import_result

        return self._lane.run(read)

    def read_attachment(self, path: str) -> Future[Attachment]:
        def read() -> Attachment:
            if path not in self.attached:
                raise fail(ErrorCode.ATTACHMENT_UNREADABLE, path=path)
            return self.attached[path]

        return self._lane.run(read)

    def close(self) -> None:
        """Nothing to end."""


class FakeRoutes:
    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.found = RouteCounts(0)
        self.error: LayaDeskError | None = None

    def __call__(self, n_days: int | None = None) -> Future[RouteCounts]:
        def read() -> RouteCounts:
            if self.error is not None:
                raise self.error
            return self.found

        return self._lane.run(read)


class FakeExperts:
    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.installed: tuple[InstalledModel, ...] = ()
        self.changed: Feed[None] = Feed()

    def list(self) -> tuple[InstalledModel, ...]:
        return self.installed

    def import_file(
        self, path: str, *, origin: Origin = Origin.IMPORTED, name: str | None = None
    ) -> Future[InstalledModel]:
        def check() -> InstalledModel:
            if not path.endswith(".gguf"):
                raise fail(ErrorCode.GGUF_NOT_GGUF, path=path)
            return self.add(path, origin=origin, name=name)

        return self._lane.run(check)

    def add(self, path: str, *, origin: Origin = Origin.IMPORTED, name: str | None = None) -> InstalledModel:
        """A file that was checked; on the lane already."""
        model = expert(Path(path).stem, name=name or Path(path).stem, path=path, origin=origin)
        self.installed = (*self.installed, model)
        self.changed.publish(None)
        return model


class FakeLedger:
    def __init__(self) -> None:
        self.records: dict[str, LoadRecord] = {}
        self.feed: Feed[LoadRecord] = Feed()

    def in_memory(self) -> dict[str, LoadRecord]:
        return self.records


class FakeResources:
    def __init__(self) -> None:
        self.feed: Feed[HardwareSample] = Feed()
        self.samples: tuple[HardwareSample, ...] = ()
        self.done: tuple[Band, ...] = ()
        self.before: tuple[HardwareSample, ...] = ()
        self.told: list[bool] = []

    def history(self) -> tuple[HardwareSample, ...]:
        return self.samples

    def past(self) -> Future[tuple[HardwareSample, ...]]:
        future: Future[tuple[HardwareSample, ...]] = Future()
        future.set_result(self.before)
        return future

    def bands(self) -> tuple[Band, ...]:
        return self.done

    def episodes(self) -> tuple[Alert, ...]:
        return ()

    def set_visible(self, visible: bool) -> None:
        self.told.append(visible)


class FakeWorkers:
    def __init__(self) -> None:
        self.feed: Feed[WorkerStatus] = Feed()
        self.models: Feed[ModelLoading | ModelLoaded | ModelUnloaded] = Feed()
        self.stats: Feed[EngineStats] = Feed()
        self.in_memory: dict[str, LoadedModel] = {}
        self.restarted: list[WorkerKind] = []

    def statuses(self) -> tuple[WorkerStatus, ...]:
        return (
            WorkerStatus(WorkerKind.ENGINE, WorkerState.READY, pid=1),
            WorkerStatus(WorkerKind.ROUTER, WorkerState.READY, pid=2),
        )

    def loaded(self) -> dict[str, LoadedModel]:
        return self.in_memory

    def restart(self, worker: WorkerKind) -> None:
        self.restarted.append(worker)


class FakeStorage:
    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.feed: Feed[StorageStatus] = Feed()
        self.status = StorageStatus(StorageKind.SAVING)
        self.n_retries = 0

    def retry(self) -> Future[StorageStatus]:
        def again() -> StorageStatus:
            self.n_retries += 1
            return self.status

        return self._lane.run(again)


class FakeGuard:
    """A state that a test sets; what was chosen is noted."""

    def __init__(self) -> None:
        self.feed: Feed[GuardState] = Feed()
        self.state = GuardState()
        self.offered = Relief()
        self.chosen: list[str] = []

    def relief(self) -> Relief:
        return self.offered

    def shrink_context(self) -> None:
        self.chosen.append("shrink")

    def use_smaller(self) -> None:
        self.chosen.append("smaller")

    def unload(self) -> None:
        self.chosen.append("unload")

    def acknowledge(self) -> None:
        self.chosen.append("acknowledge")


class FakeDiagnose:
    """Findings a test sets."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.findings: tuple[Finding, ...] = (Finding(Check.EXPERTS, Level.OK, {"n": 1, "missing": ""}),)
        self.diagnoses: tuple[Diagnosis, ...] = ()
        self.error: LayaDeskError | None = None
        self.n_checks = 0

    def check(self) -> Future[Health]:
        def run() -> Health:
            self.n_checks += 1
            if self.error is not None:
                raise self.error
            return Health(self.findings, self.diagnoses)

        return self._lane.run(run)

    def report(self, findings: tuple[Finding, ...]) -> Future[str]:
        return self._lane.run(lambda: f"the report of {len(findings)} finding")


class FakeLoads:
    """What loading an expert would mean, as a test says; nothing is priced."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.outlook_feed: Feed[LoadOutlook] = Feed()
        self.outlooks: dict[str, LoadOutlook] = {}
        self.chosen: list[tuple[str, Plan]] = []
        self.waived: list[str] = []

    def look(self, model_id: str) -> Future[LoadOutlook]:
        return self._lane.run(lambda: self.outlooks.get(model_id, LoadOutlook(model_id, False, None)))

    def last(self, model_id: str) -> LoadOutlook | None:
        return self.outlooks.get(model_id)

    def choose(self, model_id: str, plan: Plan) -> None:
        self.chosen.append((model_id, plan))

    def waive(self, model_id: str) -> None:
        self.waived.append(model_id)


class FakeLoadSettings:
    """Choices a test can read; every way costs what `price` says."""

    def __init__(self, lane: Lane, experts: "FakeExperts") -> None:
        self._lane = lane
        self._experts = experts
        self.changed: Feed[str] = Feed()
        self.own: dict[str, LoadParams] = {}
        self.outlook: Outlook | None = None
        self.priced: list[LoadParams] = []

    def experts(self) -> tuple[tuple[InstalledModel, bool], ...]:
        return tuple((model, model.model_id in self.own) for model in self._experts.installed if model.is_present)

    def of(self, model_id: str) -> Future[LoadChoice]:
        def find() -> LoadChoice:
            model = next((one for one in self._experts.installed if one.model_id == model_id), None)
            if model is None:
                raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id)
            planned = LoadParams()
            own = self.own.get(model_id)
            return LoadChoice(model, own or planned, planned, own is not None, is_loaded=False, n_layers=31)

        return self._lane.run(find)

    def price(self, model_id: str, params: LoadParams) -> Future[Outlook]:
        def find() -> Outlook:
            self.priced.append(params)
            if self.outlook is None:
                raise fail(ErrorCode.BAD_PARAMETER, parameter="type_v", value=params.type_v)
            return self.outlook

        return self._lane.run(find)

    def keep(self, model_id: str, params: LoadParams) -> Future[None]:
        def keep() -> None:
            self.own[model_id] = params
            self.changed.publish(model_id)

        return self._lane.run(keep)

    def reset(self, model_id: str) -> None:
        self.own.pop(model_id, None)
        self.changed.publish(model_id)


class FakeCounts:
    """What sending would make of the context, as a test says; what was asked is noted."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self.found: ContextCount | None = None
        self.asked: list[str] = []

    def __call__(
        self, conversation: Conversation, text: str, *, attachments: tuple[Attachment, ...] = ()
    ) -> Future[ContextCount | None]:
        self.asked.append(text)
        return self._lane.run(lambda: self.found)


@dataclass(frozen=True, slots=True)
class FakeBundle:
    """The fields of `UseCases`."""

    conversations: FakeConversations
    send_message: Callable[..., Future[TurnStarted]]
    regenerate: Callable[[str, str], Future[TurnStarted]]
    continue_answer: Callable[[str, str], Future[TurnStarted]]
    count_context: FakeCounts
    stop_generation: FakeStop
    move_chats: FakeMoves
    route_counts: "FakeRoutes"
    import_settings: ImportSettings
    experts: FakeExperts
    resources: FakeResources
    workers: FakeWorkers
    storage: FakeStorage
    turns: Feed[TurnEvent]
    settings: Settings
    diagnose: FakeDiagnose
    guard: FakeGuard
    loads: FakeLoads
    load_settings: FakeLoadSettings
    ledger: FakeLedger
    library: FakeLibrary
    downloads: FakeDownloads
    look_at_library: FakeLook
    remotes: FakeRemotes
    serve: FakeServe
    updates: WatchUpdates
    inside: FakeInside
    time: FakeTime
    about: About
    start_problems: tuple[ErrorReport, ...] = ()
    routes: None = None  # no page asks for it yet


class House:
    """Everything behind the window."""

    def __init__(self, root: Path) -> None:
        self.store = Lane("fake-store")
        self.engine = Lane("fake-engine")
        self.books = Books()
        self.conversations = FakeConversations(self.books, self.store)
        self.turns = FakeTurns(self.books, self.store, self.conversations)
        self.experts = FakeExperts(self.store)
        self.experts.installed = (expert("smol", name="SmolLM2 135M"),)
        self.resources = FakeResources()
        self.moves = FakeMoves(self.store)
        self.route_counts = FakeRoutes(self.store)
        self.workers = FakeWorkers()
        self.storage = FakeStorage(self.store)
        self.settings = Settings(DataPaths(root))
        self.diagnose = FakeDiagnose(self.store)
        self.guard = FakeGuard()
        self.loads = FakeLoads(self.store)
        self.load_settings = FakeLoadSettings(self.store, self.experts)
        self.counts = FakeCounts(self.store)
        self.ledger = FakeLedger()
        self.remotes = FakeRemotes(self.store)
        self.serve = FakeServe(self.store, self.settings)
        self.updates = WatchUpdates(self.settings, UpdateFile(root / "updates.json"))  # not started: asks nobody
        self.library = FakeLibrary(self.store, self.experts)
        self.downloads = FakeDownloads(self.library)
        self.look = FakeLook(self.library, self.store)
        self.inside = FakeInside(self.store)
        self.time = FakeTime(self.store)
        self.settings_root = root
        self.about = About(root)
        self.start_problems: tuple[ErrorReport, ...] = ()
        self.settings.set("ui.welcome", False)  # or it would stand in every empty chat

    @property
    def use_cases(self) -> "UseCases":
        """As the window receives them."""
        bundle = FakeBundle(
            self.conversations,
            self.turns.send,
            self.turns.again,
            self.turns.go_on,
            self.counts,
            FakeStop(self),
            self.moves,
            self.route_counts,
            ImportSettings(self.settings),
            self.experts,
            self.resources,
            self.workers,
            self.storage,
            self.turns.feed,
            self.settings,
            self.diagnose,
            self.guard,
            self.loads,
            self.load_settings,
            self.ledger,
            self.library,
            self.downloads,
            self.look,
            self.remotes,
            self.serve,
            self.updates,
            self.inside,
            self.time,
            self.about,
            self.start_problems,
        )
        return cast("UseCases", bundle)

    def close(self) -> None:
        """End all threads."""
        self.store.close()
        self.engine.close()
        self.settings.flush()

    def converse(self, *texts: str, title: str = "A talk", age_s: float = 0.0) -> str:
        """Store a finished conversation, question and answer in turn; returns its id."""
        now = self.books.time() - age_s
        conversation_id = self.books.new_id("conversation")
        self.books.conversations[conversation_id] = Conversation(conversation_id, title, now, now)
        parent: str | None = None
        for index, text in enumerate(texts):
            is_answer = bool(index % 2)
            message = Message(
                self.books.new_id("answer" if is_answer else "question"),
                conversation_id,
                parent,
                Role.ASSISTANT if is_answer else Role.USER,
                text,
                now + index,
                expert_id="smol" if is_answer else None,
                finish_reason=FinishReason.STOP if is_answer else None,
            )
            self.books.add(message)
            parent = message.message_id
        return conversation_id

    def running_id(self) -> str:
        """The one answer that is being made."""
        (message_id,) = self.books.running
        return message_id

    def route(self, message_id: str, route: Route) -> None:
        """The route is known."""

        def publish() -> None:
            message = self.books.running[message_id]
            self.books.running[message_id] = replace(message, route=route, expert_id=route.expert)
            self.turns.feed.publish(TurnRouted(message.conversation_id, message_id, route))

        self.engine.wait(publish)

    def progress(self, message_id: str, phase: TurnPhase, fraction: float | None = None) -> None:
        """It waits."""
        conversation_id = self.books.running[message_id].conversation_id
        event = TurnProgress(conversation_id, message_id, phase, fraction)
        self.engine.wait(lambda: self.turns.feed.publish(event))

    def prompt(self, message_id: str, *, n_prompt: int = 120, n_dropped: int = 0, n_ctx: int = 8192) -> None:
        """The prompt is built."""

        def publish() -> None:
            message = replace(self.books.running[message_id], n_dropped=n_dropped)
            self.books.running[message_id] = message
            self.turns.feed.publish(TurnPrompt(message.conversation_id, message_id, n_prompt, 0, n_dropped, n_ctx))

        self.engine.wait(publish)

    def say(self, message_id: str, text: str) -> None:
        """A piece of the answer."""
        self.engine.wait(lambda: self.say_now(message_id, text))

    def say_now(self, message_id: str, text: str) -> None:
        """The same, on the engine's lane already."""
        message = self.books.running[message_id]
        self.books.running[message_id] = replace(message, text=message.text + text)
        self.turns.feed.publish(TurnText(message.conversation_id, message_id, text, len(message.text), 1))

    def finish(
        self, message_id: str, status: MessageStatus = MessageStatus.COMPLETE, error: ErrorReport | None = None
    ) -> None:
        """The end of an answer."""
        self.engine.wait(lambda: self.end_now(message_id, status, error))

    def end_now(self, message_id: str, status: MessageStatus, error: ErrorReport | None = None) -> None:
        """The same, on the engine's lane already."""
        message = self.books.running.pop(message_id, None)
        if message is None:
            return
        ended = replace(
            message,
            status=status,
            error=error,
            finish_reason=FinishReason.STOP if status is MessageStatus.COMPLETE else FinishReason.CANCELLED,
            timings=Timings(ttft_ms=400.0, decode_ms=1000.0, n_prompt=120, n_cached=40, n_decoded=62, n_ctx=8192),
            memory=MemoryUse(),
        )
        self.books.messages[ended.conversation_id][message_id] = ended
        self.turns.feed.publish(TurnEnded(ended.conversation_id, message_id, ended))
        self.conversations.changed.publish("")


def expert(
    model_id: str, *, name: str, path: str = "/models/x.gguf", origin: Origin = Origin.STARTER, is_present: bool = True
) -> InstalledModel:
    """An installed model."""
    return InstalledModel(
        model_id,
        name,
        path,
        98 * 2**20,
        "llama",
        "Q4_1",
        8192,
        30,
        has_chat_template=True,
        origin=origin,
        installed_at=START,
        note="Tiny, English: good for trying out, not for facts.",
        is_present=is_present,
    )
