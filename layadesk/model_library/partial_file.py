"""`NAME.part` and its sidecar: the bytes of a download so far, and whose they are.

    NAME.part.json: {"size_bytes": 5, "sha256": "b179…", "origin": "huggingface:owner/repo@commit/path", "etag": "x"}

A part whose sidecar names another file, or is missing, is not gone on with. When the file has been checked, the sidecar
stays beside it as `NAME.checked.json` until it is installed.
"""

import contextlib
import logging
import os
from pathlib import Path

import msgspec

from layadesk.model_library.disk import disk_failure, write_atomically

log = logging.getLogger(__name__)

SUFFIX = ".part"


class PartIdentity(msgspec.Struct, frozen=True):
    """Which file it will be. `etag` is the server's name for these bytes, for If-Range; it changes with the mirror."""

    origin: str
    size_bytes: int | None
    sha256: str
    etag: str | None = None

    def is_same(self, other: "PartIdentity") -> bool:
        """Whether bytes of one are bytes of the other: the sum says it, whoever sent them."""
        return self.sha256 == other.sha256 and self.size_bytes in (None, other.size_bytes)


class PartialFile:
    """One thread at a time. `final` is where the whole file goes; the part lies beside it."""

    def __init__(self, final: Path, identity: PartIdentity) -> None:
        self.final = final
        self.path = final.with_name(final.name + SUFFIX)
        self._sidecar = final.with_name(final.name + SUFFIX + ".json")
        self.identity = identity

    def open(self) -> int:
        """Find what is there of this very file; how many bytes. Raises DISK_FULL, DATA_DIR_READ_ONLY, DISK_ERROR."""
        known = self._read_sidecar()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if known is None or not known.is_same(self.identity):
                self.path.unlink(missing_ok=True)
                self.path.touch()
                self._write_sidecar()
            else:
                self.identity = msgspec.structs.replace(self.identity, etag=known.etag)
                self.path.touch()
            return self.path.stat().st_size
        except OSError as error:
            raise disk_failure(error, self.path) from error

    def remember(self, etag: str | None) -> None:
        """What the server calls these bytes, to ask for the rest of the same ones."""
        if etag != self.identity.etag:
            self.identity = msgspec.structs.replace(self.identity, etag=etag)
            self._write_sidecar()

    def finish(self) -> Path:
        """Give the whole file its name; it has been checked."""
        try:
            with self.path.open("rb+") as file:
                os.fsync(file.fileno())
            self.path.replace(self.final)
            self._sidecar.replace(_checked(self.final))
        except OSError as error:
            raise disk_failure(error, self.final) from error
        return self.final

    def discard(self) -> None:
        """Delete the part: its bytes are wrong."""
        for path in (self.path, self._sidecar):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)

    def _read_sidecar(self) -> PartIdentity | None:
        return _read(self._sidecar)

    def _write_sidecar(self) -> None:
        write_atomically(self._sidecar, msgspec.json.encode(self.identity))


def checked_sum(final: Path) -> str | None:
    """The sha256 that a finished file was found to have."""
    identity = _read(_checked(final))
    return None if identity is None else identity.sha256


def _checked(final: Path) -> Path:
    return final.with_name(final.name + ".checked.json")


def _read(sidecar: Path) -> PartIdentity | None:
    try:
        return msgspec.json.decode(sidecar.read_bytes(), type=PartIdentity)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def bytes_here(final: Path) -> int:
    """What is on disk of a file, whole or in part."""
    for path in (final, final.with_name(final.name + SUFFIX)):
        try:
            return path.stat().st_size
        except OSError:
            continue
    return 0
