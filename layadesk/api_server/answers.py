"""The bridge from the workers' threads to the server's asyncio loop: one running answer as a row of events.

Every event of a request goes through `call_soon_threadsafe` into that request's own queue, so none is lost, doubled,
out of order or given to another request. Whoever reads it closes it; closing early cancels in the engine.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from types import TracebackType
from typing import Any, Final, TypeVar

from layadesk.api_server.failures import Failure, failure_of
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.protocol.events import Failed, Finished
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder
from layadesk.usecases.answer_request import AnswerRequest

ResultT = TypeVar("ResultT")

Receive = Callable[[], Awaitable[Any]]
MAX_OPEN: Final = 96  # of 128 that the engine lets wait, so that the window always finds room


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class OpenAnswers:
    """Begins answers and counts those that are open: a flood is refused here and leaves room in the engine's queue.

    Loop thread, but for `cancel_all`.
    """

    def __init__(self, answers: AnswerRequest) -> None:
        self._answers = answers
        self._n_max = MAX_OPEN
        self._began: dict[str, float] = {}
        self._mean_s = 2.0

    def begin(self, order: AnswerOrder) -> "Answer":
        """An answer to be used with `async with`. Raises Failure 429 where too many are open."""
        if len(self._began) >= self._n_max:
            full = ErrorReport(ErrorCode.QUEUE_FULL, {"n_waiting": len(self._began), "maximum": self._n_max})
            raise self.failure_of(full)
        self._began[order.request_id] = time.monotonic()
        return Answer(self._answers, order, self._ended)

    def failure_of(self, report: ErrorReport, *, expert: str | None = None) -> Failure:
        """With the time after which a place is likely to be free."""
        return failure_of(report, expert=expert, retry_after_s=max(1, min(60, round(self._mean_s))))

    def cancel_all(self) -> None:
        """End them all; each tells its client."""
        for request_id in list(self._began):
            self._answers.cancel(request_id)

    def _ended(self, request_id: str) -> None:
        seconds = time.monotonic() - self._began.pop(request_id)
        self._mean_s += 0.2 * (seconds - self._mean_s)


class Answer:
    """One answer; loop thread. `async with` it, and read events until the one that ends it."""

    def __init__(self, answers: AnswerRequest, order: AnswerOrder, ended: Callable[[str], None]) -> None:
        self._answers = answers
        self._order = order
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[AnswerEvent] = asyncio.Queue()
        self._is_over = False

    async def __aenter__(self) -> "Answer":
        """Start it. Raises EMPTY_PROMPT."""
        try:
            self._answers.start(self._order, self._on_event)
        except BaseException:
            self._ended(self._order.request_id)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel it in the engine where it has not ended."""
        self._ended(self._order.request_id)
        if not self._is_over:
            self._answers.cancel(self._order.request_id)

    async def next(self, seconds: float | None = None) -> AnswerEvent | None:
        """The next event, None when there was none for so long; none comes after Finished or Failed."""
        try:
            async with asyncio.timeout(seconds):
                event = await self._events.get()
        except TimeoutError:
            return None
        self._is_over = isinstance(event, Finished | Failed)
        return event

    @property
    def is_over(self) -> bool:
        """Whether the event that ends it was read."""
        return self._is_over

    def _on_event(self, event: AnswerEvent) -> None:
        """On a worker's thread."""
        with suppress(RuntimeError):  # the loop has ended with the server, and nobody waits
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)


async def while_connected(receive: Receive, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """The result of `work`, which is ended early when the client goes. Raises ClientGone."""
    gone = asyncio.ensure_future(_until_gone(receive))
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait((gone, task), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientGone
        return task.result()
    finally:
        gone.cancel()
        task.cancel()
        await asyncio.gather(gone, task, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
