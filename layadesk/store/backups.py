"""Copies of the database: one a day and one before each migration, the last five of each kind."""

import logging
import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from layadesk.domain.errors import ErrorCode, fail
from layadesk.store.database import connect_untouched, fault_of, user_version

log = logging.getLogger(__name__)

DAILY = "daily"
DAY_S = 24 * 3600.0
N_KEPT = 5
_NAME = re.compile(r"(?P<kind>daily|before-v\d+)-(?P<stamp>\d{8}T\d{6}Z)\.sqlite3")


def stamp(now: float) -> str:
    """Seconds since the epoch as text that sorts by time and may stand in a file name on every system."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


class Backups:
    """The folder of copies. Any thread; two programs at once make two copies at worst."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, connection: sqlite3.Connection, kind: str, *, now: float) -> Path:
        """Copy the database as it is now, and drop the oldest copies.

        `kind` is DAILY or `before-v<version>`. The copy appears under its name only when it is whole, sound and on the
        disk (reported fault E01). Raises DATABASE_DAMAGED, OSError, sqlite3.Error; all older copies are there then.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        name = f"{kind}-{stamp(now)}.sqlite3"
        part = self._folder / f"{name}.{os.getpid()}.part"
        try:
            with closing(sqlite3.connect(part)) as copy:
                connection.backup(copy)
                _refuse_damaged(copy, part)
            flush_to_disk(part)
            os.replace(part, self._folder / name)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._drop_old(DAILY if kind == DAILY else "before")
        log.info("database backed up as %s", name)
        return self._folder / name

    def is_due(self, *, now: float) -> bool:
        """Whether the last daily copy is more than 24 hours old, missing, or from the future."""
        return not any(0 <= now - made_at < DAY_S for made_at in self._daily_times())

    def has_any(self) -> bool:
        """Whether there is a copy, good or not."""
        return bool(self._newest_first())

    def newest_good(self, *, newest_version: int) -> Path | None:
        """The newest copy that is sound and that this program understands."""
        for path in self._newest_first():
            try:
                with closing(connect_untouched(path)) as copy:
                    if 0 < user_version(copy) <= newest_version and fault_of(copy) is None:
                        return path
            except (sqlite3.Error, OSError) as error:
                log.info("backup %s cannot be used: %s", path.name, error)
        return None

    def _daily_times(self) -> list[float]:
        names = [match for path in self._newest_first() if (match := _NAME.fullmatch(path.name))]
        return [_time_of(match["stamp"]) for match in names if match["kind"] == DAILY]

    def _newest_first(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        found = [(match["stamp"], path) for path in self._folder.iterdir() if (match := _NAME.fullmatch(path.name))]
        return [path for _, path in sorted(found, reverse=True)]

    def _drop_old(self, kind: str) -> None:
        same = [path for path in self._newest_first() if path.name.startswith(kind)]
        for path in same[N_KEPT:]:
            path.unlink(missing_ok=True)


def _refuse_damaged(copy: sqlite3.Connection, path: Path) -> None:
    if fault := fault_of(copy):
        raise fail(ErrorCode.DATABASE_DAMAGED, path=str(path), detail=fault)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk. Raises OSError."""
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _time_of(text: str) -> float:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:  # digits, but no date: somebody's own file
        return float("-inf")
