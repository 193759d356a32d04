"""`downloads.json`: what is being downloaded, kept over restarts and shared between a window and the command line.

    {"downloads": [{"model_id": "qwen3.5-4b", "quantization": "Q4_K_M", "is_paused": false, "licence_accepted": true,
                    "failure"?: {"code": "hub_gated", "facts": {"repo": …}}}]}

How much of each is here is not in it: the disk says that.
"""

import logging
import threading
from pathlib import Path

import msgspec

from layadesk.domain.downloads import download_id
from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from layadesk.model_library.disk import process_lock, write_atomically

log = logging.getLogger(__name__)


class KeptFailure(msgspec.Struct, frozen=True):
    """An ErrorReport whose code may be one of a newer version."""

    code: str
    facts: dict[str, Fact] = {}


class DownloadEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One download. Not `is_paused`: it ran, or was to run, when this was written. `failure` is what stopped it."""

    model_id: str
    quantization: str
    is_paused: bool = False
    licence_accepted: bool = False
    failure: KeptFailure | None = None

    @property
    def report(self) -> ErrorReport | None:
        """What stopped it, where this version knows such a reason."""
        known = set(ErrorCode)
        if self.failure is None or self.failure.code not in known:
            return None
        return ErrorReport(ErrorCode(self.failure.code), self.failure.facts)

    @property
    def download_id(self) -> str:
        """As everywhere."""
        return download_id(self.model_id, self.quantization)


class _Document(msgspec.Struct):
    downloads: tuple[DownloadEntry, ...] = ()


class DownloadList:
    """Any thread. Every change reads the list again under a lock between processes and touches one entry only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock_file = path.with_suffix(".lock")
        self._lock = threading.Lock()

    def read(self) -> tuple[DownloadEntry, ...]:
        """All of them; never raises: a list that cannot be read is empty, and the bytes show among the leftovers."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_Document).downloads
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("the list of downloads cannot be read: %s", error)
            return ()

    def put(self, entry: DownloadEntry) -> None:
        """Add or change one. Raises DISK_FULL, DATA_DIR_READ_ONLY, DISK_ERROR."""
        self._change(entry.download_id, entry)

    def drop(self, which: str) -> None:
        """Take one off. Raises as `put`."""
        self._change(which, None)

    def _change(self, which: str, new: DownloadEntry | None) -> None:
        with self._lock, process_lock(self._lock_file):
            before = self.read()
            if new is None:
                after = tuple(entry for entry in before if entry.download_id != which)
            elif any(entry.download_id == which for entry in before):
                after = tuple(new if entry.download_id == which else entry for entry in before)
            else:
                after = (*before, new)
            if after != before:
                write_atomically(self._path, msgspec.json.encode(_Document(after)))
