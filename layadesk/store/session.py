"""Which running program writes an answer: a lock that the system itself releases when the program dies.

Two programs may share one database (a window and a command line). At its start, one must mark the answers that a dead
program left unfinished, and must not touch those that a living one is writing.
"""

import logging
import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

log = logging.getLogger(__name__)


class Session:
    """The mark of one open store: a locked file in `folder`. Threads: one at a time."""

    def __init__(self, folder: Path) -> None:
        self.session_id = uuid.uuid4().hex
        self._folder = folder
        self._descriptor: int | None = None

    def hold(self) -> None:
        """Show to other programs that this one lives. Without a writable folder nobody can see it; that is all."""
        if self._descriptor is not None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._descriptor = _open_locked(self._path(self.session_id))
            self._sweep()
        except OSError as error:
            log.info("no lock for this session: %s", error)

    def _sweep(self) -> None:
        """Remove what programs that were killed have left."""
        for path in self._folder.glob("store-*.lock"):
            self.lives(path.stem.removeprefix("store-"))

    def release(self) -> None:
        """End the session; without it, the end of the process does the same."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._path(self.session_id).unlink()

    def lives(self, session_id: str) -> bool:
        """Whether that session's program still runs; true for this one. A dead one's file is removed."""
        if session_id == self.session_id:
            return True
        path = self._path(session_id)
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            return False
        try:
            if not _try_lock(descriptor):
                return True
            if sys.platform != "win32":  # under the lock, so that nobody can take it in between
                path.unlink(missing_ok=True)
        except OSError as error:
            log.info("this file system has no locks: %s", error)
            return False
        finally:
            os.close(descriptor)
        if sys.platform == "win32":  # where an open file cannot be removed
            with suppress(OSError):
                path.unlink(missing_ok=True)
        return False

    def _path(self, session_id: str) -> Path:
        return self._folder / f"store-{session_id}.lock"


def _open_locked(path: Path) -> int:
    """Raises OSError. Tries again when another program took the fresh file for a dead one's and removed it."""
    for _ in range(3):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if _try_lock(descriptor) and (sys.platform == "win32" or os.fstat(descriptor).st_nlink > 0):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise BlockingIOError


def _try_lock(descriptor: int) -> bool:
    """False when another program holds it. Raises OSError where the file system has no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
