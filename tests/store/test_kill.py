"""Programs that are killed, and two that share a database."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.routing import Route, RouteReason
from layadesk.domain.storage import StorageKind
from layadesk.paths import DataPaths
from layadesk.store.session import Session
from tests.fakes.store import (
    WAIT_S,
    a_conversation,
    a_question,
    an_answer,
    database,
    fill,
    opened,
    result_of,
)

N_KILLS = 20


def start_child(root: Path, name: str, n_turns: int = -1) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.fakes.store_child", str(root), name, str(n_turns)]
    repo = Path(__file__).resolve().parents[2]
    return subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, text=True)


def kill_after(child: "subprocess.Popen[str]", n_lines: int) -> str:
    """Kill a child when it has printed that many lines; returns all it has printed."""
    assert child.stdout is not None
    with child:
        printed = "".join(child.stdout.readline() for _ in range(n_lines))
        child.kill()
        return printed + child.stdout.read()


def confirmed_by(output: str) -> dict[str, int]:
    """The longest confirmed text of each message. Lines are whole: a pipe takes so few bytes at once."""
    saved: dict[str, int] = {}
    for line in output.splitlines():
        _, message_id, n_characters = line.split()
        saved[message_id] = max(int(n_characters), saved.get(message_id, 0))
    return saved


def test_a_killed_program_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    # E02, E07: chats were saved when the program quit, so a crash or a shutdown lost them
    chance = random.Random(2025)
    confirmed: dict[str, int] = {}
    for n in range(N_KILLS):
        confirmed |= confirmed_by(kill_after(start_child(tmp_path, f"run{n}"), chance.randrange(1, 60)))
        with closing(database(tmp_path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            stored = dict(connection.execute("SELECT message_id, length(text) FROM message").fetchall())
        lost = {one: size for one, size in confirmed.items() if stored.get(one, -1) < size}
        assert lost == {}, f"kill number {n}"
    assert len(confirmed) > N_KILLS
    with opened(tmp_path) as store:
        store.mark_interrupted()
        assert store.status.kind is StorageKind.SAVING
        assert len(result_of(store.list_conversations())) == N_KILLS
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT count(*) FROM message WHERE status = 'streaming'").fetchone() == (0,)


ROUTE = Route("writer", RouteReason.ROUTER, ())


def test_an_answer_that_its_program_left_unfinished_is_marked_and_keeps_its_text(tmp_path: Path) -> None:
    # E02: the partial answer is kept
    with opened(tmp_path) as store:
        fill(store)
        result_of(store.save_route("a1", ROUTE))
        result_of(store.save_progress("a1", "Use so", 2))
    with opened(tmp_path) as store:
        assert store.mark_interrupted() == 1
        assert store.mark_interrupted() == 0
        kept = result_of(store.load_messages("c1"))["a1"]
        assert kept == an_answer(text="Use so", status=MessageStatus.INTERRUPTED, route=ROUTE, expert_id=ROUTE.expert)


def test_an_answer_of_another_living_program_is_left_alone(tmp_path: Path) -> None:
    with opened(tmp_path) as window:
        fill(window)
        with opened(tmp_path) as command_line:
            assert command_line.mark_interrupted() == 0
            result_of(command_line.add_conversation(a_conversation("c2")))
            result_of(command_line.add_messages([an_answer("a2", conversation_id="c2")], leaf_id="a2"))
        result_of(window.save_progress("a1", "Use so", 2))
        assert result_of(window.load_messages("c1"))["a1"].text == "Use so"
        with opened(tmp_path) as command_line:
            assert command_line.mark_interrupted() == 1
            assert result_of(command_line.load_messages("c2"))["a2"].status is MessageStatus.INTERRUPTED


def test_two_programs_write_to_one_database_at_once(tmp_path: Path) -> None:
    n_turns = 15
    children = [start_child(tmp_path, name, n_turns) for name in ("window", "ask")]
    outputs = [child.communicate(timeout=WAIT_S)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0]
    with opened(tmp_path) as store:
        for name, output in zip(("window", "ask"), outputs, strict=True):
            messages = result_of(store.load_messages(name))
            assert len(messages) == 2 * n_turns
            assert {one.status for one in messages.values()} == {MessageStatus.COMPLETE}
            assert set(confirmed_by(output)) == set(messages)
        result_of(store.add_messages([a_question("q9", conversation_id="ask")], leaf_id="q9"))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGSTOP")
def test_a_session_lives_as_long_as_its_process_also_while_it_is_stopped(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from layadesk.store.session import Session\n"
        "one = Session(Path(sys.argv[1])); one.hold(); print(one.session_id, flush=True); sys.stdin.read()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    session_id = child.stdout.readline().strip()
    here = Session(tmp_path)
    assert here.lives(session_id)
    os.kill(child.pid, signal.SIGSTOP)
    assert here.lives(session_id)
    child.kill()
    child.communicate(timeout=WAIT_S)
    assert not here.lives(session_id)
    assert list(tmp_path.iterdir()) == []  # a dead session's file does not stay


def test_a_session_ends_when_it_is_released_and_may_be_held_twice(tmp_path: Path) -> None:
    here, other = Session(tmp_path / "run"), Session(tmp_path / "run")
    assert not other.lives(here.session_id)
    here.hold()
    here.hold()
    assert other.lives(here.session_id)
    assert here.lives(here.session_id)
    here.release()
    here.release()
    assert not other.lives(here.session_id)
    assert list((tmp_path / "run").iterdir()) == []


def test_without_a_folder_for_its_lock_a_session_is_just_not_seen(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    here = Session(tmp_path / "file" / "run")
    here.hold()
    assert not Session(tmp_path / "file" / "run").lives(here.session_id)
    here.release()


def test_the_log_of_a_killed_program_is_read_and_folded_in(tmp_path: Path) -> None:
    kill_after(start_child(tmp_path, "killed"), 1)
    wal = DataPaths(tmp_path).database.with_name("layadesk.sqlite3-wal")
    assert wal.stat().st_size > 0
    with opened(tmp_path) as store:
        assert "killed-q0" in result_of(store.load_messages("killed"))
    assert not wal.exists()
    with closing(sqlite3.connect(f"{DataPaths(tmp_path).database.as_uri()}?mode=ro&immutable=1", uri=True)) as alone:
        assert alone.execute("SELECT count(*) FROM message WHERE message_id = 'killed-q0'").fetchone() == (1,)


def test_a_new_session_removes_the_locks_of_programs_that_were_killed_and_leaves_those_of_others(
    tmp_path: Path,
) -> None:
    living = Session(tmp_path)
    living.hold()
    (tmp_path / "store-0123456789abcdef.lock").touch()
    here = Session(tmp_path)
    here.hold()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == sorted(f"store-{one.session_id}.lock" for one in (living, here))
    living.release()
    here.release()
