"""The one thread on which everything remote happens: an asyncio loop that starts when it is first needed."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")
STOP_S = 2.0


class RemoteLoop:
    """Any thread. Nothing here waits for a server that does not answer, not even the program's end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_over = False

    def call(self, call: Callable[[], object]) -> bool:
        """Run `call` on the loop's thread, in order; false after `stop`."""
        with self._lock:
            if self._is_over:
                return False
            self._running().call_soon_threadsafe(call)
        return True

    def run(self, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> "Future[ResultT]":
        """Run a coroutine. Its future fails with REMOTE_UNREACHABLE where the loop has ended, or ends meanwhile."""
        done: Future[ResultT] = Future()

        def start() -> None:
            task = asyncio.get_running_loop().create_task(work())
            task.add_done_callback(lambda ended: _settle(ended, done))

        if not self.call(start):
            done.set_exception(_over())
        return done

    def stop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """End all that runs, then do the `last` thing on the loop's thread; blocks for a moment."""
        with self._lock:
            was_over, self._is_over = self._is_over, True
            loop, thread = self._loop, self._thread
            if was_over or loop is None or thread is None:
                return
            ending = asyncio.run_coroutine_threadsafe(_wind_up(last), loop)
            ending.add_done_callback(lambda _: loop.call_soon_threadsafe(loop.stop))
        thread.join(STOP_S)

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = _Loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="remote-client", daemon=True)
            self._thread.start()
        return self._loop


class _Loop(asyncio.SelectorEventLoop):
    """Looks names up on daemon threads: those of asyncio would hold the program's end up until the network says no."""

    async def getaddrinfo(self, host: Any, port: Any, **hints: Any) -> Any:
        return await in_daemon(lambda: socket.getaddrinfo(host, port, **hints))


async def in_daemon(call: Callable[[], ResultT]) -> ResultT:
    """What `call` gives or raises; it blocks a thread of its own, that nobody waits for at the end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[ResultT] = loop.create_future()

    def settle(result: ResultT | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type] # None is a result too

    def run() -> None:
        try:
            result, error = call(), None
        except Exception as caught:  # noqa: BLE001 - whoever waits gets it
            result, error = None, caught
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:  # the loop is closed
            log.debug("nobody waits any more")

    threading.Thread(target=run, name="remote-blocking", daemon=True).start()
    return await done


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _wind_up(last: Callable[[], Coroutine[Any, Any, None]]) -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await last()


def _over() -> LayaDeskError:
    return fail(ErrorCode.REMOTE_UNREACHABLE, detail="stopping")


def _settle(ended: "asyncio.Task[ResultT]", done: "Future[ResultT]") -> None:
    if ended.cancelled():
        done.set_exception(_over())
    elif (error := ended.exception()) is not None:
        done.set_exception(error)
    else:
        done.set_result(ended.result())
