"""The engine as a process: its first word, its last, and every way to go."""

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.domain.inference import FinishReason, PromptMessage, Role
from layadesk.domain.worker_state import EXIT_BAD_BUILD, EXIT_PYTHON_ERROR, WorkerKind
from layadesk.engine.main import run
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.channel import Channel
from layadesk.protocol.commands import Configure, EngineCommand, Generate, Ping, Shutdown
from layadesk.protocol.events import EngineEvent, EngineReady, Finished, Pong, TextDelta
from layadesk.protocol.native_log import SELF_TEST_BEGIN, SELF_TEST_OK, native_log_file
from layadesk.protocol.options import EngineOptions
from layadesk.protocol.scripted import FaultKind, ScriptedFault, ScriptedOptions
from tests.fakes.engine_running import GREEDY, PATIENCE_S, expert

posix = pytest.mark.skipif(sys.platform == "win32", reason="a signal ends it")


class Child:
    """An engine process and the app's end of its pipe."""

    def __init__(self, tmp_path: Path, backend: str = "scripted", scripted: ScriptedOptions | None = None) -> None:
        self.log_dir = tmp_path / "logs"
        options = EngineOptions(backend, str(self.log_dir), str(tmp_path / "cache"), scripted)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=True)
        self._process = context.Process(target=run, args=(theirs, options), daemon=True)
        self._process.start()
        theirs.close()
        self._channel: Channel[EngineCommand, EngineEvent] = Channel(ours, EngineEvent)

    def send(self, command: EngineCommand) -> None:
        self._channel.send(command)

    def receive(self) -> EngineEvent:
        assert self._channel.connection.poll(PATIENCE_S), "the engine says nothing"
        return self._channel.receive()

    def ready(self) -> EngineReady:
        event = self.receive()
        assert isinstance(event, EngineReady), event
        return event

    def hear_out(self) -> list[EngineEvent]:
        """Everything it says until it is gone."""
        events: list[EngineEvent] = []
        with contextlib.suppress(EOFError, OSError):
            while True:
                events.append(self.receive())
        return events

    def hang_up(self) -> None:
        self._channel.close()

    def exit_code(self) -> int | None:
        self._process.join(PATIENCE_S)
        return self._process.exitcode

    def native_log(self) -> str:
        return native_log_file(self.log_dir, WorkerKind.ENGINE).read_text(encoding="utf-8")

    def end(self) -> None:
        if self._process.is_alive():
            self._process.kill()
        self._process.join(PATIENCE_S)
        self._channel.close()


@pytest.fixture
def children() -> Iterator[list[Child]]:
    started: list[Child] = []
    yield started
    for child in started:
        child.end()


def ask(child: Child, path: str, request_id: str = "r") -> None:
    child.send(Configure((expert(path),)))
    child.send(Generate(request_id, "expert", (PromptMessage(Role.USER, "hello"),), GREEDY))


def test_it_says_ready_answers_and_leaves_with_0(children: list[Child], tmp_path: Path, any_file: str) -> None:
    children.append(child := Child(tmp_path, scripted=ScriptedOptions(text="abc")))
    ready = child.ready()
    assert (ready.protocol_version, ready.backend, ready.devices) == (PROTOCOL_VERSION, "scripted", ("script",))
    ask(child, any_file)
    child.send(Ping(7))
    events = [child.receive()]
    while not isinstance(events[-1], Finished):
        events.append(child.receive())
    assert events[-1].text == "abc"
    child.send(Shutdown())
    events += child.hear_out()
    assert any(isinstance(event, Pong) and event.n == 7 for event in events)
    assert child.exit_code() == 0
    assert "hello" not in (child.log_dir / "engine.log").read_text(encoding="utf-8"), "logs hold no message text"


@pytest.mark.llama
def test_llama_cpp_is_tested_before_the_first_word(children: list[Child], tmp_path: Path) -> None:
    children.append(child := Child(tmp_path, "llama"))
    ready = child.ready()
    assert ready.backend == "llama"
    assert "CPU" in ready.devices
    assert ready.self_test_ms > 0
    assert child.native_log().index(SELF_TEST_BEGIN) < child.native_log().index(SELF_TEST_OK)
    child.send(Shutdown())
    assert child.exit_code() == 0


def test_shutdown_in_mid_answer_ends_it_as_cancelled_with_its_text(
    children: list[Child], tmp_path: Path, any_file: str
) -> None:
    children.append(child := Child(tmp_path, scripted=ScriptedOptions(text="word " * 1000, decode_tps=100)))
    child.ready()
    ask(child, any_file)
    while not isinstance(child.receive(), TextDelta):
        pass
    child.send(Shutdown())
    ends = [event for event in child.hear_out() if isinstance(event, Finished)]
    assert [end.finish_reason for end in ends] == [FinishReason.CANCELLED]
    assert ends[0].text.startswith("word"[: len(ends[0].text)])
    assert child.exit_code() == 0


def test_it_leaves_when_the_app_is_gone_also_in_the_middle_of_its_work(
    children: list[Child], tmp_path: Path, any_file: str
) -> None:
    options = ScriptedOptions(text="x" * 100, faults=(ScriptedFault(FaultKind.HANG, at_token=3),))
    children.append(child := Child(tmp_path, scripted=options))
    child.ready()
    ask(child, any_file)
    while not isinstance(child.receive(), TextDelta):
        pass
    child.hang_up()
    assert child.exit_code() == 0


def test_a_library_that_cannot_be_loaded_is_a_bad_build(
    children: list[Child], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLAMA_CPP_LIB_PATH", str(tmp_path))
    children.append(child := Child(tmp_path, "llama"))
    assert child.hear_out() == []
    assert child.exit_code() == EXIT_BAD_BUILD
    assert "not found" in (child.log_dir / "engine.log").read_text(encoding="utf-8")


def test_an_unknown_backend_is_an_error_of_ours(children: list[Child], tmp_path: Path) -> None:
    children.append(child := Child(tmp_path, "abacus"))
    assert child.hear_out() == []
    assert child.exit_code() == EXIT_PYTHON_ERROR


def test_an_unforeseen_exception_is_logged_and_what_was_said_before_arrives(
    children: list[Child], tmp_path: Path, any_file: str
) -> None:
    options = ScriptedOptions(text="abcdef", faults=(ScriptedFault(FaultKind.RAISE, at_token=4),))
    children.append(child := Child(tmp_path, scripted=options))
    child.ready()
    ask(child, any_file)
    said = [event for event in child.hear_out() if isinstance(event, TextDelta)]
    assert "".join(delta.text for delta in said) == "abcd"
    assert child.exit_code() == EXIT_PYTHON_ERROR
    assert "RuntimeError" in (child.log_dir / "engine.log").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "exit_code"),
    [
        (FaultKind.EXIT, 3),
        pytest.param(FaultKind.ABORT, -6, marks=posix),
        pytest.param(FaultKind.KILL, -9, marks=posix),
    ],
)
def test_a_script_can_end_the_process_in_every_way(
    children: list[Child], tmp_path: Path, any_file: str, kind: FaultKind, exit_code: int
) -> None:
    children.append(child := Child(tmp_path, scripted=ScriptedOptions(faults=(ScriptedFault(kind, at_token=2),))))
    child.ready()
    ask(child, any_file)
    assert not any(isinstance(event, Finished) for event in child.hear_out())
    assert child.exit_code() == exit_code


def test_a_script_can_end_it_before_its_first_word(children: list[Child], tmp_path: Path) -> None:
    children.append(child := Child(tmp_path, scripted=ScriptedOptions(at_start=FaultKind.EXIT)))
    assert child.hear_out() == []
    assert child.exit_code() == 3
