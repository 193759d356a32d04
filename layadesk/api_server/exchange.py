"""One HTTP request's answer: whole or as it is made, errors in shape."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from layadesk.api_server.answers import Answer, ClientGone, OpenAnswers, while_connected
from layadesk.api_server.failures import Failure, failure_of
from layadesk.api_server.gate import Note, note_of
from layadesk.api_server.made import Made
from layadesk.api_server.shapes import Shape
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.protocol.events import Failed, Finished, PromptBuilt, TextDelta, ThinkingDelta
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder

log = logging.getLogger(__name__)

HOLD_S: Final = 10.0  # how long the status waits for what may still go wrong: routing, loading, the prompt
BEAT_S: Final = 15.0  # so often an open stream shows that it lives
CLIENT_GONE: Final = 499  # nobody sees it but the log

Handler = Callable[[Request], Awaitable[Response]]


def guarded(path: str, handler: Handler) -> Handler:
    """`handler` of the route `path`: its failures are answers; what was not foreseen is 500 and its kind in the log."""

    async def run(request: Request) -> Response:
        note = note_of(request.scope)
        note.path = path
        try:
            return await handler(request)
        except ClientGone:
            return Response(status_code=CLIENT_GONE)
        except LayaDeskError as error:
            failure = failure_of(error.report)
        except Failure as error:
            failure = error
        except Exception as error:  # noqa: BLE001  # one request's failure is its own
            log.error("a request to %s failed: %s", path, type(error).__name__)  # noqa: TRY400  # it may quote it
            failure = failure_of(ErrorReport(ErrorCode.INTERNAL))
        note.code = failure.code
        return Response(failure.body, failure.status, failure.headers, "application/json")

    return run


class Exchange:
    """Has orders answered and brings the answers to their clients. Loop thread."""

    def __init__(self, open_answers: OpenAnswers) -> None:
        self._open = open_answers

    async def respond(
        self, request: Request, order: AnswerOrder, shape: Shape, *, model: str, stream: bool
    ) -> Response:
        """The answer to `order`. Raises Failure for one that failed before it was begun, and ClientGone."""
        made = Made(order.request_id, model)
        answer = self._open.begin(order)
        try:
            if not stream:
                body = await while_connected(request.receive, self._whole(answer, made, shape))
                return Response(body, 200, made.headers, "application/json")
            frames = self._frames(answer, made, shape)
            first = await while_connected(request.receive, _first_of(frames))
            return _EventStream(made, first, frames)
        finally:
            write_note(note_of(request.scope), made)

    async def _whole(self, answer: Answer, made: Made, shape: Shape) -> bytes:
        """The JSON of the whole answer."""
        async with answer:
            while not answer.is_over:
                made.take(await answer.next())
        self._check(made)
        return json.dumps(shape.whole(made), ensure_ascii=False).encode()

    async def _frames(self, answer: Answer, made: Made, shape: Shape) -> AsyncGenerator[bytes, None]:
        """Server-sent events. The first comes when it is clear that the answer has begun, or has not failed so far."""
        async with answer:
            event = await _until_begun(answer, made)
            self._check(made)
            yield shape.opening(made)
            while not answer.is_over:
                yield b": still here\n\n" if event is None else shape.delta(made, event)
                event = await answer.next(BEAT_S)
                made.take(event)
            failure = self._failure(made)
            yield shape.closing(made) if failure is None else shape.failed(made, failure)

    def _check(self, made: Made) -> None:
        failure = self._failure(made)
        if failure is not None:
            failure.headers.update(made.headers)
            raise failure

    def _failure(self, made: Made) -> Failure | None:
        return made.stopped if made.error is None else self._open.failure_of(made.error, expert=made.model)


async def _first_of(frames: AsyncGenerator[bytes, None]) -> bytes:
    return await anext(frames)


async def _until_begun(answer: Answer, made: Made) -> AnswerEvent | None:
    """The first event after which nothing that has a status of its own can go wrong; None after HOLD_S without it."""
    until = time.monotonic() + HOLD_S
    while True:
        event = await answer.next(max(0.0, until - time.monotonic()))
        made.take(event)
        if event is None or isinstance(event, PromptBuilt | TextDelta | ThinkingDelta | Finished | Failed):
            return event


def write_note(note: Note, made: Made) -> None:
    """What the log will say of an answer."""
    note.expert = None if made.route is None else made.route.expert
    note.n_prompt, note.n_decoded = made.n_prompt, made.n_decoded
    if made.error is not None:
        note.code = note.code or str(made.error.code)
    elif made.stopped is not None and note.status != CLIENT_GONE:  # also in a stream, whose status was 200 long ago
        note.code = note.code or made.stopped.code


class _EventStream(Response):
    """Server-sent events; the answer is cancelled when the client goes."""

    def __init__(self, made: Made, first: bytes, frames: AsyncGenerator[bytes, None]) -> None:
        self._made = made
        self._first = first
        self._frames = frames
        super().__init__(None, 200, made.headers, "text/event-stream")
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Called by Starlette."""
        note = note_of(scope)
        try:
            await while_connected(receive, self._pump(send))
        except ClientGone:
            note.status = CLIENT_GONE
        except Exception as error:  # noqa: BLE001  # the connection is closed in mid-answer, which the client sees
            log.error("a stream failed: %s", type(error).__name__)  # noqa: TRY400  # its words may quote the answer
            note.code = str(ErrorCode.INTERNAL)
        finally:
            await self._frames.aclose()
            write_note(note, self._made)

    async def _pump(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self._first, "more_body": True})
        async for piece in self._frames:
            if piece:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0)  # neither line waits where much is ready, and nobody would see the client go
        await send({"type": "http.response.body", "body": b""})
