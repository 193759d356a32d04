"""The file native code writes to, as a child fills it and as the app quotes from it."""

import os
import subprocess
import sys
from pathlib import Path

from layadesk.domain.worker_state import WorkerKind
from layadesk.protocol.native_log import (
    MAX_KEPT_BYTES,
    MAX_LINE_CHARS,
    START_MARK,
    TAIL_BYTES,
    native_log_file,
    read_native_log,
)

REPO = Path(__file__).resolve().parents[2]

_WRITER = """
import logging, os, sys
from pathlib import Path
from layadesk.protocol.native_log import log_to_file, redirect_native_output
path = Path(sys.argv[1])
redirect_native_output(path)
log_to_file(path.with_suffix(".python.log"))
os.write(1, b"from C, on 1\\n")
os.write(2, b"from C, on 2\\n")
print("from Python \\ud800")
logging.getLogger("x").info("a record")
logging.getLogger("x").error("a failure")
os.write(2, f"pid {os.getpid()}\\n".encode())
if sys.argv[2] == "crash":
    os.kill(os.getpid(), 11)
"""


def write_log(path: Path, how: str = "") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", _WRITER, str(path), how]
    return subprocess.run(command, cwd=REPO, capture_output=True, check=False, timeout=60)


def own_pid(path: Path) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return int(next(line for line in reversed(lines) if line.startswith("pid ")).split()[1])


def test_what_native_code_and_python_print_ends_in_the_file_and_not_in_the_terminal(tmp_path: Path) -> None:
    path = native_log_file(tmp_path / "日志 🙂", WorkerKind.ENGINE)
    ended = write_log(path)
    assert (ended.stdout, ended.stderr, ended.returncode) == (b"", b"", 0)
    assert path.name == "engine-native.log"
    own = read_native_log(path, own_pid(path))
    assert own[:3] == ("from C, on 1", "from C, on 2", "from Python ?")
    records = path.with_suffix(".python.log").read_text(encoding="utf-8")
    assert "a record" in records
    assert "a failure" in records
    assert own[3].endswith("x: a failure"), "quoted when the child has died of it"
    assert not any("a record" in line for line in own)


def test_only_the_lines_of_the_process_asked_for_are_quoted(tmp_path: Path) -> None:
    path = tmp_path / "engine-native.log"
    write_log(path)
    first = own_pid(path)
    write_log(path)
    assert read_native_log(path, first) == (), "its words are there, but another process has spoken since"
    assert len(read_native_log(path, own_pid(path))) == 5


def test_a_crash_leaves_pythons_stacks_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "engine-native.log"
    assert write_log(path, "crash").returncode == -11
    assert any("Segmentation fault" in line for line in read_native_log(path, own_pid(path)))


def test_a_log_that_has_grown_too_large_is_set_aside_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "engine-native.log"
    path.write_bytes(b"x\n" * (MAX_KEPT_BYTES // 2 + 1))
    write_log(path)
    assert path.stat().st_size < 1000
    assert (tmp_path / "engine-native.log.1").stat().st_size > MAX_KEPT_BYTES


def test_a_place_that_takes_no_file_is_no_obstacle_to_a_child(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be", encoding="utf-8")
    ended = write_log(tmp_path / "logs" / "engine-native.log")
    assert (ended.stdout, ended.stderr, ended.returncode) == (b"", b"", 0)


def test_a_long_log_is_quoted_from_its_end_with_lines_cut(tmp_path: Path) -> None:
    path = tmp_path / "engine-native.log"
    lines = [f"{START_MARK}{os.getpid()} at noon", *(f"{n} " + "x" * 2000 for n in range(500)), "", "the last"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert path.stat().st_size > 2 * TAIL_BYTES
    own = read_native_log(path, os.getpid())
    assert own[-1] == "the last"
    assert max(map(len, own)) == MAX_LINE_CHARS
    assert read_native_log(tmp_path / "none", 1) == ()
