"""An engine loop on its own thread, without a process: commands go in, events are recorded, promises are checked."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from layadesk.domain.inference import LoadParams, PromptMessage, Role, SamplingParams, ThinkingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend
from layadesk.engine.loop import EngineLoop, LoopMessage
from layadesk.protocol.commands import Cancel, Configure, Generate, LoadModel, Shutdown, UnloadModel
from layadesk.protocol.events import EngineEvent, Failed, Finished, ModelLoaded, PromptBuilt, RequestEvent, TextDelta
from tests.invariants import check_request

EventT = TypeVar("EventT")

PATIENCE_S = 60.0
GREEDY = SamplingParams(temperature=0.0, repeat_penalty=1.0)

# What a small model says to a question hangs on near ties, and rounding differs with what else is in a batch. Asked for
# the fifth time to recite one of these, SmolLM2 puts each right token 2 and more (of some 20) before the next best.
SENTENCES = (
    "The quick brown fox jumps over the lazy dog while seven wizards quietly bake fresh bread near the old stone"
    " bridge.",
    "Every morning the baker opens the shop, lights the oven, and sells warm rolls to the children on their way to"
    " school.",
    "A small green boat drifted slowly down the river, past the mill and the church, until it reached the open sea.",
    "In the winter the old gardener counts his seeds, sharpens every tool, and waits for the first warm day of spring.",
)


def recital(sentence: str, n_before: int = 4) -> list[PromptMessage]:
    """A conversation whose next answer is `sentence`."""
    once = [PromptMessage(Role.USER, "Recite it."), PromptMessage(Role.ASSISTANT, sentence)]
    return [*once * n_before, once[0]]


class RunningEngine:
    """Close it: `close` ends the loop and checks every request it was ever given."""

    def __init__(
        self,
        backend: Backend,
        *experts: ExpertSpec,
        cells_dir: Path | None = None,
        **limits: Any,
    ) -> None:
        self.events: list[EngineEvent] = []
        self.phases: list[tuple[str, int]] = []
        self.loads_begun: list[int] = []
        self._changed = threading.Condition()
        self._inbox: queue.SimpleQueue[LoopMessage] = queue.SimpleQueue()
        self._asked: list[str] = []
        self._loop = EngineLoop(
            backend,
            self._inbox,
            self._put,
            set_phase=lambda phase, n: self.phases.append((phase, n)),
            before_load=lambda: self.loads_begun.append(len(self.events)),
            cells_dir=cells_dir,
        )
        self._error: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, name="decode")
        self._thread.start()
        if experts:
            self.configure(*experts, **limits)

    def configure(self, *experts: ExpertSpec, **limits: Any) -> None:
        self._inbox.put(Configure(experts, **limits))

    def load(self, model_id: str) -> ModelLoaded:
        self._inbox.put(LoadModel(model_id))
        return self.wait(ModelLoaded, lambda event: event.loaded.model_id == model_id)

    def send(self, command: LoopMessage) -> None:
        if isinstance(command, Generate):
            self._asked.append(command.request_id)
        self._inbox.put(command)

    def ask(
        self,
        text: str | Sequence[PromptMessage] = "hello",
        *,
        model_id: str = "expert",
        request_id: str | None = None,
        sampling: SamplingParams = GREEDY,
        thinking: ThinkingParams = ThinkingParams(),  # noqa: B008  # frozen
        conversation_id: str = "",
    ) -> str:
        """Send one request; returns its id."""
        new_id = request_id or f"r{len(self._asked)}"
        messages = (PromptMessage(Role.USER, text),) if isinstance(text, str) else tuple(text)
        self.send(Generate(new_id, model_id, messages, sampling, thinking, conversation_id))
        return new_id

    def go_on(self, text: str | Sequence[PromptMessage], begun: str, *, thought: str = "", **more: Any) -> str:
        """Have the answer `begun` gone on with; returns the new request's id."""
        new_id = f"r{len(self._asked)}"
        asked = (PromptMessage(Role.USER, text),) if isinstance(text, str) else tuple(text)
        messages = (*asked, PromptMessage(Role.ASSISTANT, begun))
        sampling = more.pop("sampling", GREEDY)
        self.send(Generate(new_id, "expert", messages, sampling, continues=True, thought=thought, **more))
        return new_id

    def cancel(self, request_id: str) -> None:
        self._inbox.put(Cancel(request_id))

    def unload(self, model_id: str = "expert") -> None:
        self._inbox.put(UnloadModel(model_id))

    def of(self, request_id: str) -> list[RequestEvent]:
        with self._changed:
            return [e for e in self.events if isinstance(e, RequestEvent) and e.request_id == request_id]

    def text(self, request_id: str) -> str:
        return "".join(event.text for event in self.of(request_id) if isinstance(event, TextDelta))

    def prompt(self, request_id: str) -> PromptBuilt:
        return next(event for event in self.of(request_id) if isinstance(event, PromptBuilt))

    def wait(self, kind: type[EventT], matches: Callable[[EventT], bool] = lambda _event: True) -> EventT:
        """The first event of this kind that matches; what came already counts."""
        found: list[EventT] = []

        def is_there() -> bool:
            found.extend(event for event in self.events if isinstance(event, kind) and matches(event))
            return bool(found) or bool(self._error)

        with self._changed:
            assert self._changed.wait_for(is_there, PATIENCE_S), f"no {kind} in {self.events[-20:]}"
        if not found:
            raise self._error[0]
        return found[0]

    def wait_until(self, is_true: Callable[[], bool]) -> None:
        """For what no event tells, such as a file."""
        with self._changed:
            ends = time.monotonic() + PATIENCE_S
            while not is_true():
                assert time.monotonic() < ends, "it never happened"
                self._changed.wait(0.02)

    def wait_count(self, kind: type[EventT], n: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: sum(isinstance(e, kind) for e in self.events) >= n, PATIENCE_S)

    def wait_for(self, request_id: str, kind: type[EventT]) -> EventT:
        return self.wait(kind, lambda event: getattr(event, "request_id", None) == request_id)

    def wait_text(self, request_id: str, n_chars: int) -> str:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.text(request_id)) >= n_chars, PATIENCE_S)
        return self.text(request_id)

    def finished(self, request_id: str) -> Finished:
        end = self.end(request_id)
        assert isinstance(end, Finished), end
        return end

    def failed(self, request_id: str) -> Failed:
        end = self.end(request_id)
        assert isinstance(end, Failed), end
        return end

    def end(self, request_id: str) -> Finished | Failed:
        return self.wait(Finished | Failed, lambda event: event.request_id == request_id)  # type: ignore[arg-type]  # a union

    def close(self) -> None:
        self._inbox.put(Shutdown())
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the loop does not end"
        for request_id in dict.fromkeys(self._asked):
            check_request(self.of(request_id), request_id)
        assert not self._error, self._error

    @property
    def died_of(self) -> BaseException | None:
        """What ended the loop, taken as expected."""
        self._thread.join(PATIENCE_S)
        return self._error.pop() if self._error else None

    def _run(self) -> None:
        try:
            self._loop.run()
        except BaseException as error:  # noqa: BLE001  # shown by the test that waits
            self._error.append(error)
            with self._changed:
                self._changed.notify_all()

    def _put(self, event: EngineEvent) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()


def expert(path: str, *, model_id: str = "expert", **params: object) -> ExpertSpec:
    return ExpertSpec(model_id, path, LoadParams(**{"n_ctx": 1024, **params}))  # type: ignore[arg-type]  # by name
