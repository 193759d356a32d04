"""Long commands: what they say is kept, how far they are is told, and an interruption leaves none of them behind."""

import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from setup_steps.progress import Progress, show_duration, show_size
from setup_steps.running import LoggedRun, capture


def test_output_is_returned_and_kept_in_the_log(tmp_path: Path) -> None:
    run = LoggedRun(tmp_path / "logs" / "setup.log", lambda text: None)
    status, output = run([sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"])
    assert status == 3
    assert set(output.split()) == {"out", "err"}
    assert "err" in (tmp_path / "logs" / "setup.log").read_text(encoding="utf-8")


def test_a_long_command_tells_what_it_is_at(tmp_path: Path) -> None:
    notes: list[str] = []
    run = LoggedRun(tmp_path / "setup.log", notes.append, heartbeat_s=0.0)
    run(
        [sys.executable, "-c", "print('[1/2] a'); print('noise'); print('[2/2] b')"],
        lambda line: line.partition(" ")[0],
    )
    assert notes
    assert "[2/2]" in notes[-1]


def interrupting(pids: list[int]) -> Callable[[str], str | None]:
    """Collects the process ids that a program prints, then acts like a Ctrl-C."""

    def describe(line: str) -> str | None:
        pids.extend(int(one) for one in line.split())
        raise KeyboardInterrupt

    return describe


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX; Windows uses taskkill /T")
def test_an_interruption_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    program = (
        "import os, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import threading; threading.Event().wait()'])\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "child.wait()\n"
    )
    pids: list[int] = []
    run = LoggedRun(tmp_path / "setup.log", lambda text: None)
    with pytest.raises(KeyboardInterrupt):
        run([sys.executable, "-c", program], interrupting(pids))
    assert len(pids) == 2
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(processes, timeout=5)
    assert not [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]


def test_a_question_to_a_missing_or_failing_program_has_no_answer() -> None:
    assert capture(["layadesk-no-such-program"]) is None
    assert capture([sys.executable, "-c", "raise SystemExit(1)"]) is None
    assert capture([sys.executable, "-c", "print('yes')"]) == "yes\n"


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (8.26, "8.3 s"), (75, "75 s"), (570.4, "9 min 30 s")])
def test_durations_are_short(seconds: float, text: str) -> None:
    assert show_duration(seconds) == text


@pytest.mark.parametrize(("n_bytes", "text"), [(98_362_432, "94 MiB"), (2 << 30, "2.0 GiB")])
def test_sizes_have_their_unit(n_bytes: int, text: str) -> None:
    assert show_size(n_bytes) == text


def test_steps_are_numbered_and_timed() -> None:
    lines: list[str] = []
    times = iter([0.0, 1.0, 3.5])
    progress = Progress(2, write=lines.append, clock=lambda: next(times))
    with progress.step("torch"):
        progress.note("from the cache")
    assert lines == ["[1/2] torch", "      from the cache", "      took 2.5 s"]
