"""The store's status, changed by its threads and read by any."""

import threading
from collections.abc import Collection
from dataclasses import replace

from layadesk.domain.errors import ErrorReport
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.protocol.feed import Feed


class StatusBoard:
    """Holds one `StorageStatus` and publishes it whenever it becomes another. Any thread."""

    def __init__(self) -> None:
        self.feed: Feed[StorageStatus] = Feed()
        self._status = StorageStatus(StorageKind.SAVING)
        self._unreadable: set[str] = set()
        self._lock = threading.Lock()

    @property
    def status(self) -> StorageStatus:
        """What was published last."""
        return self._status

    def saving(self, mended: ErrorReport | None) -> None:
        """Everything is on the disk; `mended` tells what had to be repaired for it."""
        self._change(kind=StorageKind.SAVING, error=mended, n_unsaved=0)

    def memory_only(self, error: ErrorReport, n_unsaved: int) -> None:
        """The disk refuses, for this reason."""
        self._change(kind=StorageKind.MEMORY_ONLY, error=error, n_unsaved=n_unsaved)

    def unsaved(self, n_unsaved: int) -> None:
        """More, or fewer, rows that are in memory only."""
        self._change(n_unsaved=n_unsaved)

    def unreadable(self, rows: Collection[str]) -> None:
        """Count rows that could not be read in whole; each is counted once."""
        with self._lock:
            self._unreadable.update(rows)
            n_unreadable = len(self._unreadable)
        self._change(n_unreadable=n_unreadable)

    def _change(self, **fields: object) -> None:
        with self._lock:
            before = self._status
            self._status = after = replace(before, **fields)  # type: ignore[arg-type]  # names are checked by `replace`
        if after != before:
            self.feed.publish(after)
