"""Prints how quickly children start, are seen to die, and leave with the app. POSIX.

`python -m tests.benchmarks.measure_workers`. Figures, not tests: nothing here fails on a slow machine.
"""

import functools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from layadesk.domain.models import ExpertSpec
from layadesk.domain.worker_state import WorkerState, WorkerStatus
from layadesk.protocol.options import EngineOptions, RouterOptions
from layadesk.protocol.scripted import ScriptedOptions
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient
from layadesk.workers.spawn import start_engine, start_router
from tests.fakes.workers_lab import CALM, EngineLab
from tests.fakes.workers_listener import Heard

N_RUNS = 10


def main() -> None:
    """Measure all."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        expert = ExpertSpec("a", str(home / "a.gguf"))
        Path(expert.path).touch()
        logs = str(home / "logs")
        scripted = EngineOptions("scripted", logs, logs, ScriptedOptions(text="x" * 100_000, decode_tps=100.0))
        llama = EngineOptions("llama", logs, logs)
        tell("spawn to ready, router", [to_ready(router(home, logs)) for _ in range(N_RUNS)])
        tell("spawn to ready, scripted engine", [to_ready(engine(home, scripted)) for _ in range(N_RUNS)])
        tell("spawn to ready, llama engine with its self-test", [to_ready(engine(home, llama)) for _ in range(3)])
        lives = [one_life(home, scripted, expert) for _ in range(N_RUNS)]
        tell("kill -9 to the fourth Failed, four streams at 100 tokens/s", [life[0] for life in lives])
        tell("kill -9 to the next engine's Ready, back-off of 0.5 s left out", [life[1] for life in lives])
        tell("generate() on the caller's thread", [life[2] for life in lives])
        tell("app's kill -9 to the last child gone", [app_death(home / str(n)) for n in range(N_RUNS)])


def tell(what: str, ms: list[float]) -> None:
    """One line: median and worst."""
    print(f"{what}: median {statistics.median(ms):.1f} ms, worst {max(ms):.1f} ms (n={len(ms)})", flush=True)


def engine(home: Path, options: EngineOptions) -> EngineClient:
    """A client of a real engine."""
    start: Callable[[], ChildProcess] = functools.partial(start_engine, options)
    return EngineClient(start, log_dir=home / "logs", run_dir=home / "run", timing=CALM)


def router(home: Path, logs: str) -> RouterClient:
    """A client of a real router."""
    start = functools.partial(start_router, RouterOptions("none", logs))
    return RouterClient(start, log_dir=home / "logs", run_dir=home / "run")


def to_ready(client: EngineClient | RouterClient) -> float:
    """Milliseconds from `start` to READY."""
    heard: Heard[WorkerStatus] = Heard()
    client.status_feed.subscribe(heard)
    began = time.monotonic()
    client.start()
    heard.wait_for(lambda status: status.state is WorkerState.READY, 60.0)
    client.stop()
    return (heard.times[[one.state for one in heard.all].index(WorkerState.READY)] - began) * 1000


def one_life(home: Path, options: EngineOptions, expert: ExpertSpec) -> tuple[float, float, float]:
    """Milliseconds: death to the last Failed, death to the next Ready without the back-off, one call of `generate`."""
    client = engine(home, options)
    lab = EngineLab(client)
    client.configure((expert,))
    client.start()
    lab.wait_state(WorkerState.READY)
    began = time.monotonic()
    streams = [lab.ask("a") for _ in range(4)]
    call_ms = (time.monotonic() - began) * 1000 / 4
    for stream in streams:
        stream.wait_text(10)
    assert client.status.pid is not None
    killed_at = time.monotonic()
    os.kill(client.status.pid, signal.SIGKILL)
    for stream in streams:
        stream.wait_failure()
    waited_s = lab.wait_state(WorkerState.WAITING).retry_in_s or 0.0
    lab.wait_state(WorkerState.READY, times=2)
    ready_at = lab.statuses.times[-1]
    client.stop()
    died_ms = (max(stream.ended_at for stream in streams) - killed_at) * 1000
    return died_ms, (ready_at - killed_at - waited_s) * 1000, call_ms


def app_death(home: Path) -> float:
    """Milliseconds from the death of a whole app in mid-answer to the end of all its children."""
    command = [sys.executable, "-m", "tests.fakes.workers_app", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        children = [pid for pid in told["all"] if pid != told["bystander"]]
        began = time.monotonic()
        os.kill(process.pid, signal.SIGKILL)
        while any(_runs(pid) for pid in children):
            os.sched_yield()
        ms = (time.monotonic() - began) * 1000
        os.killpg(process.pid, signal.SIGKILL)
    return ms


def _runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    main()
