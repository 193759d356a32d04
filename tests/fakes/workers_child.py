"""A child process with a script instead of a model: the target for tests of what keeps children alive.

Started by real `multiprocessing` spawn, so it must stay importable by name. What it does with a request is named by the
model id (see `_PLAYS`), what it does at its start by `FakeOptions.start`.
"""

import os
import queue
import signal
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.domain.models import LoadedModel
from layadesk.domain.routing import RouterAnswer
from layadesk.domain.worker_state import EXIT_BAD_BUILD, WorkerKind
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import (
    Cancel,
    Configure,
    CountTokens,
    EngineCommand,
    ForgetConversation,
    Generate,
    LoadModel,
    Ping,
    ProfileExpert,
    RouterCommand,
    RouteText,
    Shutdown,
    UnloadModel,
    WatchMoeExperts,
)
from layadesk.protocol.events import (
    EngineEvent,
    EngineReady,
    Finished,
    ModelLoaded,
    ModelLoading,
    ModelUnloaded,
    PromptBuilt,
    RouteAnswered,
    RouterEvent,
    RouterReady,
    TextDelta,
    TokensCounted,
)
from layadesk.protocol.native_log import (
    SELF_TEST_BEGIN,
    SELF_TEST_LACKS,
    SELF_TEST_OK,
    native_log_file,
    redirect_native_output,
)

TICK_S = 0.002  # a token
HANG_S = 600.0


@dataclass(frozen=True, slots=True)
class FakeOptions:
    """`start`: `ready`, `old` (another version), `garbage`, `silent` (never ready), `exit N`, `signal N`,
    `bad build` (a signal in the self-test), `said bad build` (the exit code for it), or `deaf` (ready, then hangs)."""

    log_dir: str
    start: str = "ready"


@dataclass(slots=True)
class _Stream:
    request: Generate
    n_decoded: int = 0
    text: str = ""


class _FakeEngine:
    def __init__(self, connection: "Connection[Any, Any]", line: ChildLine[EngineCommand, EngineEvent]) -> None:
        self.connection = connection
        self.line = line
        self.streams: dict[str, _Stream] = {}
        self.n_configured = 0

    def serve(self) -> None:
        while True:
            try:
                command = self.line.inbox.get(timeout=TICK_S if self.streams else None)
            except queue.Empty:
                for stream in list(self.streams.values()):
                    self.step(stream)
                continue
            if isinstance(command, Shutdown):
                for request_id in list(self.streams):
                    self.end(request_id, FinishReason.CANCELLED)
                return
            self.take(command)

    def take(self, command: EngineCommand) -> None:
        match command:
            case Configure(experts=experts):
                self.n_configured = len(experts)
            case Generate():
                self.begin(command)
            case Cancel(request_id=request_id):
                self.end(request_id, FinishReason.CANCELLED)
            case LoadModel(model_id=model_id):
                self.load(model_id)
            case UnloadModel(model_id=model_id):
                self.line.send(ModelUnloaded(model_id))
            case CountTokens(count_id=count_id, model_id=model_id):
                if model_id != "dies-counting":
                    self.line.send(TokensCounted(count_id, 7, 7, 0, 512))
                    return
                self.line.flush(1.0)
                os.kill(os.getpid(), signal.SIGKILL)
            case Ping() | ForgetConversation() | WatchMoeExperts() | ProfileExpert() | Shutdown():
                pass

    def load(self, model_id: str) -> None:
        self.line.set_phase("loading", 0)
        self.line.send(ModelLoading(model_id, 0.0))
        self.line.flush(1.0)
        if model_id == "crash-on-load":
            os.kill(os.getpid(), signal.SIGSEGV)
        if model_id == "long-load":
            _hang()
        self.line.send(ModelLoaded(_loaded(model_id)))

    def begin(self, request: Generate) -> None:
        if request.model_id in ("crash-on-load", "long-load", "load"):
            self.load(request.model_id)
        if request.model_id == "crash-unsaid":
            os.kill(os.getpid(), signal.SIGSEGV)
        if request.model_id == "garbage":
            self.line.flush(1.0)
            self.connection.send_bytes(b"\xc1 no message")
        if request.model_id == "half":
            self.line.flush(1.0)
            os.write(self.connection.fileno(), b"\x00\x00\xff\x00 the rest never comes")
            _hang()
        if request.model_id == "flood":
            for _ in range(400):
                self.line.send(ModelLoading("x", 0.5))
        self.line.send(PromptBuilt(request.request_id, 5, 0, 0, 512, MemoryUse()))
        self.streams[request.request_id] = _Stream(request)

    def step(self, stream: _Stream) -> None:
        request = stream.request
        if request.model_id == "stuck":
            self.line.set_phase("decode", 7)
            return
        self.line.set_phase("decode", stream.n_decoded)
        asks_for_experts = request.model_id == "count configured"
        piece = f"{self.n_configured} experts" if asks_for_experts else f"{stream.n_decoded} "
        stream.n_decoded += 1
        stream.text += piece
        self.line.send(TextDelta(request.request_id, piece, stream.n_decoded))
        if request.model_id != "endless" and stream.n_decoded >= (request.sampling.max_tokens or 10):
            self.end(request.request_id, FinishReason.LENGTH)

    def end(self, request_id: str, reason: FinishReason) -> None:
        stream = self.streams.pop(request_id, None)
        if stream is not None:
            self.line.send(Finished(request_id, stream.text, reason, Timings(n_decoded=stream.n_decoded)))
        if not self.streams:
            self.line.set_phase("idle", 0)


def run_engine(connection: "Connection[Any, Any]", options: FakeOptions) -> None:
    """Target of the fake engine process."""
    line: ChildLine[EngineCommand, EngineEvent] = ChildLine(connection, EngineCommand)
    line.start()
    redirect_native_output(native_log_file(Path(options.log_dir), WorkerKind.ENGINE))
    _start(options.start, connection)
    version = 99 if options.start == "old" else PROTOCOL_VERSION
    line.send(EngineReady(version, os.getpid(), "fake", ("CPU",), False, 0.0))
    if options.start == "deaf":
        line.flush(1.0)
        os.kill(os.getpid(), signal.SIGSTOP)
    _FakeEngine(connection, line).serve()
    line.close(1.0)


def run_router(connection: "Connection[Any, Any]", options: FakeOptions) -> None:
    """Target of the fake router process: answers at once, never (text `never`), late (`late`) or by dying (`die`)."""
    line: ChildLine[RouterCommand, RouterEvent] = ChildLine(connection, RouterCommand)
    line.start()
    redirect_native_output(native_log_file(Path(options.log_dir), WorkerKind.ROUTER))
    _start(options.start, connection)
    line.send(RouterReady(PROTOCOL_VERSION, os.getpid(), "fake"))
    while not isinstance(command := line.inbox.get(), Shutdown):
        if not isinstance(command, RouteText) or command.text == "never":
            continue
        if command.text == "die":
            os._exit(3)
        if command.text == "late":  # it is called off when nobody waits any more
            while not isinstance(line.inbox.get(), Cancel | Shutdown):
                pass
        line.send(RouteAnswered(command.request_id, RouterAnswer("fake", 0.1, {"code": 1.0})))
    line.close(1.0)


def _hang() -> None:
    threading.Event().wait(HANG_S)


def _start(what: str, connection: "Connection[Any, Any]") -> None:
    word, _, number = what.partition(" ")
    if what == "garbage":
        connection.send_bytes(b"\xff")
        _hang()
    if what == "silent":
        _hang()
    if word == "exit":
        os._exit(int(number))
    if word == "signal":
        os.kill(os.getpid(), int(number))
    if what == "bad build":
        os.write(2, f"loading the tiny model\n{SELF_TEST_BEGIN}\n".encode())
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "old processor":
        os.write(2, f"{SELF_TEST_BEGIN}\n{SELF_TEST_LACKS}AVX2, FMA\n".encode())
        os._exit(EXIT_BAD_BUILD)
    if what == "said bad build":
        os._exit(EXIT_BAD_BUILD)
    os.write(2, f"{SELF_TEST_BEGIN}\n{SELF_TEST_OK}\n".encode())


def _loaded(model_id: str) -> LoadedModel:
    return LoadedModel(model_id, "fake", 512, 512, 1, 0, 32, 4, 1.0, "gguf", MemoryUse())
