"""Files that are whole or not there: atomic writing, verified copying, a lock between processes, and disk errors."""

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.storage import code_of_os_error

_CHUNK = 1 << 20
LOCK_TIMEOUT_S = 10.0
_LOCK_RETRY_S = 0.02


def disk_failure(error: OSError, path: Path) -> LayaDeskError:
    """DISK_FULL, DATA_DIR_READ_ONLY or DISK_ERROR, with the system's own word for it."""
    code = code_of_os_error(error.errno)
    return fail(code, path=str(path), reason=os.strerror(error.errno) if error.errno else str(error))


def write_atomically(path: Path, content: bytes) -> None:
    """Replace `path` by `content`: after a crash or a full disk the old file is still whole. Raises DISK_FULL & co."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise disk_failure(error, path) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def copy_verified(source: Path, target: Path, *, sha256: str | None) -> None:
    """Copy a large file so that `target` is never half there. Raises GGUF_DAMAGED when the sum does not match.

    Also DISK_FULL, before the first byte where the free space already says so.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        needed = source.stat().st_size
        target.parent.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(target.parent).free
        if free < needed:
            raise fail(ErrorCode.DISK_FULL, path=str(target), needed_bytes=needed, free_bytes=free)
        found = _copy(source, part)
        if sha256 is not None and found != sha256:
            raise fail(ErrorCode.GGUF_DAMAGED, path=str(source), reason="sha256", value=found, expected=sha256)
        part.replace(target)
    except OSError as error:
        raise disk_failure(error, target) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _copy(source: Path, part: Path) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as reader, part.open("wb") as writer:
        while chunk := reader.read(_CHUNK):
            digest.update(chunk)
            writer.write(chunk)
        writer.flush()
        os.fsync(writer.fileno())
    return digest.hexdigest()


@contextlib.contextmanager
def process_lock(path: Path, *, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold `path` alone among all processes and threads; the system frees it when its holder dies.

    Raises DATABASE_BUSY after `timeout_s`, or what `disk_failure` says when the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise disk_failure(error, path) from error
    try:
        deadline = time.monotonic() + timeout_s
        while not _try_lock(descriptor):
            if time.monotonic() > deadline:
                raise fail(ErrorCode.DATABASE_BUSY, path=str(path), waited_s=timeout_s)
            time.sleep(_LOCK_RETRY_S)
        yield
    finally:
        os.close(descriptor)  # frees the lock


if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
