"""The sha256 of a file that is still growing, on a thread of its own: what the disk has is what is summed."""

import hashlib
import io
import threading
from pathlib import Path

from layadesk.model_library.web import Stop, Stopped

_BLOCK = 1 << 20


class FollowingHash:
    """Reads behind the writer, from the cache of the system; a part that was there before is read too.

    Memory stays at one block whatever the sizes. Close it when done; `digest` waits for the reader.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wakes = threading.Condition()
        self._goal = 0
        self._done = 0
        self._life = 0  # of the file: it begins anew where the server does not resume
        self._is_closed = False
        self._error: OSError | None = None
        self._digest = hashlib.sha256()
        self._thread = threading.Thread(target=self._run, name="download-sha256", daemon=True)
        self._thread.start()

    def reached(self, n_bytes: int) -> None:
        """So many bytes are in the file now. Cheap; the reader is woken for whole blocks."""
        self._goal = n_bytes
        if n_bytes - self._done >= _BLOCK:
            with self._wakes:
                self._wakes.notify()

    def restart(self) -> None:
        """The file was emptied."""
        with self._wakes:
            self._life += 1
            self._goal = self._done = 0
            self._digest = hashlib.sha256()

    def digest(self, n_bytes: int, stop: Stop) -> str:
        """The sum of the first `n_bytes`, once they are read. Raises Stopped, OSError."""
        self._goal = n_bytes
        with self._wakes:
            self._wakes.notify()
            while self._done < n_bytes and self._error is None:
                if stop.is_set:
                    raise Stopped
                self._wakes.wait(0.2)
            if self._error is not None:
                raise self._error
            return self._digest.hexdigest()

    @property
    def n_bytes(self) -> int:
        """How far the reader is."""
        return self._done

    def close(self) -> None:
        """End the reader."""
        with self._wakes:
            self._is_closed = True
            self._wakes.notify()
        self._thread.join()

    def _run(self) -> None:
        block = memoryview(bytearray(_BLOCK))
        try:
            with self._path.open("rb", buffering=0) as file:
                while self._read(file, block):
                    pass
        except OSError as error:
            with self._wakes:
                self._error = error
                self._wakes.notify_all()

    def _read(self, file: io.FileIO, block: memoryview) -> bool:
        with self._wakes:
            while self._goal <= self._done and not self._is_closed:
                self._wakes.wait(0.2)
            if self._is_closed:
                return False
            life, at, digest = self._life, self._done, self._digest
            n_wanted = min(_BLOCK, self._goal - at)
        file.seek(at)
        n_read = file.readinto(block[:n_wanted]) or 0
        digest.update(block[:n_read])
        with self._wakes:
            if life == self._life:
                self._done = at + n_read
                self._wakes.notify_all()
            if n_read == 0:  # emptied at this moment: `restart` follows
                self._wakes.wait(0.02)
        return True
