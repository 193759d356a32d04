"""`updates.json`: when it was last asked for a new version, so that it is asked once a day and not once a start."""

import logging
import os
from pathlib import Path

import msgspec

from layadesk.settings.file import write_whole

log = logging.getLogger(__name__)


class Asked(msgspec.Struct, frozen=True):
    """What came of asking `host`, of the feed at `address`. Times are seconds since 1970.

    `version` empty: none was found. `problem` says why it was in vain; `version` is then what was found before.
    `dismissed` is the version whose notice was closed.
    """

    address: str = ""
    host: str = ""
    at: float = 0.0
    version: str = ""
    page: str = ""
    problem: str = ""
    dismissed: str = ""


class UpdateFile:
    """One record, replaced whole. Any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Asked:
        """Never raises: what cannot be read counts as never asked."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Asked)
        except FileNotFoundError:
            return Asked()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.info("the record of asking for versions cannot be read: %s", error)
            return Asked()

    def write(self, asked: Asked) -> str:
        """Keep it; returns why it could not be kept, else nothing."""
        try:
            write_whole(self._path, msgspec.json.encode(asked))
        except OSError as error:
            log.info("the record of asking for versions cannot be kept: %s", error)
            return os.strerror(error.errno) if error.errno else str(error)
        return ""
