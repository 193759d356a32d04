"""The product's own engine (with the scripted backend) and router, killed, hung and counted in real processes."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, PromptMessage, Role, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.domain.worker_state import ExitKind, WorkerState
from layadesk.protocol.channel import Channel
from layadesk.protocol.commands import Configure, EngineCommand, Generate
from layadesk.protocol.events import EngineEvent, Finished, ModelLoaded, TextDelta
from layadesk.protocol.options import EngineOptions
from layadesk.protocol.scripted import FaultKind, ScriptedFault, ScriptedOptions
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import start_engine
from tests.fakes.workers_lab import HASTY, engine_lab, is_running
from tests.fakes.workers_listener import Heard

pytestmark = [pytest.mark.logs_warnings, pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")]

REPO = Path(__file__).resolve().parents[2]
LONG = "".join(f"{n} " for n in range(3000))


class Engine:
    """Starts the scripted engine; `expert` is a file it takes for a model."""

    def __init__(self, tmp_path: Path, scripted: ScriptedOptions, *, backend: str = "scripted") -> None:
        self.expert = ExpertSpec("a", str(tmp_path / "a.gguf"))
        Path(self.expert.path).touch()
        self.pids: list[int] = []
        self._options = EngineOptions(backend, str(tmp_path / "logs"), str(tmp_path / "cache"), scripted)

    def __call__(self) -> ChildProcess:
        child = start_engine(self._options)
        self.pids.append(child.pid)
        return child


def test_kill_9_in_the_middle_of_eight_fails_each_once_within_a_second_and_the_queue_goes_on(
    tmp_path: Path,
) -> None:
    engine = Engine(tmp_path, ScriptedOptions(text=LONG, decode_tps=200.0))
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure((engine.expert,))
        streams = [lab.ask("a") for _ in range(8)]
        so_far = [stream.wait_text(20) for stream in streams[:4]]  # the others wait for a place
        killed_at = time.monotonic()
        os.kill(engine.pids[0], signal.SIGKILL)
        assert [stream.wait_failure() for stream in streams] == [ErrorCode.ENGINE_DIED] * 8
        assert all(stream.ended_at - killed_at < 1.0 for stream in streams)
        assert all(stream.check().startswith(text) for stream, text in zip(streams[:4], so_far, strict=True))
        assert all(LONG.startswith(stream.check()) for stream in streams)
        next_ones = [lab.ask("a", max_tokens=5) for _ in range(8)]
        assert all(isinstance(one.wait_end(), Finished) for one in next_ones)
        assert [one.check() for one in next_ones] == [LONG[:5]] * 8
        assert not is_running(engine.pids[0])


def test_a_stopped_engine_is_replaced(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions(text=LONG, decode_tps=200.0))
    with engine_lab(engine, tmp_path, timing=HASTY) as lab:
        lab.client.configure((engine.expert,))
        stream = lab.ask("a")
        stream.wait_text()
        os.kill(engine.pids[0], signal.SIGSTOP)
        assert stream.wait_failure() is ErrorCode.ENGINE_HUNG
        assert isinstance(lab.ask("a", max_tokens=1).wait_end(), Finished)


def test_a_decode_that_never_returns_is_a_hang(tmp_path: Path) -> None:
    hang = ScriptedFault(FaultKind.HANG, at_token=3, contains="please hang")
    engine = Engine(tmp_path, ScriptedOptions(text=LONG, faults=(hang,)))
    with engine_lab(engine, tmp_path, timing=HASTY) as lab:
        lab.client.configure((engine.expert,))
        stream = lab.ask("a", text="please hang")
        assert stream.wait_failure() is ErrorCode.ENGINE_HUNG
        ended = lab.wait_state(WorkerState.WAITING).exit
        assert ended is not None
        assert ended.kind is ExitKind.HUNG
        assert ended.detail in {"decode", "silent"}  # on a busy machine its beats come late as well
        assert isinstance(lab.ask("a", max_tokens=1).wait_end(), Finished)


@pytest.mark.parametrize("fault", [FaultKind.ABORT, FaultKind.EXIT, FaultKind.KILL])
def test_an_expert_that_brings_the_engine_down_while_it_loads_is_suspect(tmp_path: Path, fault: FaultKind) -> None:
    engine = Engine(tmp_path, ScriptedOptions(faults=(ScriptedFault(fault, at_load=True, model_id="a"),)))
    good = ExpertSpec("good", engine.expert.path)
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure((engine.expert, good))
        assert lab.ask("a").wait_failure() is ErrorCode.ENGINE_DIED
        assert lab.client.is_suspect("a")
        assert lab.ask("a").wait_failure() is ErrorCode.MODEL_SUSPECT
        assert isinstance(lab.ask("good").wait_end(), Finished)
        assert len(engine.pids) == 2


@pytest.mark.parametrize("fault", [FaultKind.RAISE, FaultKind.ABORT, FaultKind.EXIT])
def test_a_crash_in_mid_answer_ends_it_once_and_the_expert_is_not_suspect(tmp_path: Path, fault: FaultKind) -> None:
    crash = ScriptedFault(fault, at_token=40, contains="please crash")
    engine = Engine(tmp_path, ScriptedOptions(text=LONG, decode_tps=400.0, faults=(crash,)))
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure((engine.expert,))
        stream = lab.ask("a", text="please crash")
        stream.wait_end()
        assert LONG.startswith(stream.check())
        assert stream.check(), "what was said before it is kept"
        assert not lab.client.is_suspect("a")
        assert isinstance(lab.ask("a", max_tokens=1).wait_end(), Finished)


def test_an_engine_that_cannot_serve_says_in_its_quoted_log_why(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions(), backend="abacus")
    with engine_lab(engine, tmp_path) as lab:
        ended = lab.wait_state(WorkerState.GIVEN_UP).exit
        assert ended is not None
        assert (ended.kind, ended.detail) == (ExitKind.PYTHON_ERROR, "70")
        assert any("abacus" in line for line in ended.log_tail)


def test_an_expert_whose_file_name_is_no_text_keeps_no_other_from_the_engine(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions())
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure((ExpertSpec("odd", "/models/\udcff.gguf"), engine.expert))
        assert isinstance(lab.ask("a", max_tokens=1).wait_end(), Finished)
        assert lab.ask("odd").wait_failure() is ErrorCode.UNKNOWN_EXPERT


def test_a_crash_at_every_start_is_given_up_and_the_button_brings_the_engine_back(tmp_path: Path) -> None:
    broken = Engine(tmp_path, ScriptedOptions(at_start=FaultKind.EXIT))
    healthy = Engine(tmp_path, ScriptedOptions())
    installed = [broken]

    def start_installed() -> ChildProcess:
        return installed[-1]()

    with engine_lab(start_installed, tmp_path) as lab:
        lab.client.configure((broken.expert,))
        assert lab.ask("a").wait_failure() is ErrorCode.ENGINE_GAVE_UP
        assert len(broken.pids) == 4
        installed.append(healthy)
        lab.client.restart()
        assert isinstance(lab.ask("a").wait_end(), Finished)


def test_stop_in_mid_answer_ends_it_as_cancelled_and_leaves_nothing(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions(text=LONG, decode_tps=100.0))
    with engine_lab(engine, tmp_path) as lab:
        lab.client.configure((engine.expert,))
        stream = lab.ask("a")
        stream.wait_text(5)
        lab.client.stop()
        end = stream.wait_end()
        assert isinstance(end, Finished)
        assert end.finish_reason is FinishReason.CANCELLED
        assert not is_running(engine.pids[0])


def test_loading_is_announced_and_known(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions())
    with engine_lab(engine, tmp_path) as lab:
        heard: Heard[object] = Heard()
        lab.client.model_feed.subscribe(heard)
        lab.client.configure((engine.expert,))
        lab.client.load("a")
        heard.wait_for(lambda event: isinstance(event, ModelLoaded))
        assert list(lab.client.loaded) == ["a"]
        lab.client.unload("a")
        heard.wait_until(lambda _: not lab.client.loaded)


def test_a_reader_that_sleeps_for_three_seconds_stalls_no_decoding_and_loses_no_character(tmp_path: Path) -> None:
    engine = Engine(tmp_path, ScriptedOptions(text=LONG[:6000]))
    child = engine()
    try:
        channel: Channel[EngineCommand, EngineEvent] = Channel(child.connection, EngineEvent)
        channel.send(Configure((engine.expert,)))
        message = PromptMessage(Role.USER, "hello")
        channel.send(Generate("q", "a", (message,), SamplingParams(max_tokens=6000)))
        threading.Event().wait(3.0)  # the sleeping reader itself
        n_deltas, text = 0, ""
        while not isinstance(event := channel.receive(), Finished):
            if isinstance(event, TextDelta):
                n_deltas, text = n_deltas + 1, text + event.text
        assert text == event.text == LONG[:6000]
        assert n_deltas < 3000, "merged on the way"
        total_ms = event.timings.total_ms
        assert total_ms is not None
        assert total_ms < 3000.0, "the last token was made while nobody read"
    finally:
        child.process.kill()
        assert child.wait_exit_code(10.0) is not None
        child.process.close()
        child.connection.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_the_children_hold_no_window_no_database_and_no_web_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.fakes.workers_modules", str(tmp_path)]
    told = json.loads(subprocess.run(command, cwd=REPO, stdout=subprocess.PIPE, check=True, timeout=60).stdout)
    unwanted = {"PySide6", "shiboken6", "sqlite3", "starlette", "uvicorn", "httpx", "pyqtgraph", "torch"}
    for room, also in (("engine", {"numpy"}), ("router", set())):  # the bundled router is a numpy network
        assert f"layadesk.{room}.main" in told[room]
        assert [name for name in told[room] if name.split(".")[0] in unwanted | also] == []
    for files in told["mapped"]:
        assert [name for name in files if name.startswith(("libQt", "libsqlite", "_sqlite3", "libllama"))] == []
    assert any("PySide6" in name for name in told["app"]), "or the test shows nothing"
    assert not any(name.startswith(("layadesk.engine", "layadesk.router")) for name in told["app"])
