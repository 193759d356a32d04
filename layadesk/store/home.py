"""Where the rows live at this moment, on the disk or, while it refuses, in memory; and the moves between the two."""

import logging
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.storage import StorageKind
from layadesk.store.database import transaction, translating
from layadesk.store.opening import DiskDoor, count_messages
from layadesk.store.shelter import n_unsaved, shelter_of, shelter_of_file, write_back
from layadesk.store.status import StatusBoard

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

# With these the disk is left; others are the caller's fault, and are told to him.
LEAVES_DISK = frozenset(
    {
        ErrorCode.DISK_FULL,
        ErrorCode.DISK_ERROR,
        ErrorCode.DATA_DIR_READ_ONLY,
        ErrorCode.DATABASE_DAMAGED,
        ErrorCode.DATABASE_BUSY,
        ErrorCode.DATABASE_TOO_NEW,
    }
)


class Home:
    """The database of an open store. All methods belong to the thread "store", but `read`, which is "store-read"'s.

    A write that the disk refuses is made in memory instead, so it succeeds for its caller; `board` tells.
    """

    def __init__(self, door: DiskDoor, board: StatusBoard, clock: Callable[[], float], *, now: float) -> None:
        """Never raises for a bad disk. May be called on any thread."""
        self._door = door
        self._board = board
        self._clock = clock
        self._path = door.paths.database
        self._disk: sqlite3.Connection | None = None
        self._memory: sqlite3.Connection | None = None
        self._memory_lock = threading.Lock()  # both threads use the one connection to memory
        self._reader: sqlite3.Connection | None = None
        self._stay = 0  # counts the stays on the disk, which may be another file each time
        self._stay_of_reader = 0
        try:
            opened = door.open(now=now)
        except LayaDeskError as error:
            self._memory = shelter_of_file(self._path, door.migrations)
            self._tell_memory_only(error)
        else:
            self._disk = opened.connection
            board.saving(opened.mended)

    @property
    def is_on_disk(self) -> bool:
        """Whether what is written now is on the disk."""
        return self._memory is None

    def write(self, change: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Make one change, whole or not at all. Raises what `change` raises, and INTERNAL for our mistakes."""
        if self._disk is not None:
            try:
                with translating(self._path), transaction(self._disk):
                    self._door.refuse_newer(self._disk)
                    return change(self._disk)
            except LayaDeskError as failure:
                if failure.code not in LEAVES_DISK:
                    raise
                self.leave_disk(failure)
        return self._write_to_memory(change)

    def read(self, query: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Answer one query, from one state of the database. Raises LayaDeskError; see `LEAVES_DISK`."""
        with self._memory_lock:
            if self._memory is not None:
                self._close_reader()
                with translating(self._path):
                    return query(self._memory)
        with translating(self._path):
            reader = self._current_reader()
            reader.execute("BEGIN")
            try:
                return query(reader)
            finally:
                if reader.in_transaction:
                    reader.execute("ROLLBACK")

    def leave_disk(self, failure: LayaDeskError) -> None:
        """Go on in memory, with a copy of all that can be read from the disk. Nothing happens when it is so already."""
        if self._disk is None:
            return
        shelter = shelter_of(self._disk, self._door.migrations)
        with suppress(sqlite3.Error):
            self._disk.close()
        with self._memory_lock:
            self._disk, self._memory = None, shelter
            self._stay += 1
        self._tell_memory_only(failure)

    def return_to_disk(self) -> None:
        """Try the disk again, and write to it what is in memory only. The status tells how it went."""
        if self._memory is None:
            return
        try:
            opened = self._door.open(now=self._clock())
        except LayaDeskError as error:
            self._tell_memory_only(error)
            return
        try:
            with self._memory_lock, translating(self._path):
                write_back(self._memory, opened.connection)
                n_messages = count_messages(opened.connection)
        except LayaDeskError as error:
            opened.connection.close()
            self._tell_memory_only(error)
            return
        with self._memory_lock:
            self._memory.close()
            self._memory = None
            self._disk = opened.connection
        log.info("the disk accepts again; everything is saved")
        self._board.saving(opened.mended and _counted_anew(opened.mended, n_messages))

    def close(self) -> None:
        """Close all connections; the last one on the disk folds the log into the database file."""
        self._close_reader()
        for connection in (self._disk, self._memory):
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def _write_to_memory(self, change: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        assert self._memory is not None
        with self._memory_lock:
            with translating(self._path), transaction(self._memory):
                result = change(self._memory)
            count = n_unsaved(self._memory)
        self._board.unsaved(count)
        return result

    def _tell_memory_only(self, failure: LayaDeskError) -> None:
        assert self._memory is not None
        if self._board.status.kind is not StorageKind.MEMORY_ONLY:
            log.warning("going on in memory: %s", failure)
        with self._memory_lock:
            count = n_unsaved(self._memory)
        self._board.memory_only(failure.report, count)

    def _current_reader(self) -> sqlite3.Connection:
        if self._reader is None or self._stay_of_reader != self._stay:
            self._close_reader()
            self._stay_of_reader = self._stay
            self._reader = self._door.open_reader()
        return self._reader

    def _close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(sqlite3.Error):
                reader.close()


def _counted_anew(mended: ErrorReport, n_messages: int) -> ErrorReport:
    return ErrorReport(mended.code, {**mended.facts, "n_messages": n_messages})
