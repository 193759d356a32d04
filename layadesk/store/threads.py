"""The three threads of an open store: "store" writes, "store-read" reads, "store-backup" lives for one backup."""

import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.storage import StorageStatus
from layadesk.store.backups import DAILY, Backups
from layadesk.store.home import LEAVES_DISK, Home
from layadesk.store.jobs import Job, JobQueue
from layadesk.store.opening import DiskDoor, count_messages
from layadesk.store.queries import Found
from layadesk.store.session import Session
from layadesk.store.status import StatusBoard

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")


class StoreThreads:
    """Hands changes and queries to the thread they belong to. Public methods: any thread."""

    def __init__(
        self,
        door: DiskDoor,
        session: Session,
        *,
        now: float,
        clock: Callable[[], float],
        retry_every_s: float,
    ) -> None:
        """Opens the database, or a shelter in memory; blocks for that."""
        self.board = StatusBoard()
        self._door = door
        self._now = now
        self._session = session
        self._retry_every_s = retry_every_s
        self._home = Home(door, self.board, clock, now=now)
        self._jobs = JobQueue()
        self._reads: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="store", daemon=True)
        self._reader = threading.Thread(target=self._read_all, name="store-read", daemon=True)
        self._backup = threading.Thread(target=self._back_up, name="store-backup", daemon=True)

    def start(self, first: Callable[[sqlite3.Connection], object]) -> None:
        """Start the threads. Where the disk is in order: a backup if one is due, and `first` as the first change."""
        if self._home.is_on_disk:
            self._session.hold()
            if self._needs_backup():
                self._backup.start()
            self.write(first)
        self._writer.start()
        self._reader.start()

    def write(
        self, change: Callable[[sqlite3.Connection], ResultT], *, replaces: str = "", is_state: bool = False
    ) -> Future[ResultT]:
        """Queue a change; see `Job` for `replaces` and `is_state`."""
        return self._submit(Job(lambda: self._home.write(change), replaces=replaces, is_state=is_state))

    def read(self, query: Callable[[sqlite3.Connection], Found[ResultT]]) -> Future[ResultT]:
        """Queue a query behind all changes so far; changes that come later do not wait for it."""
        future: Future[ResultT] = Future()
        future.set_running_or_notify_cancel()
        answer = partial(self._answer, query, future)
        if not self._jobs.put(Job(lambda: self._reads.put(answer), fence=True)):
            future.set_exception(_closed())
        return future

    def try_disk(self) -> Future[StorageStatus]:
        """Queue an attempt to return to the disk; the result is the status after it."""
        return self._submit(Job(self._try_disk))

    def close(self) -> None:
        """Finish what is queued, end the threads, close the files. Waits; may be called twice."""
        self._jobs.close()
        self._writer.join()
        self._reads.put(None)
        self._reader.join()
        if self._backup.ident is not None:
            self._backup.join()
        self._home.close()
        self._session.release()

    def _submit(self, job: Job) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # a change that was asked for cannot be called back
        job.futures.append(future)
        if not self._jobs.put(job):
            future.set_exception(_closed())
        return future

    def _write_all(self) -> None:
        """The thread "store"."""
        next_try: float | None = None
        while not self._jobs.is_over:
            if self._home.is_on_disk:
                next_try = None
            elif next_try is None:
                next_try = time.monotonic() + self._retry_every_s
            job = self._jobs.take(None if next_try is None else max(0.0, next_try - time.monotonic()))
            if job is not None:
                _finish(job)
            if next_try is not None and time.monotonic() >= next_try:
                self._try_disk()
                next_try = time.monotonic() + self._retry_every_s
        self._write_last()

    def _write_last(self) -> None:
        if self.board.status.n_unsaved:
            self._try_disk()
        if n_lost := self.board.status.n_unsaved:
            log.error("%d rows could not be saved before the end", n_lost)

    def _try_disk(self) -> StorageStatus:
        self._home.return_to_disk()
        if self._home.is_on_disk:
            self._session.hold()
        return self.board.status

    def _read_all(self) -> None:
        """The thread "store-read"."""
        while (read := self._reads.get()) is not None:
            read()

    def _answer(
        self,
        query: Callable[[sqlite3.Connection], Found[ResultT]],
        future: Future[ResultT],
        *,
        is_second: bool = False,
    ) -> None:
        """Answer on the reader's thread; where the disk cannot be read, once more after the move to memory."""
        try:
            found = self._home.read(query)
        except LayaDeskError as error:
            again = partial(self._answer, query, future, is_second=True)
            may_help = error.code in LEAVES_DISK and not is_second
            if not (may_help and self._jobs.put(Job(partial(self._leave_disk, error, again), fence=True))):
                future.set_exception(error)
        except Exception as error:  # noqa: BLE001 - the top of a thread
            future.set_exception(_bug(error))
        else:
            self.board.unreadable(found.unreadable)
            future.set_result(found.value)

    def _leave_disk(self, failure: LayaDeskError, read: Callable[[], None]) -> None:
        self._home.leave_disk(failure)
        self._reads.put(read)

    def _needs_backup(self) -> bool:
        """Once a day; but copies of nothing would push out, in five days, those of what was lost."""
        is_due = Backups(self._door.paths.backups).is_due(now=self._now)
        return is_due and self._home.write(count_messages) > 0

    def _back_up(self) -> None:
        """The thread "store-backup". A disk without room for a copy is no harm."""
        backups = Backups(self._door.paths.backups)
        try:
            with closing(self._door.open_reader()) as connection:
                backups.make(connection, DAILY, now=self._now)
        except (OSError, sqlite3.Error, LayaDeskError) as error:
            log.warning("no backup of the database today: %s", error)


def _finish(job: Job) -> None:
    try:
        result = job.work()
    except LayaDeskError as error:
        for future in job.futures:
            future.set_exception(error)
    except Exception as error:  # noqa: BLE001 - the top of a thread
        for future in job.futures:
            future.set_exception(_bug(error))
    else:
        for future in job.futures:
            future.set_result(result)


def _bug(error: Exception) -> LayaDeskError:
    log.error("the store failed", exc_info=error)
    return fail(ErrorCode.INTERNAL, reason="store", detail=f"{type(error).__name__}: {error}")


def _closed() -> LayaDeskError:
    return fail(ErrorCode.INTERNAL, reason="the store is closed")
