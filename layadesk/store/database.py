"""Connections, transactions, and the one place where sqlite3's errors become ours."""

import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from urllib.parse import quote

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.storage import code_of_os_error

log = logging.getLogger(__name__)

BUSY_TIMEOUT_S = 5.0
_NEARLY_FULL_BYTES = 2**20

# Called with each new connection to the disk; tests make the disk small or slow with it.
Tune = Callable[[sqlite3.Connection], None]

_CODES = {
    sqlite3.SQLITE_FULL: ErrorCode.DISK_FULL,
    sqlite3.SQLITE_READONLY: ErrorCode.DATA_DIR_READ_ONLY,
    sqlite3.SQLITE_CANTOPEN: ErrorCode.DATA_DIR_READ_ONLY,
    sqlite3.SQLITE_PERM: ErrorCode.DATA_DIR_READ_ONLY,
    sqlite3.SQLITE_IOERR: ErrorCode.DISK_ERROR,
    sqlite3.SQLITE_NOMEM: ErrorCode.OUT_OF_MEMORY,
    sqlite3.SQLITE_CORRUPT: ErrorCode.DATABASE_DAMAGED,
    sqlite3.SQLITE_NOTADB: ErrorCode.DATABASE_DAMAGED,
    sqlite3.SQLITE_BUSY: ErrorCode.DATABASE_BUSY,
    sqlite3.SQLITE_LOCKED: ErrorCode.DATABASE_BUSY,
    sqlite3.SQLITE_PROTOCOL: ErrorCode.DATABASE_BUSY,
}


def connect(path: Path, *, query_only: bool = False, tune: Tune | None = None) -> sqlite3.Connection:
    """A connection to the database on disk, made if missing: WAL, foreign keys, waits up to 5 s for other processes.

    May be used from any thread, by one at a time. Raises sqlite3.Error.
    """
    connection = _plain(str(path))
    try:
        choose_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if query_only:
            connection.execute("PRAGMA query_only = ON")
        if tune is not None:
            tune(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_memory() -> sqlite3.Connection:
    """An empty database in memory that never writes a temporary file: the disk may be full."""
    connection = _plain(":memory:")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def connect_untouched(path: Path) -> sqlite3.Connection:
    """Read a database without changing a byte of it, also in a folder that cannot be written.

    Where a write-ahead log lies beside it the log is read too, if the system lets us. Raises sqlite3.Error, OSError.
    """
    in_use = any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-shm"))
    if path.exists() and path.stat().st_size == 0:
        in_use = False  # beside an empty file SQLite deletes the log, even when it only reads
    for mode in ("mode=ro", "mode=ro&immutable=1") if in_use else ("mode=ro&immutable=1",):
        connection = _plain(f"{uri_of(path.absolute())}?{mode}", uri=True)
        try:
            connection.execute("PRAGMA query_only = ON")
            user_version(connection)  # opening is lazy: this is the first read
        except sqlite3.OperationalError:
            connection.close()
            if mode == "mode=ro&immutable=1":
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise AssertionError("unreachable: the last mode returns or raises")


def uri_of(path: PurePath) -> str:
    """An absolute path as SQLite's own kind of URI: a Windows share gets four slashes, not a host."""
    text = path.as_posix()
    return f"file://{'' if text.startswith('/') else '/'}{quote(os.fsencode(text), safe='/:')}"


def user_version(connection: sqlite3.Connection) -> int:
    """The number of the last migration this database has had; 0 for an empty one."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def fault_of(connection: sqlite3.Connection) -> str | None:
    """What `PRAGMA quick_check` finds first, None for a sound database. Reads the whole file (about 1 s per GiB)."""
    found: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    return None if found == "ok" else found


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing: commits at the end, rolls back when anything is raised, also by the commit itself."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):  # the first error tells more than that of the rollback
                connection.execute("ROLLBACK")
        raise


@contextmanager
def translating(path: Path) -> Iterator[None]:
    """Errors of sqlite3 and of the file system leave this block as LayaDeskError."""
    try:
        yield
    except sqlite3.Error as error:
        raise as_failure(error, path) from error
    except OSError as error:
        raise fail(code_of_os_error(error.errno), path=str(path), detail=error.strerror) from error


def as_failure(error: sqlite3.Error, path: Path) -> LayaDeskError:
    """The error of ours for one of sqlite3's. Facts: `path`, and `detail`, SQLite's own name for it."""
    number = getattr(error, "sqlite_errorcode", None)  # missing where Python's module itself refused
    if not isinstance(number, int):
        return fail(ErrorCode.INTERNAL, reason="sqlite3", detail=str(error))
    code = _CODES.get(number & 0xFF)
    if code is None:
        return fail(ErrorCode.INTERNAL, reason="sqlite3", detail=f"{error.sqlite_errorname}: {error}")
    if code is ErrorCode.DISK_ERROR:
        code = _cause_of_io_error(path.parent)
    return fail(code, path=str(path), detail=error.sqlite_errorname)


def _cause_of_io_error(folder: Path) -> ErrorCode:
    """SQLite says IOERR also for a full disk (the shared-memory file) and one that became read-only."""
    with suppress(OSError):
        if shutil.disk_usage(folder).free < _NEARLY_FULL_BYTES:
            return ErrorCode.DISK_FULL
        if not os.access(folder, os.W_OK):
            return ErrorCode.DATA_DIR_READ_ONLY
    return ErrorCode.DISK_ERROR


def _plain(name: str, *, uri: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name,
        uri=uri,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,  # transactions are ours
        check_same_thread=False,
    )
    connection.text_factory = _lenient_text
    return connection


def _lenient_text(stored: bytes) -> str:
    return stored.decode("utf-8", "replace")  # one damaged letter must not hide a whole conversation


def choose_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not always wait for others here: of 1200 first starts, four at a time, 11 failed."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            if mode != "wal":
                log.info("this file system offers no write-ahead log; journal mode is %s", mode)
            return
