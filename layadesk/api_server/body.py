"""The body of a request: how large it may be, how long it may take, and how much all of them together may hold."""

import asyncio
from typing import Final

from starlette.requests import Request

from layadesk.api_server.answers import ClientGone
from layadesk.api_server.failures import Failure
from layadesk.api_server.parts import FILE_MARK

MAX_BODY_BYTES: Final = 2 * 2**20
MAX_FILES_BODY_BYTES: Final = 20 * 2**20
MAX_UNREAD_BYTES: Final = 32 * 2**20
MAX_ALL_BYTES: Final = 256 * 2**20  # of all requests that are open; what is made of a body takes some times as much
BODY_S: Final = 15.0
_CLOSE: Final = {"connection": "close"}  # the rest of the body is not waited for


class BodyRoom:
    """What the bodies of all open requests hold together. Loop thread."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def share(self) -> "BodyShare":
        """The part of one request."""
        return BodyShare(self)


class BodyShare:
    """What one request holds of the room, until it is given back."""

    def __init__(self, room: BodyRoom) -> None:
        self._room = room
        self._n_bytes = 0

    def take(self, n_bytes: int) -> bool:
        """Hold so many more; False, and nothing is held, where the room is full."""
        if self._room.n_bytes + n_bytes > MAX_ALL_BYTES:
            self.give_back()
            return False
        self._room.n_bytes += n_bytes
        self._n_bytes += n_bytes
        return True

    def give_back(self) -> None:
        """The request is over; harmless when repeated."""
        self._room.n_bytes -= self._n_bytes
        self._n_bytes = 0


async def read_message_body(request: Request) -> bytes:
    """As `read_body`, and larger where files come with it."""
    body = await read_body(request, MAX_FILES_BODY_BYTES)
    if len(body) > MAX_BODY_BYTES and FILE_MARK not in body:
        raise _too_large(MAX_BODY_BYTES)
    return body


async def read_body(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body. 413 where it is too large, 408 where it drips, 429 where all are too large; raises ClientGone.

    One that is a little too large is read to its end, because many clients listen only when all is sent.
    """
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (int(length) > MAX_UNREAD_BYTES or (int(length) > max_bytes and _asks(request))):
        raise _too_large(max_bytes)
    try:
        async with asyncio.timeout(BODY_S):
            return await _read(request, max_bytes)
    except TimeoutError as error:
        words = f"The body was not there after {BODY_S:g} s."
        raise Failure(408, "request_timeout", words, headers=_CLOSE) from error


async def _read(request: Request, max_bytes: int) -> bytes:
    share: BodyShare = request.scope["state"]["body"]
    refusal: Failure | None = None
    body, n_bytes = bytearray(), 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        piece = message.get("body", b"")
        n_bytes += len(piece)
        is_last = not message.get("more_body", False)
        if n_bytes > max_bytes:
            refusal = _too_large(max_bytes)
        elif refusal is None and not share.take(len(piece)):
            refusal = _no_room()
        if refusal is None:
            body += piece
        else:
            body.clear()
        if refusal is not None and (is_last or n_bytes > MAX_UNREAD_BYTES):
            raise refusal
        if is_last:
            return bytes(body)


def _too_large(n_bytes: int) -> Failure:
    return Failure(413, "request_too_large", f"The body may have {n_bytes} bytes.", headers=_CLOSE)


def _no_room() -> Failure:
    words = "Other requests have sent so much that there is no room for this one. Try again in a moment."
    return Failure(429, "queue_full", words, headers={**_CLOSE, "retry-after": "2"})


def _asks(request: Request) -> bool:
    """Whether the client waits for leave to send its body."""
    return "expect" in request.headers
