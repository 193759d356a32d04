"""Corrections of routes, JSON Lines that only grow: `router/corrections.jsonl`. A damaged line is passed over."""

import logging
import os
import threading
from pathlib import Path

import msgspec

from layadesk.domain.corrections import Correction
from layadesk.domain.errors import ErrorCode, fail

log = logging.getLogger(__name__)

_DECODER = msgspec.json.Decoder(Correction)


class CorrectionsFile:
    """Any thread. What the user typed is in it, as in the database; `forget` removes it all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def add(self, correction: Correction) -> None:
        """Append one. Raises DISK_ERROR."""
        line = msgspec.json.encode(correction) + b"\n"
        with self._lock:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("ab") as file:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise fail(ErrorCode.DISK_ERROR, path=str(self._path), detail=error.strerror) from error

    def read(self) -> tuple[Correction, ...]:
        """All of them, oldest first; none where there is no file."""
        try:
            lines = self._path.read_bytes().split(b"\n")
        except OSError:
            return ()
        found = []
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    found.append(_DECODER.decode(line))
                except (msgspec.DecodeError, UnicodeDecodeError):
                    log.warning("line %d of the corrections cannot be read", number)
        return tuple(found)

    def forget(self) -> None:
        """Remove all. Raises DISK_ERROR."""
        with self._lock:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise fail(ErrorCode.DISK_ERROR, path=str(self._path), detail=error.strerror) from error
