"""Opening the database on disk: checked, migrated, backed up; a damaged one is set aside and its backup restored."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.paths import DataPaths
from layadesk.store.backups import Backups, flush_to_disk, stamp
from layadesk.store.database import (
    Tune,
    as_failure,
    connect,
    connect_untouched,
    fault_of,
    transaction,
    translating,
    user_version,
)
from layadesk.store.row_copy import copy_all
from layadesk.store.schema import Migration, migrate, missing_columns, missing_tables, newest_version

log = logging.getLogger(__name__)

_ALWAYS_CHECKED_BYTES = 32 * 2**20  # read in some 30 ms


@dataclass(frozen=True, slots=True)
class Opened:
    """A database that is ready to be written. `mended` tells of damage that was found; see `StorageStatus`."""

    connection: sqlite3.Connection
    mended: ErrorReport | None = None


@dataclass(frozen=True, slots=True)
class DiskDoor:
    """Opens the database of one data directory. `tune` is called with each connection."""

    paths: DataPaths
    migrations: Sequence[Migration]
    tune: Tune | None = None

    def open(self, *, now: float) -> Opened:
        """The database, sound, of the newest version, and writable at this moment; any thread.

        Raises DATA_DIR_READ_ONLY, DISK_FULL, DISK_ERROR, DATABASE_TOO_NEW (the file is not touched),
        DATABASE_MIGRATION_FAILED, DATABASE_BUSY.
        """
        with translating(self.paths.database):
            self.paths.root.mkdir(mode=0o700, parents=True, exist_ok=True)  # chats are private
            try:
                return Opened(self._open_sound(now))
            except (LayaDeskError, sqlite3.DatabaseError) as error:
                if not _is_damage(error, self.paths.database):
                    raise
                log.info("the database is damaged: %s", error)
            return self._mend(now)

    def open_reader(self) -> sqlite3.Connection:
        """One more connection, for reading. Raises sqlite3.Error."""
        return connect(self.paths.database, query_only=True, tune=self.tune)

    def refuse_newer(self, connection: sqlite3.Connection) -> None:
        """Raise DATABASE_TOO_NEW where a newer program has changed the tables, perhaps while this one was running."""
        found, supported = user_version(connection), newest_version(self.migrations)
        if found > supported:
            raise fail(ErrorCode.DATABASE_TOO_NEW, path=str(self.paths.database), found=found, supported=supported)

    def _open_sound(self, now: float) -> sqlite3.Connection:
        self._refuse_before_touching()
        must_check = self._must_check(now)
        connection = connect(self.paths.database, tune=self.tune)
        try:
            if must_check:
                self._refuse_fault(fault_of(connection))
            self._refuse_fault(", ".join(missing_tables(connection)))
            self._migrate(connection, now)
            self._refuse_fault(", ".join(missing_columns(connection)))
            _try_to_write(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection, now: float) -> None:
        backups = Backups(self.paths.backups)
        migrate(
            connection,
            self.migrations,
            before=lambda step: backups.make(connection, f"before-v{step.version}", now=now),
        )

    def _refuse_fault(self, fault: str | None) -> None:
        if fault:
            raise fail(ErrorCode.DATABASE_DAMAGED, path=str(self.paths.database), detail=fault)

    def _refuse_before_touching(self) -> None:
        """A newer version's file is not opened for writing, and an emptied one is not taken for a new one."""
        path = self.paths.database
        if not path.exists():
            return
        if path.stat().st_size == 0:
            self._refuse_fault("empty file" if Backups(self.paths.backups).has_any() else None)
            return
        with closing(connect_untouched(path)) as connection:
            self.refuse_newer(connection)

    def _must_check(self, now: float) -> bool:
        """Large files are checked only after a crash (the log is left) and before a copy of them becomes a backup."""
        path = self.paths.database
        wal = _with_ending(path, "-wal")
        with suppress(FileNotFoundError):
            if path.stat().st_size > _ALWAYS_CHECKED_BYTES:
                was_killed = wal.exists() and wal.stat().st_size > 0
                return was_killed or Backups(self.paths.backups).is_due(now=now)
        return True

    def _mend(self, now: float) -> Opened:
        """Put the newest good backup in the place of a damaged file, with what the damaged file still gives up.

        All of it is made ready beside the damaged file, which is renamed only then.
        """
        path, backups = self.paths.database, Backups(self.paths.backups)
        backup = backups.newest_good(newest_version=newest_version(self.migrations))
        ready = _with_ending(path, ".mended")
        for ending in ("", "-wal", "-shm"):
            _with_ending(ready, ending).unlink(missing_ok=True)
        if backup is not None:
            shutil.copyfile(backup, ready)
        with closing(connect(ready, tune=self.tune)) as connection:
            migrate(connection, self.migrations)
            _take_over(path, connection)
            n_messages = count_messages(connection)
        flush_to_disk(ready)
        aside = _move_aside(path, now)
        os.replace(ready, path)
        facts = {
            "path": str(path),
            "moved_to": str(aside),
            "backup": None if backup is None else str(backup),
            "n_messages": n_messages,
        }
        return Opened(self._open_sound(now), ErrorReport(ErrorCode.DATABASE_DAMAGED, facts))


def count_messages(connection: sqlite3.Connection) -> int:
    """How many messages there are in all conversations."""
    n_messages: int = connection.execute("SELECT count(*) FROM message").fetchone()[0]
    return n_messages


def _is_damage(error: LayaDeskError | sqlite3.Error, path: Path) -> bool:
    failure = error if isinstance(error, LayaDeskError) else as_failure(error, path)
    return failure.code is ErrorCode.DATABASE_DAMAGED


def _take_over(damaged: Path, target: sqlite3.Connection) -> None:
    try:
        source = connect_untouched(damaged)
    except (sqlite3.Error, OSError) as error:
        log.info("nothing can be read from the damaged database: %s", error)
        return
    with closing(source), transaction(target):
        n_refused = copy_all(source, target)
    log.info("rows were taken from the damaged database; %d could not", n_refused)


def _move_aside(path: Path, now: float) -> Path:
    """Rename a database and its log; the log goes first, for it must never meet another database."""
    name = f"{path.name}.damaged-{stamp(now)}"
    aside, n = path.with_name(name), 1
    while aside.exists():
        n += 1
        aside = path.with_name(f"{name}-{n}")
    if (wal := _with_ending(path, "-wal")).exists():
        os.replace(wal, _with_ending(aside, "-wal"))
    _with_ending(path, "-shm").unlink(missing_ok=True)
    os.replace(path, aside)
    return aside


def _with_ending(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _try_to_write(connection: sqlite3.Connection) -> None:
    """Write one page, so that a full or read-only disk is told at the start and not with the first message."""
    with transaction(connection):
        connection.execute(f"PRAGMA user_version = {user_version(connection):d}")
