"""Pid files: what they hold, and whom they never harm."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psutil
import pytest

from layadesk.domain.worker_state import WorkerKind
from layadesk.workers.pid_file import PidNote, reap_orphans, remove_pid_file, write_pid_file


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that waits for the end of its input, which comes with ours."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def note_of(process: "subprocess.Popen[bytes]") -> PidNote:
    """The note of a child whose app is gone: no process has had this app's start."""
    return PidNote(process.pid, psutil.Process(process.pid).create_time(), os.getpid(), 1.0)


def leave(run_dir: Path, note: PidNote) -> Path:
    run_dir.mkdir(exist_ok=True)
    path = run_dir / f"engine-{note.app_pid}.json"
    path.write_text(json.dumps(asdict(note)), encoding="utf-8")
    return path


def test_a_pid_file_names_child_and_app_by_id_and_start(tmp_path: Path, child: "subprocess.Popen[bytes]") -> None:
    path = write_pid_file(tmp_path / "run", WorkerKind.ENGINE, pid=child.pid)
    assert path is not None
    assert path.name == f"engine-{os.getpid()}.json"
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "pid": child.pid,
        "create_time": psutil.Process(child.pid).create_time(),
        "app_pid": os.getpid(),
        "app_create_time": psutil.Process().create_time(),
    }
    remove_pid_file(path)
    assert not list((tmp_path / "run").iterdir())


def test_an_orphan_is_killed_and_forgotten(tmp_path: Path, child: "subprocess.Popen[bytes]") -> None:
    path = leave(tmp_path, note_of(child))
    assert reap_orphans(tmp_path) == 1
    assert child.wait(5) is not None, "it does not run any more"
    assert not path.exists()


def test_a_child_of_a_living_app_is_left_alone(tmp_path: Path, child: "subprocess.Popen[bytes]") -> None:
    path = leave(tmp_path, replace(note_of(child), app_create_time=psutil.Process().create_time()))
    assert reap_orphans(tmp_path) == 0
    assert child.poll() is None
    assert path.exists()


def test_a_stranger_that_got_the_number_is_left_alone(tmp_path: Path, child: "subprocess.Popen[bytes]") -> None:
    note = note_of(child)
    path = leave(tmp_path, replace(note, create_time=note.create_time - 3600.0))
    assert reap_orphans(tmp_path) == 0
    assert child.poll() is None
    assert not path.exists(), "the child that was noted is gone"


def test_a_stranger_with_the_number_of_the_app_does_not_protect_the_orphan(
    tmp_path: Path, child: "subprocess.Popen[bytes]"
) -> None:
    note = note_of(child)
    leave(tmp_path, replace(note, app_pid=os.getppid(), app_create_time=psutil.Process().create_time() - 1e6))
    assert reap_orphans(tmp_path) == 1


@pytest.mark.logs_warnings
@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"pid": 1}', '{"pid": "x", "create_time": 1, "app_pid": 1, "app_create_time": 1}', "\x00"],
)
def test_a_damaged_note_is_thrown_away_and_nothing_is_killed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "engine-1.json"
    path.write_text(text, encoding="utf-8")
    assert reap_orphans(tmp_path) == 0
    assert not path.exists()


@pytest.mark.parametrize("pid", [-1, 0, 2**31, 2**70])
def test_numbers_that_are_no_process_harm_nobody(tmp_path: Path, pid: int) -> None:
    leave(tmp_path, PidNote(pid, 1.0, 2**22 + 5, 1.0))
    assert reap_orphans(tmp_path) == 0


def test_a_folder_that_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert reap_orphans(tmp_path / "never made") == 0


@pytest.mark.logs_warnings
def test_a_disk_that_takes_no_file_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("a file where the folder should be", encoding="utf-8")
    assert write_pid_file(tmp_path / "run", WorkerKind.ROUTER, pid=os.getpid()) is None
    remove_pid_file(None)
