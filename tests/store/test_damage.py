"""A damaged database file: set aside, the newest good copy in its place, with what the damaged one still holds."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.storage import StorageKind
from layadesk.paths import DataPaths
from layadesk.store.backups import DAY_S
from layadesk.store.store import Store
from tests.fakes.store import NOW, StatusLog, a_conversation, a_question, an_answer, database, fill, opened, result_of
from tests.store.test_kill import kill_after, start_child

PAGE = 4096


def facts_of(store: Store) -> dict[str, object]:
    assert store.status.kind is StorageKind.SAVING
    assert store.status.error is not None
    assert store.status.error.code is ErrorCode.DATABASE_DAMAGED
    return dict(store.status.error.facts)


def fill_with_backup(root: Path) -> None:
    """One conversation that is in a backup, and one that is not."""
    with opened(root) as store:
        fill(store)
    with opened(root):  # makes the daily copy, behind
        pass
    with opened(root) as store:
        result_of(store.add_conversation(a_conversation("c2", updated_at=NOW + 50)))
        result_of(store.add_messages([a_question("q2", conversation_id="c2")], leaf_id="q2"))


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_file())


@pytest.mark.parametrize("content", [b"", b"no database " * 1000, b"SQLite format 3\0" + b"\xff" * 8000, b"\0" * 4096])
def test_a_file_that_is_no_database_is_set_aside_and_the_backup_restored(tmp_path: Path, content: bytes) -> None:
    # E01: a 0-byte file, and the chat was lost
    fill_with_backup(tmp_path)
    DataPaths(tmp_path).database.write_bytes(content)
    with opened(tmp_path, now=NOW + 60) as store:
        facts = facts_of(store)
        assert result_of(store.load_messages("c1")).keys() == {"q1", "a1"}
        result_of(store.rename("c1", "goes on"))
    aside = tmp_path / "layadesk.sqlite3.damaged-20250615T150740Z"
    assert facts == {
        "path": str(DataPaths(tmp_path).database),
        "moved_to": str(aside),
        "backup": str(next(DataPaths(tmp_path).backups.iterdir())),
        "n_messages": 2,
    }
    assert aside.read_bytes() == content
    with opened(tmp_path) as store:
        assert store.status.error is None
        assert result_of(store.load_conversation("c1")).title == "goes on"


def test_without_a_backup_a_damaged_file_is_set_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    DataPaths(tmp_path).database.write_bytes(b"no database " * 1000)
    with opened(tmp_path) as store:
        facts = facts_of(store)
        assert (facts["backup"], facts["n_messages"]) == (None, 0)
        fill(store)
    assert len(files(tmp_path)) == 2


def test_an_empty_file_is_a_new_database_where_there_never_was_another(tmp_path: Path) -> None:
    DataPaths(tmp_path).database.touch()
    with opened(tmp_path) as store:
        assert store.status.error is None
        fill(store)


def test_a_database_without_our_tables_is_set_aside(tmp_path: Path) -> None:
    with closing(database(tmp_path)) as connection:
        connection.execute("CREATE TABLE cookies (name)")
        connection.execute("PRAGMA user_version = 1")
    with opened(tmp_path) as store:
        assert facts_of(store)["n_messages"] == 0
        fill(store)


def test_a_second_damage_in_the_same_second_keeps_the_first_file(tmp_path: Path) -> None:
    for n in range(3):
        DataPaths(tmp_path).database.write_bytes(b"damage number %d " % n * 100)
        with opened(tmp_path) as store:
            facts_of(store)
    contents = {path.read_bytes()[:15] for path in tmp_path.glob("*.damaged-*")}
    assert contents == {b"damage number 0", b"damage number 1", b"damage number 2"}


def test_what_a_damaged_file_still_holds_is_added_to_the_backup(tmp_path: Path) -> None:
    fill_with_backup(tmp_path)
    with opened(tmp_path) as store:
        for n in range(200):
            message = a_question(f"m{n:03}", conversation_id="c2", text="word " * 300, created_at=NOW + 100 + n)
            store.add_messages([message], leaf_id=message.message_id)
        store.add_messages([a_question("q9", created_at=NOW + 100)], leaf_id="q9")
        result_of(store.finish_message(an_answer(text="Use sorted.")))
    damage_pages(tmp_path, first=page_of(tmp_path, "m100"), n_pages=10)
    with opened(tmp_path, now=NOW + 60) as store:
        assert facts_of(store)["backup"] is not None
        messages = result_of(store.load_messages("c2"))
        assert 100 < len(messages) < 201
        assert {"m000", "m199", "q2"} <= set(messages)  # from both sides of the hole
        assert all(one.text == "word " * 300 for name, one in messages.items() if name != "q2")
        assert result_of(store.load_conversation("c2")).leaf_id == "m199"
        assert result_of(store.load_messages("c1"))["a1"].text == "Use sorted."
        assert result_of(store.load_conversation("c1")).leaf_id == "q9"


def test_messages_whose_conversation_is_lost_get_a_new_one(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'conversation'").fetchone()[0]
    damage_pages(tmp_path, first=root - 1, n_pages=1)
    with opened(tmp_path) as store:
        assert facts_of(store)["n_messages"] == 2
        (found,) = result_of(store.list_conversations())
        assert (found.conversation_id, found.title, found.leaf_id) == ("c1", "", "a1")


@pytest.mark.logs_warnings
def test_damage_that_shows_while_reading_moves_the_chat_to_memory_and_is_mended_on_the_way_back(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        for n in range(200):
            store.add_messages([a_question(f"m{n:03}", text="word " * 300)], leaf_id="q1")
    with opened(tmp_path):  # makes the daily copy, behind
        pass
    with opened(tmp_path, now=NOW + 60, tune=_keep_little_in_memory) as store:
        assert store.status.error is None
        told = StatusLog(store)
        damage_pages(tmp_path, first=page_of(tmp_path, "m100"), n_pages=10)
        messages = result_of(store.load_messages("c1"))
        assert {"m000", "m199", "q1"} <= set(messages)
        assert len(messages) < 202
        status = told.wait_for(kind=StorageKind.MEMORY_ONLY)
        assert status.error is not None
        assert status.error.code is ErrorCode.DATABASE_DAMAGED
        result_of(store.rename("c1", "meanwhile"))
        result_of(store.add_messages([a_question("new")], leaf_id="new"))
        result_of(store.retry())
        assert facts_of(store)["n_messages"] == 203  # those of the backup, and the new one
        assert len(result_of(store.load_messages("c1"))) == 203
        assert result_of(store.load_conversation("c1")).title == "meanwhile"


def test_a_large_database_is_checked_after_a_crash_and_before_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("layadesk.store.opening._ALWAYS_CHECKED_BYTES", 1000)
    fill_with_backup(tmp_path)
    with closing(database(tmp_path)) as connection:  # damage that only a check can see
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 3 WHERE name = 'message_conversation'")
    with opened(tmp_path, now=NOW + 60) as store:
        assert store.status.error is None
    with opened(tmp_path, now=NOW + DAY_S + 60) as store:
        assert facts_of(store)["n_messages"] == 3


def _keep_little_in_memory(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA cache_size = 5")  # else good pages in SQLite's cache hide the damage


def test_what_the_log_of_a_killed_program_holds_is_added_too(tmp_path: Path) -> None:
    fill_with_backup(tmp_path)
    with opened(tmp_path) as store:
        for n in range(200):
            store.add_messages([a_question(f"m{n:03}", text="word " * 300)], leaf_id="q1")
    kill_after(start_child(tmp_path, "killed"), 30)
    damage_pages(tmp_path, first=page_of(tmp_path, "m100"), n_pages=10)
    with opened(tmp_path, now=NOW + 60) as store:
        assert facts_of(store)["backup"] is not None
        assert {"q1", "a1", "m000", "m199"} <= result_of(store.load_messages("c1")).keys()
        assert "killed-q0" in result_of(store.load_messages("killed"))


def test_the_log_of_a_damaged_database_goes_with_it_and_never_meets_the_backup(tmp_path: Path) -> None:
    fill_with_backup(tmp_path)
    kill_after(start_child(tmp_path, "killed"), 30)
    DataPaths(tmp_path).database.write_bytes(b"")
    with opened(tmp_path, now=NOW + 60) as store:
        aside = Path(str(facts_of(store)["moved_to"]))
        assert result_of(store.load_messages("c1")).keys() == {"q1", "a1"}
    assert aside.with_name(aside.name + "-wal").stat().st_size > 0
    with closing(database(tmp_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def page_of(root: Path, message_id: str) -> int:
    """Where the row of a long message lies; not its entries in indexes, which are without its text."""
    content = DataPaths(root).database.read_bytes()
    pages = (content[at : at + PAGE] for at in range(0, len(content), PAGE))
    return next(n for n, page in enumerate(pages) if message_id.encode() in page and b"word word" in page)


def damage_pages(root: Path, *, first: int, n_pages: int) -> None:
    with DataPaths(root).database.open("r+b") as file:
        file.seek(first * PAGE)
        file.write(b"\xa5" * n_pages * PAGE)
