"""A full, read-only, failing or busy disk: the chat goes on, the status says so, and nothing is lost when it is over.

Here the limit is SQLite's own (`max_page_count`); real small and read-only file systems are in `test_real_disks.py`.
"""

import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import cast

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.paths import DataPaths
from layadesk.store import database as store_database
from layadesk.store.database import as_failure, choose_wal, connect, translating, uri_of
from layadesk.store.schema import MIGRATIONS, Migration, newest_version
from tests.fakes.store import (
    NOW,
    WAIT_S,
    SmallDisk,
    StatusLog,
    a_conversation,
    a_question,
    an_answer,
    database,
    fill,
    opened,
    result_of,
)

pytestmark = pytest.mark.logs_warnings
LONG = "many words " * 20_000


def test_on_a_full_disk_the_chat_goes_on_in_memory_and_is_saved_when_there_is_room(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        fill(store)
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 40_000))
        assert store.status.kind is StorageKind.MEMORY_ONLY
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DISK_FULL
        result_of(store.finish_message(an_answer(text=LONG, status=MessageStatus.COMPLETE)))
        result_of(store.add_messages([a_question("q2", text=LONG)], leaf_id="q2"))
        result_of(store.add_conversation(a_conversation("c2")))
        assert store.status.n_unsaved == 4  # two messages, two conversations
        assert result_of(store.load_messages("c1"))["q2"].text == LONG
        assert len(result_of(store.list_conversations())) == 2

        assert result_of(store.retry()).kind is StorageKind.MEMORY_ONLY
        disk.set_full(False)
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
        result_of(store.rename("c2", "after"))
    with opened(tmp_path) as store:
        messages = result_of(store.load_messages("c1"))
        assert [messages[name].text for name in ("q1", "a1", "q2")] == ["Sort this", LONG, LONG]
        assert messages["a1"].status is MessageStatus.COMPLETE
        assert result_of(store.load_conversation("c1")).leaf_id == "q2"
        assert result_of(store.load_conversation("c2")).title == "after"


def test_the_disk_is_tried_again_by_itself(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune, retry_every_s=0.02) as store:
        fill(store)
        told = StatusLog(store)
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 1))
        told.wait_for(kind=StorageKind.MEMORY_ONLY)
        disk.is_full = False
        told.wait_for(kind=StorageKind.SAVING, n_unsaved=0)
        assert [one.kind for one in told.seen].count(StorageKind.SAVING) == 1
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT text FROM message WHERE message_id = 'a1'").fetchone() == (LONG,)


def test_what_is_in_memory_is_written_at_the_end_if_there_is_room_by_then(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        fill(store)
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 1))
        disk.is_full = False
    with opened(tmp_path) as store:
        assert result_of(store.load_messages("c1"))["a1"].text == LONG


def test_what_could_not_be_saved_before_the_end_is_said_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        fill(store)
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 1))
    assert "1 rows could not be saved before the end" in caplog.text


def test_a_new_database_on_a_full_disk_lives_in_memory_until_there_is_room(tmp_path: Path) -> None:
    is_full = [True]

    def tune(connection: sqlite3.Connection) -> None:
        if is_full[0]:
            connection.execute("PRAGMA max_page_count = 1")

    with opened(tmp_path, tune=tune) as store:
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DISK_FULL)
        fill(store)
        is_full[0] = False
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with opened(tmp_path) as store:
        assert len(result_of(store.load_messages("c1"))) == 2


def test_without_a_data_directory_everything_works_in_memory_and_is_saved_once_there_is_one(tmp_path: Path) -> None:
    root = tmp_path / "file" / "data"
    root.parent.write_text("a file where a folder should be")
    with opened(root) as store:
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DATA_DIR_READ_ONLY)
        fill(store)
        assert store.mark_interrupted() == 0
        assert store.status.n_unsaved == 3
        root.parent.unlink()
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with opened(root) as store:
        assert len(result_of(store.load_messages("c1"))) == 2


def test_a_database_that_another_program_holds_too_long_is_written_when_it_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_database, "BUSY_TIMEOUT_S", 0.05)
    with opened(tmp_path) as store:
        fill(store)
        with closing(database(tmp_path)) as other:
            other.execute("BEGIN IMMEDIATE")
            result_of(store.rename("c1", "meanwhile"))
            assert store.status.error is not None
            assert store.status.error.code is ErrorCode.DATABASE_BUSY
            assert result_of(store.load_conversation("c1")).title == "meanwhile"
            assert result_of(store.retry()).kind is StorageKind.MEMORY_ONLY
            other.execute("ROLLBACK")
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT title FROM conversation").fetchone() == ("meanwhile",)


def test_a_short_wait_for_another_program_is_not_even_noticed(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
        told = StatusLog(store)
        with closing(sqlite3.connect(DataPaths(tmp_path).database, check_same_thread=False)) as other:
            other.execute("UPDATE conversation SET title = 'theirs'")
            waiting = store.set_draft("c1", "ours")
            assert not waiting.done()
            other.commit()
        result_of(waiting)
        assert told.seen == []
        both = result_of(store.load_conversation("c1"))
        assert (both.title, both.draft) == ("theirs", "ours")


def test_rows_that_others_wrote_meanwhile_survive_the_return_to_the_disk(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        fill(store)
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 1))
        with opened(tmp_path) as other:
            result_of(other.add_conversation(a_conversation("theirs")))
            result_of(other.rename("c1", "their title"))
        disk.is_full = False
        result_of(store.retry())
        assert {one.title for one in result_of(store.list_conversations())} == {"Quicksort", "their title"}
        assert result_of(store.load_messages("c1"))["a1"].text == LONG


def test_a_database_that_vanished_meanwhile_is_written_anew_from_memory(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        fill(store)
        assert len(result_of(store.load_messages("c1"))) == 2
        disk.set_full(True)
        result_of(store.save_progress("a1", LONG, 1))
        for path in tmp_path.glob("layadesk.sqlite3*"):
            path.unlink()
        disk.is_full = False
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
        assert result_of(store.load_messages("c1"))["a1"].text == LONG  # not from the file that is gone
    with opened(tmp_path) as store:
        assert result_of(store.load_messages("c1"))["q1"].text == "Sort this"
        assert result_of(store.load_conversation("c1")).title == "Quicksort"


def test_a_migration_without_room_for_its_backup_is_put_off_and_the_chats_are_shown(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
    DataPaths(tmp_path).backups.write_text("no room here")

    def add(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE message ADD COLUMN n_tools INTEGER")

    version = newest_version() + 1
    newer = (*MIGRATIONS, Migration(version, "a column", add))
    with opened(tmp_path, migrations=newer) as store:
        assert store.status.kind is StorageKind.MEMORY_ONLY
        result_of(store.rename("c1", "meanwhile"))
        DataPaths(tmp_path).backups.unlink()
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
        assert result_of(store.load_conversation("c1")).title == "meanwhile"
    assert [path.name[:9] for path in DataPaths(tmp_path).backups.iterdir()] == [f"before-v{version}"]


def test_reading_goes_on_in_memory_when_the_disk_cannot_be_read(tmp_path: Path) -> None:
    def tune(connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA query_only").fetchone() == (1,):
            raise _error(sqlite3.SQLITE_IOERR_READ)

    with opened(tmp_path, tune=tune) as store:
        fill(store)
        told = StatusLog(store)
        assert len(result_of(store.load_messages("c1"))) == 2
        assert told.wait_for(kind=StorageKind.MEMORY_ONLY).error is not None
        result_of(store.rename("c1", "x"))
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT title FROM conversation").fetchone() == ("x",)


def _error(number: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("words of theirs")
    error.sqlite_errorcode, error.sqlite_errorname = number, "SQLITE_NAME"
    return error


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (sqlite3.SQLITE_FULL, ErrorCode.DISK_FULL),
        (sqlite3.SQLITE_READONLY, ErrorCode.DATA_DIR_READ_ONLY),
        (sqlite3.SQLITE_READONLY_DIRECTORY, ErrorCode.DATA_DIR_READ_ONLY),
        (sqlite3.SQLITE_CANTOPEN, ErrorCode.DATA_DIR_READ_ONLY),
        (sqlite3.SQLITE_IOERR_WRITE, ErrorCode.DISK_ERROR),
        (sqlite3.SQLITE_CORRUPT_VTAB, ErrorCode.DATABASE_DAMAGED),
        (sqlite3.SQLITE_NOTADB, ErrorCode.DATABASE_DAMAGED),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, ErrorCode.DATABASE_BUSY),
        (sqlite3.SQLITE_NOMEM, ErrorCode.OUT_OF_MEMORY),
        (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, ErrorCode.INTERNAL),
        (None, ErrorCode.INTERNAL),
    ],
)
def test_each_error_of_sqlite_has_a_code_of_ours(tmp_path: Path, number: int | None, code: ErrorCode) -> None:
    error = sqlite3.OperationalError("words of theirs") if number is None else _error(number)
    assert as_failure(error, tmp_path / "db").code is code


def test_an_io_error_in_a_folder_that_is_gone_stays_an_io_error(tmp_path: Path) -> None:
    assert as_failure(_error(sqlite3.SQLITE_IOERR), tmp_path / "gone" / "db").code is ErrorCode.DISK_ERROR


def test_errors_of_the_file_system_are_translated_at_the_same_place(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="data_dir_read_only"), translating(tmp_path):
        raise PermissionError(13, "Permission denied")


def test_two_programs_that_start_at_once_on_a_new_directory_both_save(tmp_path: Path) -> None:
    ready = threading.Barrier(2, timeout=WAIT_S)
    kinds: list[StorageKind] = []

    def start(name: str) -> None:
        ready.wait()
        with opened(tmp_path) as store:
            result_of(store.add_conversation(a_conversation(name)))
            kinds.append(store.status.kind)

    threads = [threading.Thread(target=start, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert kinds == [StorageKind.SAVING, StorageKind.SAVING]
    with opened(tmp_path, now=NOW + 1) as store:
        assert len(result_of(store.list_conversations())) == 2


class BusyAtFirst:
    """A connection whose first switches to WAL meet another program's."""

    def __init__(self, n_refusals: int, error: sqlite3.OperationalError) -> None:
        self.n_refusals = n_refusals
        self._error = error

    def execute(self, _: str) -> "BusyAtFirst":
        if self.n_refusals:
            self.n_refusals -= 1
            raise self._error
        return self

    def fetchone(self) -> tuple[str]:
        return ("wal",)


def test_the_switch_to_wal_is_tried_again_when_another_program_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = BusyAtFirst(2, _error(sqlite3.SQLITE_BUSY_RECOVERY))
    choose_wal(cast("sqlite3.Connection", busy))
    assert busy.n_refusals == 0
    with pytest.raises(sqlite3.OperationalError):
        choose_wal(cast("sqlite3.Connection", BusyAtFirst(1, _error(sqlite3.SQLITE_READONLY))))
    monkeypatch.setattr(store_database, "BUSY_TIMEOUT_S", 0.0)
    with pytest.raises(sqlite3.OperationalError):
        choose_wal(cast("sqlite3.Connection", BusyAtFirst(10**9, _error(sqlite3.SQLITE_BUSY))))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (PurePosixPath("/a b/数?#%/db"), "file:///a%20b/%E6%95%B0%3F%23%25/db"),
        (PurePosixPath("/odd\udcff/db"), "file:///odd%FF/db"),
        (PureWindowsPath(r"C:\My Data\db"), "file:///C:/My%20Data/db"),
        (PureWindowsPath(r"\\server\share\db"), "file:////server/share/db"),
    ],
)
def test_a_path_becomes_what_sqlite_takes_for_a_uri(path: PurePath, uri: str) -> None:
    assert uri_of(path) == uri


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text there")
def test_a_data_directory_whose_name_is_no_utf8_works(tmp_path: Path) -> None:
    root = tmp_path / "odd\udcff?"
    for n_messages in (2, 2):
        with opened(root) as store:
            fill(store)
            assert len(result_of(store.load_messages("c1"))) == n_messages
            assert store.status.kind is StorageKind.SAVING


def test_each_connection_waits_for_others_and_keeps_references_whole(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "db")) as connection:
        settings = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "synchronous": 1, "foreign_keys": 1, "busy_timeout": 5000}
