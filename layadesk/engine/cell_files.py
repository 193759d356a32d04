"""Computed cells of a conversation as a file: written whole or not at all, read only where the checksum is right.

A damaged state ends the process inside llama.cpp, so not one byte of it may get there. The files hold what was said, so
only their owner may read them.
"""

import hashlib
import logging
import os
import shutil
import struct
from array import array
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

_MAGIC = b"LDCELLS1"
_HEAD = struct.Struct("<8s32siiQ")  # magic, fingerprint, n_tokens, pos_min, bytes of the state
_DIGEST_BYTES = 32
_MAX_TOKENS = 2**24
_SUFFIX, _PART = ".cells", ".part"
MIN_DISK_FREE = 2**30  # what is left to others


@dataclass(frozen=True, slots=True)
class SavedCells:
    """`tokens` and the library's `state` after them; `pos_min` is the first position that all layers had then."""

    tokens: list[int]
    pos_min: int
    state: bytes


class CellFiles:
    """The folder of saved cells, one file for each conversation and expert. One thread at a time.

    `max_bytes` is what all files together may take; the longest unused go first.
    """

    def __init__(self, folder: Path, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def path(self, fingerprint: str, conversation_id: str) -> Path:
        """Where the cells of a conversation with one expert are, if anywhere."""
        return self._folder / f"{_short(fingerprint)}-{_short(conversation_id)}{_SUFFIX}"

    def write(self, fingerprint: str, conversation_id: str, cells: SavedCells) -> bool:
        """Keep `cells` in place of what was there; False where there is no room. Raises OSError."""
        n_bytes = len(cells.state) + 4 * len(cells.tokens) + _HEAD.size + _DIGEST_BYTES
        self._prepare()
        if n_bytes > self._max_bytes or shutil.disk_usage(self._folder).free - n_bytes < MIN_DISK_FREE:
            return False
        path = self.path(fingerprint, conversation_id)
        part = path.with_suffix(_PART)
        head = _HEAD.pack(_MAGIC, _mark(fingerprint), len(cells.tokens), cells.pos_min, len(cells.state))
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb", buffering=0) as file:
                for block in (head, array("i", cells.tokens).tobytes(), cells.state):
                    digest.update(block)
                    _write_all(file.fileno(), block)
                _write_all(file.fileno(), digest.digest())
            os.replace(part, path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        self._trim(path)
        return True

    def read(self, fingerprint: str, conversation_id: str) -> SavedCells | None:
        """What was kept; None where there is nothing, or nothing that can be trusted: that is removed."""
        path = self.path(fingerprint, conversation_id)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        cells = _parse(content, fingerprint)
        if cells is None:
            log.warning("a file of saved cells is damaged and is removed")
            path.unlink(missing_ok=True)
            return None
        with suppress(OSError):
            os.utime(path)
        return cells

    def forget(self, conversation_id: str) -> None:
        """Remove what was kept of a conversation, with every expert."""
        for path in self._all():
            if path.stem.endswith(f"-{_short(conversation_id)}"):
                path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove everything, as when keeping is switched off."""
        for path in self._all():
            path.unlink(missing_ok=True)

    def remove_parts(self) -> None:
        """Remove what a write has left behind that did not come to its end."""
        if self._folder.is_dir():
            for path in self._folder.glob(f"*{_PART}"):
                path.unlink(missing_ok=True)

    def _prepare(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _all(self) -> Iterable[Path]:
        return self._folder.glob(f"*{_SUFFIX}") if self._folder.is_dir() else ()

    def _trim(self, newest: Path) -> None:
        found: list[tuple[float, int, Path]] = []
        for path in self._all():
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime, stat.st_size, path))
        n_bytes = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if n_bytes <= self._max_bytes:
                return
            if path != newest:
                path.unlink(missing_ok=True)
                n_bytes -= size


def _parse(content: bytes, fingerprint: str) -> SavedCells | None:
    if len(content) < _HEAD.size + _DIGEST_BYTES:
        return None
    magic, mark, n_tokens, pos_min, n_state = _HEAD.unpack_from(content)
    is_right_size = 0 < n_tokens <= _MAX_TOKENS and len(content) == _HEAD.size + 4 * n_tokens + n_state + _DIGEST_BYTES
    if magic != _MAGIC or mark != _mark(fingerprint) or not is_right_size:
        return None
    view = memoryview(content)
    if hashlib.blake2b(view[:-_DIGEST_BYTES], digest_size=_DIGEST_BYTES).digest() != content[-_DIGEST_BYTES:]:
        return None
    tokens = array("i", view[_HEAD.size : _HEAD.size + 4 * n_tokens].tobytes())
    state = view[_HEAD.size + 4 * n_tokens : -_DIGEST_BYTES]
    return SavedCells(tokens.tolist(), pos_min, state.tobytes())


def _write_all(descriptor: int, block: bytes) -> None:
    view = memoryview(block)
    while view:
        view = view[os.write(descriptor, view) :]


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()
