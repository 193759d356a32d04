"""The models directory on another disk: everything is there before anything is deleted here."""

import contextlib
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from layadesk.domain.errors import ErrorCode, fail
from layadesk.model_library.disk import disk_failure
from layadesk.model_library.library_disk import free_bytes

log = logging.getLogger(__name__)

_CHUNK = 4 << 20
Progress = Callable[[int, int], None]


class ModelsMove:
    """One move, on one thread. At the top of the old folder only GGUF files are models; the lists beside them stay."""

    def __init__(self, old: Path, new: Path, *, reserve_bytes: int) -> None:
        self._old = Path(os.path.abspath(old))
        self._new = Path(os.path.abspath(new))
        self._reserve_bytes = reserve_bytes
        self._files: list[tuple[Path, int]] = []
        self._made: list[Path] = []

    def bring(self, progress: Progress) -> int:
        """Put a second copy of everything into the new folder, or as links where that is one disk; bytes.

        Raises BAD_PARAMETER, NO_ROOM_FOR_DOWNLOAD, DISK_*; then nothing has changed.
        """
        if self._new == self._old or self._new.is_relative_to(self._old) or self._old.is_relative_to(self._new):
            raise fail(ErrorCode.BAD_PARAMETER, parameter="models.directory", value=str(self._new))
        self._files = [(path, path.stat().st_size) for path in self._walk()]
        total, done = sum(size for _, size in self._files), 0
        try:
            self._new.mkdir(parents=True, exist_ok=True)
            for path, size in self._files:
                target = self._new_place(path)
                self._made.append(target)
                self._place(path, target, partial(_onward, progress, done, total))
                done += size
                progress(done, total)
        except OSError as error:
            self.undo()
            raise disk_failure(error, self._new) from error
        except BaseException:
            self.undo()
            raise
        return total

    def finish(self) -> None:
        """Delete what is in the old folder now; what cannot be deleted shows among the leftovers there."""
        for path, _ in self._files:
            with contextlib.suppress(OSError):
                path.unlink()
        for parent, _, _ in os.walk(self._old, topdown=False):
            if Path(parent) != self._old:
                with contextlib.suppress(OSError):
                    Path(parent).rmdir()

    def undo(self) -> None:
        """Take away what was put into the new folder."""
        for path in reversed(self._made):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
                path.parent.rmdir()

    def _walk(self) -> Iterator[Path]:
        for parent, _, names in os.walk(self._old):
            for name in sorted(names):
                if Path(parent) == self._old and not name.casefold().endswith(".gguf"):
                    continue
                path = Path(parent, name)
                if path.is_file() and name != ".lock":
                    yield path

    def _new_place(self, path: Path) -> Path:
        target = self._new / path.relative_to(self._old)
        if target.exists():
            raise fail(ErrorCode.BAD_PARAMETER, parameter="models.directory", value=str(target))
        return target

    def _place(self, source: Path, target: Path, progress: Callable[[int], None]) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:  # another disk, or a file system without hard links
            self._copy(source, target, progress)

    def _copy(self, source: Path, target: Path, progress: Callable[[int], None]) -> None:
        needed = source.stat().st_size + self._reserve_bytes
        free = free_bytes(self._new)
        if free is not None and free < needed:
            raise fail(ErrorCode.NO_ROOM_FOR_DOWNLOAD, path=str(self._new), needs_bytes=needed, free_bytes=free)
        done = 0
        with source.open("rb") as reader, target.open("wb") as writer:
            while chunk := reader.read(_CHUNK):
                writer.write(chunk)
                done += len(chunk)
                progress(done)
            writer.flush()
            os.fsync(writer.fileno())
        with contextlib.suppress(OSError):
            shutil.copystat(source, target)


def _onward(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)
