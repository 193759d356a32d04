"""A child that is a thread: dies and answers as a process does, but starts in no time, for tests of many lives."""

import contextlib
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.channel import Channel
from layadesk.protocol.commands import Cancel, EngineCommand, Generate, Ping, Shutdown
from layadesk.protocol.events import EngineEvent, EngineReady, Finished, Pong, PromptBuilt, TextDelta
from layadesk.workers.child_process import ChildProcess


class ThreadProcess:
    """Stands in for `multiprocessing.Process`: the sentinel fires when it was killed or its target returned."""

    def __init__(self, target: "Callable[[Connection[Any, Any]], None]", theirs: "Connection[Any, Any]") -> None:
        self.exitcode: int | None = None
        self.sentinel, self._alive = os.pipe()
        self._target = target
        self._theirs = theirs
        self._lock = threading.Lock()
        self._is_closed = False
        self.thread = threading.Thread(target=self._run, name="fake-child", daemon=True)

    def kill(self) -> None:
        self._end(-9)

    def terminate(self) -> None:
        self._end(-15)

    def die(self, exit_code: int) -> None:
        """End as if by itself, in the middle of whatever it does."""
        self._end(exit_code)

    def close(self) -> None:
        if self.exitcode is None:
            raise ValueError("still running")
        if not self._is_closed:
            self._is_closed = True
            os.close(self.sentinel)

    def _run(self) -> None:
        with contextlib.suppress(OSError, EOFError):  # its pipe ends when it is killed
            self._target(self._theirs)
        self._end(0)
        self._theirs.close()

    def _end(self, exit_code: int) -> None:
        with self._lock:
            if self.exitcode is None:
                self.exitcode = exit_code
                self._hang_up()
                os.close(self._alive)

    def _hang_up(self) -> None:
        # Its thread may be in a call on this end: wake it by ending the line, and leave the closing to it.
        with socket.socket(fileno=os.dup(self._theirs.fileno())) as line, contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)


def quick_engine(connection: "Connection[Any, Any]") -> None:
    """An engine whose requests make as many tokens as they may, or are endless; it dies at the model `deadly`."""
    channel: Channel[EngineEvent, EngineCommand] = Channel(connection, EngineCommand)
    channel.send(EngineReady(PROTOCOL_VERSION, os.getpid(), "thread", ("CPU",), False, 0.0))
    streams: dict[str, list[str]] = {}
    limits: dict[str, int | None] = {}
    while True:
        while connection.poll(0.0 if streams else None):
            match channel.receive():
                case Generate(request_id, "deadly"):
                    channel.send(PromptBuilt(request_id, 1, 0, 0, 64, MemoryUse()))
                    channel.send(TextDelta(request_id, "last words", 1))
                    return
                case Generate(request_id, _, _, sampling):
                    channel.send(PromptBuilt(request_id, 1, 0, 0, 64, MemoryUse()))
                    streams[request_id], limits[request_id] = [], sampling.max_tokens
                case Cancel(request_id) if request_id in streams:
                    text = "".join(streams.pop(request_id))
                    channel.send(Finished(request_id, text, FinishReason.CANCELLED, Timings()))
                case Ping(n):
                    channel.send(Pong(n, "decode", n))
                case Shutdown():
                    return
                case _:
                    pass
        for request_id, pieces in list(streams.items()):
            pieces.append(f"{len(pieces)} ")
            channel.send(TextDelta(request_id, pieces[-1], len(pieces)))
            if len(pieces) == limits[request_id]:
                text = "".join(streams.pop(request_id))
                channel.send(Finished(request_id, text, FinishReason.LENGTH, Timings()))
        time.sleep(0.0005)


def start_thread_child(target: "Callable[[Connection[Any, Any]], None]") -> ChildProcess:
    """Run `target(connection)` as if it were a child process; `process` of the result is a `ThreadProcess`."""
    ours, theirs = multiprocessing.Pipe(duplex=True)
    process = ThreadProcess(target, theirs)
    process.thread.start()
    return ChildProcess(process, ours, os.getpid())
