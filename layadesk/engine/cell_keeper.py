"""The thread "cells": saved cells are written and read beside the computing."""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from layadesk.engine.cell_files import CellFiles, SavedCells

log = logging.getLogger(__name__)

DEFAULT_MAX_BYTES = 2 * 2**30
MAX_UNWRITTEN_BYTES = 512 * 2**20  # in memory at a time


@dataclass(frozen=True, slots=True)
class CellsRead:
    """What was kept for the sequence with arrival number `order`; `cells` None: nothing of use. `seconds` it took."""

    order: int
    model_id: str
    cells: SavedCells | None
    seconds: float


class CellKeeper:
    """Saved cells of all experts. Its methods: decode thread; answers go to `post`, on its own thread."""

    def __init__(self, folder: Path, post: Callable[[CellsRead], None], *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._files = CellFiles(folder, max_bytes)
        self._post = post
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._unwritten: Counter[str] = Counter()  # file name -> bytes
        self._thread = threading.Thread(target=self._run, name="cells", daemon=True)

    def start(self) -> None:
        """Start working."""
        self._jobs.put(self._files.remove_parts)
        self._thread.start()

    def has_room(self) -> bool:
        """Whether another state may be handed over now, or the disk is behind."""
        with self._lock:
            return self._unwritten.total() < MAX_UNWRITTEN_BYTES

    def has(self, fingerprint: str, conversation_id: str) -> bool:
        """Whether there is something to read."""
        path = self._files.path(fingerprint, conversation_id)
        with self._lock:
            is_coming = self._unwritten[path.name] > 0
        return is_coming or path.exists()

    def save(self, fingerprint: str, conversation_id: str, cells: SavedCells) -> None:
        """Write in the background, in place of what was there."""
        name = self._files.path(fingerprint, conversation_id).name
        n_bytes = len(cells.state)
        with self._lock:
            self._unwritten[name] += n_bytes

        def write() -> None:
            try:
                if not self._files.write(fingerprint, conversation_id, cells):
                    log.info("no room on disk to keep computed cells")
            except OSError as error:
                log.warning("computed cells could not be kept: %s", error)
            finally:
                with self._lock:
                    self._unwritten[name] -= n_bytes

        self._jobs.put(write)

    def read(self, order: int, model_id: str, fingerprint: str, conversation_id: str) -> None:
        """Read in the background; CellsRead comes in any case."""

        def read() -> None:
            began = time.perf_counter()
            cells: SavedCells | None = None
            try:
                cells = self._files.read(fingerprint, conversation_id)
            finally:
                self._post(CellsRead(order, model_id, cells, time.perf_counter() - began))

        self._jobs.put(read)

    def forget(self, conversation_id: str) -> None:
        """Remove what was kept of a conversation."""
        self._jobs.put(lambda: self._files.forget(conversation_id))

    def stop(self, timeout_s: float) -> bool:
        """Let the thread end after the jobs it has; False when it did not in time."""
        self._jobs.put(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:  # whatever it is: who waits for the next answer must get it
                log.exception("a job of saved cells failed")
