"""What wakes a client thread out of its wait, on every system the same way."""

import multiprocessing
import threading


class Alarm:
    """A pipe that is readable from `ring` until `clear`. `ring` may be called from any thread and never blocks."""

    def __init__(self) -> None:
        self.reader, self._writer = multiprocessing.Pipe(duplex=False)
        self._lock = threading.Lock()
        self._is_ringing = False
        self._is_closed = False

    def ring(self) -> None:
        """Wake the thread; once is as good as often."""
        with self._lock:
            if not self._is_ringing and not self._is_closed:
                self._is_ringing = True
                self._writer.send_bytes(b"!")

    def clear(self) -> None:
        """Back to silence; what is to be done must be looked at after this call."""
        with self._lock:
            if self._is_ringing and not self._is_closed:
                self.reader.recv_bytes()
                self._is_ringing = False

    def close(self) -> None:
        """Let go of the pipe; ringing does nothing from now on."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self.reader.close()
                self._writer.close()
