"""Databases of older and newer programs: each version ever released opens with everything in it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, Timings
from layadesk.domain.routing import RouteReason
from layadesk.domain.storage import StorageKind
from layadesk.paths import DataPaths
from layadesk.store.schema import MIGRATIONS, TABLES, Migration, columns_of, migrate, newest_version
from tests.fakes.store import a_question, database, fill, opened, result_of

VERSION_1 = (Path(__file__).parent / "version_1.sql").read_text(encoding="utf-8")


def _add_column(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE message ADD COLUMN n_tools INTEGER NOT NULL DEFAULT 0")


def _lose_a_message(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE message ADD COLUMN n_tools INTEGER NOT NULL DEFAULT 0")
    connection.execute("DELETE FROM message WHERE message_id = 'q1'")


def _lose_a_conversation(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM conversation WHERE conversation_id = 'c2'")


def _break_references(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE message SET conversation_id = 'nobody' WHERE message_id = 'q1'")


def _mistake(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO message SELECT * FROM message")


NEXT = newest_version() + 1
ADDED_COLUMN = (*MIGRATIONS, Migration(NEXT, "a column", _add_column))


def make_version_1(root: Path) -> None:
    root.mkdir(exist_ok=True)
    with closing(database(root)) as connection:
        connection.executescript(VERSION_1)


def make_newest(root: Path) -> None:
    make_version_1(root)
    with closing(database(root)) as connection:
        migrate(connection)


def backups_in(root: Path) -> list[str]:
    folder = DataPaths(root).backups
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_the_frozen_version_1_is_what_the_first_migration_makes(tmp_path: Path) -> None:
    # If this fails, the released migration was edited: add a new one instead.
    make_version_1(tmp_path / "frozen")
    (tmp_path / "made").mkdir()
    with closing(database(tmp_path / "made")) as connection:
        migrate(connection, MIGRATIONS[:1])
    with closing(database(tmp_path / "frozen")) as frozen, closing(database(tmp_path / "made")) as made:
        for table in TABLES:
            listed = f"PRAGMA table_xinfo({table})"
            assert made.execute(listed).fetchall() == frozen.execute(listed).fetchall()
        names = "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY name"
        assert made.execute(names).fetchall() == frozen.execute(names).fetchall()


def test_a_database_of_version_1_opens_with_everything_in_it(tmp_path: Path) -> None:
    # E09: threads hidden after an upgrade because a field was missing. Every version ever released gets this test.
    make_version_1(tmp_path)
    with opened(tmp_path) as store:
        assert store.mark_interrupted() == 1
        (shown,) = result_of(store.list_conversations())
        messages = result_of(store.load_messages("c1"))
        assert (store.status.kind, store.status.n_unreadable) == (StorageKind.SAVING, 0)
    assert (shown.title, shown.draft, shown.expert_id, shown.leaf_id) == ("排序", "and in Go?", "coder", "a2")
    assert list(messages) == ["q1", "a1", "a3", "a2"]
    route = messages["a1"].route
    assert route is not None
    assert (route.expert, route.reason, route.task) == ("coder", RouteReason.PINNED, None)
    assert messages["a1"].timings == Timings(ttft_ms=12.5, n_prompt=10, n_decoded=4)
    assert messages["a1"].finish_reason is FinishReason.STOP
    assert messages["a2"].error is not None
    assert messages["a2"].error.code is ErrorCode.ENGINE_DIED
    assert (messages["a3"].status, messages["a3"].text) == (MessageStatus.INTERRUPTED, "Unfini")
    assert messages["a3"].thinking == ""


def test_pending_migrations_run_at_the_start_and_only_once(tmp_path: Path) -> None:
    # E17: the migration was not run
    make_version_1(tmp_path)
    for n_messages in (4, 5):
        with opened(tmp_path, migrations=ADDED_COLUMN) as store:
            assert len(result_of(store.load_messages("c1"))) == n_messages
            result_of(store.add_messages([a_question("q9")], leaf_id="q9"))
    with closing(database(tmp_path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEXT,)
        assert "n_tools" in columns_of(connection, "message")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_the_database_is_copied_before_each_migration_and_a_new_one_is_not(tmp_path: Path) -> None:
    make_newest(tmp_path)
    before = dump(DataPaths(tmp_path).database)
    with opened(tmp_path, migrations=ADDED_COLUMN):
        pass
    copies = [name for name in backups_in(tmp_path) if name.startswith(f"before-v{NEXT}-")]
    assert len(copies) == 1
    assert dump(DataPaths(tmp_path).backups / copies[0]) == before
    with opened(tmp_path / "new", migrations=ADDED_COLUMN):
        pass
    assert backups_in(tmp_path / "new") == []


@pytest.mark.logs_warnings
@pytest.mark.parametrize("step", [_lose_a_message, _lose_a_conversation, _break_references, _mistake])
def test_a_migration_that_would_lose_rows_is_undone_and_the_chat_goes_on_in_memory(
    tmp_path: Path, step: Callable[[sqlite3.Connection], None]
) -> None:
    # E16: a migration lost messages. Count before = count after, or nothing has happened.
    make_newest(tmp_path)
    before = dump(DataPaths(tmp_path).database)
    bad = (*MIGRATIONS, Migration(NEXT, "bad", step))
    with opened(tmp_path, migrations=bad) as store:
        assert store.status.kind is StorageKind.MEMORY_ONLY
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DATABASE_MIGRATION_FAILED
        assert store.status.error.facts["version"] == NEXT
        assert len(result_of(store.load_messages("c1"))) == 4
        result_of(store.add_messages([a_question("q9")], leaf_id="q9"))
        assert len(result_of(store.load_messages("c1"))) == 5
        assert dump(DataPaths(tmp_path).database) == before
        with closing(database(tmp_path)) as connection:
            assert connection.execute("PRAGMA user_version").fetchone() == (NEXT - 1,)


def test_the_steps_before_a_bad_migration_stay(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_version_1(tmp_path)
    with opened(tmp_path, migrations=(*ADDED_COLUMN, Migration(NEXT + 1, "bad", _mistake))) as store:
        assert store.status.error is not None
        assert store.status.error.facts["version"] == NEXT + 1
    with closing(database(tmp_path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (NEXT,)
    with opened(tmp_path, migrations=ADDED_COLUMN) as store:
        assert store.status.kind is StorageKind.SAVING


@pytest.mark.logs_warnings
@pytest.mark.parametrize("renamed", [(), ("draft", "title")])
def test_a_newer_programs_database_is_shown_and_not_touched(tmp_path: Path, renamed: tuple[str, ...]) -> None:
    # E03: a change of an enum crashed old chats; a downgrade must neither crash nor write.
    with opened(tmp_path, migrations=ADDED_COLUMN) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        # What the newer program may ask of rows that this one cannot know.
        connection.execute("CREATE TRIGGER ask BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no'); END")
        connection.execute("UPDATE message SET role = 'tool', status = 'paused', finish_reason = 'tools'")
        for column in renamed:
            connection.execute(f"ALTER TABLE conversation RENAME COLUMN {column} TO new_{column}")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with opened(tmp_path) as store:
        assert store.status.kind is StorageKind.MEMORY_ONLY
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DATABASE_TOO_NEW
        assert (store.status.error.facts["found"], store.status.error.facts["supported"]) == (NEXT, NEXT - 1)
        assert [one.conversation_id for one in result_of(store.list_conversations())] == ["c1"]
        assert result_of(store.load_messages("c1"))["q1"].text == "Sort this"
        result_of(store.add_messages([a_question("q9")], leaf_id="q9"))
        assert result_of(store.retry()).kind is StorageKind.MEMORY_ONLY
        assert result_of(store.load_messages("c1")).keys() == {"q1", "a1", "q9"}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.logs_warnings
def test_a_newer_program_that_starts_meanwhile_makes_this_one_stop_writing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        with opened(tmp_path, migrations=ADDED_COLUMN) as newer:
            result_of(newer.rename("c1", "from the newer one"))
        result_of(store.rename("c1", "from the older one"))
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DATABASE_TOO_NEW
        assert result_of(store.load_conversation("c1")).title == "from the older one"
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT title FROM conversation").fetchone() == ("from the newer one",)
