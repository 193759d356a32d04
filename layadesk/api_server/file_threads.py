"""Where files are read: a hostile one may take for ever, and neither the loop nor another request may wait for it."""

import asyncio
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from layadesk.api_server.failures import Failure
from layadesk.api_server.parts import FILE_MARK

N_AT_ONCE: Final = 2
FILES_S: Final = 30.0
ResultT = TypeVar("ResultT")


class FileThreads:
    """Loop thread. Threads of their own, so that the program can end while one is still at work."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(N_AT_ONCE)

    async def run(self, body: bytes, read: Callable[[], ResultT]) -> ResultT:
        """What `read` gives or raises for `body`, here and now where no file is in it.

        422 where files take too long; a thread that goes on keeps its place.
        """
        if FILE_MARK not in body:
            return read()
        try:
            async with asyncio.timeout(FILES_S):
                await self._free.acquire()
                return await self._start(read)
        except TimeoutError as error:
            raise Failure(422, "file_timeout", f"The files could not be read within {FILES_S:g} s.") from error

    def _start(self, read: Callable[[], ResultT]) -> "asyncio.Future[ResultT]":
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[ResultT] = loop.create_future()

        def end(result: ResultT | None, error: Exception | None) -> None:
            self._free.release()
            if ended.done():  # nobody waits any more
                return
            if error is not None:
                ended.set_exception(error)
            else:
                ended.set_result(result)  # type: ignore[arg-type]  # there is one where there is no error

        def work() -> None:
            outcome: tuple[ResultT | None, Exception | None]
            try:
                outcome = (read(), None)
            except Exception as error:  # noqa: BLE001  # it belongs to who asked
                outcome = (None, error)
            if not loop.is_closed():
                loop.call_soon_threadsafe(end, *outcome)

        threading.Thread(target=work, name="api-files", daemon=True).start()
        return ended
