"""Who takes part in the bench, behind one way of asking, so that all are measured by the same clock: the reader's."""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Protocol

from layadesk.domain.errors import ErrorReport, from_report
from layadesk.domain.inference import PromptMessage, SamplingParams, Timings
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, ModelLoaded, RequestEvent, TextDelta, ThinkingDelta
from layadesk.workers.bench_rivals import LlamaServer
from layadesk.workers.engine_client import EngineClient

MODEL_ID = "bench"
PATIENCE_S = 300.0
# No end before the last token: a base model may end at once, and then nothing could be measured.
GREEDY = SamplingParams(temperature=0.0, repeat_penalty=1.0, stops_loops=False, ignore_eos=True)


@dataclass
class Heard:
    """One answer as its reader heard it: when it was asked, and (time, tokens so far) for each piece. Seconds."""

    asked_at: float
    pieces: list[tuple[float, int]] = field(default_factory=list)
    ended_at: float | None = None
    text: str = ""
    timings: Timings | None = None
    error: ErrorReport | None = None
    call_off: Callable[[], None] = lambda: None
    _changed: threading.Condition = field(default_factory=threading.Condition, repr=False)

    def hear(self, at: float, n_tokens: int) -> None:
        """A piece of text came."""
        with self._changed:
            self.pieces.append((at, n_tokens))
            self._changed.notify_all()

    def end(self, at: float) -> None:
        """The answer is whole, or has failed."""
        with self._changed:
            self.ended_at = at
            self._changed.notify_all()

    def wait_tokens(self, n: int) -> None:
        """Until so many tokens came, or the end."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended_at is not None or self.n_at(float("inf")) >= n, PATIENCE_S)

    def wait(self) -> "Heard":
        """Until the end. Raises what the answer failed of."""
        with self._changed:
            self._changed.wait_for(lambda: self.ended_at is not None, PATIENCE_S)
        if self.error is not None:
            raise from_report(self.error)
        return self

    @property
    def ttft_s(self) -> float | None:
        """From asking to the first text."""
        return self.pieces[0][0] - self.asked_at if self.pieces else None

    @property
    def tps(self) -> float | None:
        """Tokens per second after the first piece."""
        if len(self.pieces) < 2:
            return None
        (first_at, first_n), (last_at, last_n) = self.pieces[0], self.pieces[-1]
        return (last_n - first_n) / (last_at - first_at)

    def n_at(self, moment: float) -> int:
        """How many tokens had come."""
        return max((n for at, n in self.pieces if at <= moment), default=0)

    def gaps(self, begin: float, end: float) -> list[float]:
        """The waits between pieces that lie in this span, also in part."""
        times = [at for at, _ in self.pieces]
        return [b - a for a, b in pairwise(times) if b > begin and a < end]


class Contender(Protocol):
    """Something that answers."""

    @property
    def name(self) -> str:
        """How it is called in the results."""

    def ask(self, messages: Sequence[PromptMessage], max_tokens: int, conversation: str = "") -> Heard:
        """Begin an answer; returns at once."""

    def restart(self) -> bool:
        """End its process and start another, ready to answer; False where nothing it has computed outlives it."""


class OurEngine:
    """The engine of this program, through the same client that the window uses."""

    name = "layadesk"

    def __init__(self, engine: EngineClient) -> None:
        self._engine = engine

    def load(self, spec: ExpertSpec) -> LoadedModel:
        """Have it load, and wait until it has."""
        loaded: list[LoadedModel] = []
        failures: list[Failed] = []
        came = threading.Event()

        def on_model(event: object) -> None:
            if isinstance(event, ModelLoaded):
                loaded.append(event.loaded)
                came.set()

        def on_failure(event: Failed) -> None:
            failures.append(event)
            came.set()

        ends = [self._engine.model_feed.subscribe(on_model), self._engine.failure_feed.subscribe(on_failure)]
        try:
            self._engine.configure((replace(spec, model_id=MODEL_ID),))
            self._engine.load(MODEL_ID)
            came.wait(PATIENCE_S)
        finally:
            for end in ends:
                end()
        if failures:
            raise from_report(failures[0].error)
        return loaded[0]

    def ask(self, messages: Sequence[PromptMessage], max_tokens: int, conversation: str = "") -> Heard:
        """See Contender."""
        heard = Heard(time.perf_counter())
        sampling = replace(GREEDY, max_tokens=max_tokens)
        request = Generate(
            uuid.uuid4().hex, MODEL_ID, tuple(messages), sampling, conversation_id=conversation or uuid.uuid4().hex
        )
        heard.call_off = partial(self._engine.cancel, request.request_id)
        self._engine.generate(request, _listener(heard))
        return heard

    def restart(self) -> bool:
        """See Contender. The caller waits before until what is computed has had a moment to get to disk."""
        spec = self._engine.spec(MODEL_ID)
        assert spec is not None
        self._engine.restart()
        self.load(spec)
        return True


class RivalServer:
    """llama.cpp's server."""

    name = "llama-server"

    def __init__(self, server: LlamaServer) -> None:
        self._server = server

    def ask(self, messages: Sequence[PromptMessage], max_tokens: int, conversation: str = "") -> Heard:
        """See Contender. It tells a token a piece, and finds what it has computed by itself."""
        heard = Heard(time.perf_counter())

        def on_token(at: float, text: str) -> None:
            heard.text += text
            heard.hear(at, len(heard.pieces) + 1)

        heard.call_off = self._server.stream(messages, max_tokens, on_token, lambda: heard.end(time.perf_counter()))
        return heard

    def restart(self) -> bool:
        """See Contender."""
        return False


def _listener(heard: Heard) -> Callable[[RequestEvent], None]:
    def on_event(event: RequestEvent) -> None:
        now = time.perf_counter()
        match event:
            case TextDelta(n_decoded=n) | ThinkingDelta(n_decoded=n):
                heard.hear(now, n)
            case Finished(text=text, timings=timings):
                heard.text, heard.timings = text, timings
                heard.end(now)
            case Failed(error=error):
                heard.error = error
                heard.end(now)
            case _:
                pass

    return on_event
