"""Whatever ends the app, its children end with it, and what could not is ended at the next start."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from layadesk.workers.pid_file import reap_orphans
from tests.fakes.workers_lab import Starts, engine_lab
from tests.fakes.workers_listener import PATIENCE_S

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")

REPO = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class App:
    """A running `tests.fakes.workers_app`."""

    pid: int
    engine: int
    router: int
    bystander: int
    children: tuple[int, ...]


@contextmanager
def running_app(home: Path) -> Iterator[App]:
    """An app of its own process group, killed at the end with all that is left of it."""
    command = [sys.executable, "-m", "tests.fakes.workers_app", str(home)]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        try:
            yield App(process.pid, told["engine"], told["router"], told["bystander"], tuple(told["all"]))
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def wait_gone(pids: set[int], since: float) -> float:
    """Seconds from `since` until none of `pids` runs; a zombie whose parent does not look counts as gone."""
    while alive := {pid for pid in pids if runs(pid)}:
        assert time.monotonic() - since < PATIENCE_S, f"still there: {alive}"
        os.sched_yield()
    return time.monotonic() - since


def runs(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_when_the_app_dies_in_mid_answer_nothing_of_it_is_left_within_a_second(tmp_path: Path, how: int) -> None:
    with running_app(tmp_path) as app:
        children = set(app.children) - {app.bystander}
        assert {app.engine, app.router} < children, "and multiprocessing's resource tracker"
        start = time.monotonic()
        os.kill(app.pid, how)
        took = wait_gone(children, start)
        print(f"all children gone {took * 1000:.0f} ms after the app")
        assert took < 1.0
        assert runs(app.bystander)


def test_no_child_holds_another_end_of_a_pipe_than_its_own(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")
    with running_app(tmp_path) as app:
        ends = {pid: sockets_of(pid) for pid in (app.pid, app.engine, app.router, app.bystander)}
        assert len(ends[app.engine]) == 1
        assert len(ends[app.router]) == 1
        assert not ends[app.bystander]
        assert ends[app.engine].isdisjoint(ends[app.router])
        assert ends[app.pid].isdisjoint(ends[app.engine] | ends[app.router]), "the app closed the children's ends"


def sockets_of(pid: int) -> set[str]:
    folder = Path(f"/proc/{pid}/fd")
    links = [os.readlink(entry) for entry in folder.iterdir() if entry.is_symlink()]
    return {link for link in links if link.startswith("socket:")}


def test_a_child_that_outlived_its_app_is_ended_at_the_next_start_and_only_then(tmp_path: Path) -> None:
    with running_app(tmp_path) as app:
        os.kill(app.engine, signal.SIGSTOP)  # it cannot see the end of the pipe
        assert reap_orphans(tmp_path / "run") == 0, "another LayaDesk lives: its children are its own"
        start = time.monotonic()
        os.kill(app.pid, signal.SIGKILL)
        wait_gone({app.pid, app.router}, start)
        assert runs(app.engine)
        with engine_lab(Starts(tmp_path), tmp_path) as lab:
            lab.ask(max_tokens=1).wait_end()
            wait_gone({app.engine}, start)
            assert [note.name for note in (tmp_path / "run").iterdir()] == [f"engine-{os.getpid()}.json"]
