"""The app's end of the pipe to one child: receiving on the client thread, sending on a thread of its own.

A writer thread, and not sends from the caller or the client thread: a full pipe must never hold up the window, nor the
reading of what the child still says, and a write to a pipe cannot be given a time limit on Windows.
"""

import os
import queue
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from layadesk.protocol.channel import Channel
from layadesk.workers.child_process import ChildProcess

CommandT = TypeVar("CommandT")
EventT = TypeVar("EventT")


class WorkerLine(Generic[CommandT, EventT]):
    """One line to one child process. All methods belong to the client thread; the writer thread is inside.

    `event_type` is the union of what this child may say.
    """

    def __init__(
        self,
        child: ChildProcess,
        event_type: Any,
        *,
        name: str,
        half_frame_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.connection = child.connection
        self._channel: Channel[CommandT, EventT] = Channel(child.connection, event_type)
        self._clock = clock
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._busy_since: float | None = None
        limit_reads(child.connection.fileno(), half_frame_s)
        self._writer = threading.Thread(target=self._write_all, name=f"{name}-writer", daemon=True)
        self._writer.start()

    def send(self, command: CommandT) -> None:
        """Queue one command. Raises BAD_PARAMETER for one that cannot be sent; a dead child is not told from here."""
        self._frames.put(self._channel.encode(command))

    def receive(self) -> EventT:
        """The next event, of which at least a beginning must be there.

        Raises EOFError or OSError at the end of the line, BlockingIOError when the child stopped in mid-message, and
        PROTOCOL_MISMATCH for what is no message.
        """
        return self._channel.receive()

    @property
    def busy_since(self) -> float | None:
        """When the write began that is still going on; None when there is none."""
        return self._busy_since

    def close(self) -> None:
        """Let go of the pipe. The child must be dead (that is what ends a write to a full pipe)."""
        self._frames.put(None)
        self._writer.join(1.0)
        if not self._writer.is_alive():  # else the descriptor would be reused under a thread that still writes
            self._channel.close()

    def _write_all(self) -> None:
        while (frame := self._frames.get()) is not None:
            self._busy_since = self._clock()
            try:
                self._channel.send_frame(frame)
            except (OSError, ValueError):
                return  # the child is gone: the client thread sees that by itself
            finally:
                self._busy_since = None


def limit_reads(descriptor: int, seconds: float) -> None:
    """Make a read of the socket `descriptor` fail with BlockingIOError when nothing comes for `seconds`.

    A child that is stopped in the middle of a large message would otherwise block the client thread for ever. Windows'
    pipes carry whole messages and need none of this.
    """
    if sys.platform != "win32":
        with socket.socket(fileno=os.dup(descriptor)) as line:  # the option stays with the socket, not with the number
            whole, part = divmod(round(seconds * 1e6), 1_000_000)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", whole, part))
