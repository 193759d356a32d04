"""HTTP/1.1 as uvicorn speaks it, with what it lacks: deadlines for heads and for clients that do not read."""

import asyncio
import sys
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from layadesk.api_server.failures import Failure

HEAD_S: Final = 10.0  # for the request line and all headers, from the first byte on
UNREAD_S: Final = 30.0  # how long a client may leave a full buffer unread
MAX_HEAD_BYTES: Final = 16 * 1024


class PatientProtocol(H11Protocol):
    """One connection. A head that drips in ends in 408, one that is too large in 431, broken HTTP in 400."""

    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Called by asyncio."""
        super().connection_made(transport)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        for timer in (self._head_timer, self._unread_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._unread_timer = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # broken HTTP after the answer had begun
            self.transport.abort()
        else:
            self._watch_head()

    def pause_writing(self) -> None:
        """Called by asyncio when the client does not read."""
        super().pause_writing()
        self._unread_timer = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Called by asyncio when it reads again."""
        super().resume_writing()
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn while it handles the error of what was received."""
        error = sys.exc_info()[1]
        status = error.error_status_hint if isinstance(error, h11.RemoteProtocolError) else 400
        if status == 431:
            self._refuse(Failure(431, "header_too_large", f"Headers may have {MAX_HEAD_BYTES} bytes."))
        else:
            self._refuse(Failure(400, "invalid_http", "That is no valid HTTP request."))

    def _watch_head(self) -> None:
        is_busy = self.cycle is not None and not self.cycle.response_complete
        if is_busy and self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        elif not is_busy and self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_S, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        is_busy = self.cycle is not None and not self.cycle.response_complete
        if not is_busy and not self.transport.is_closing():
            self._refuse(Failure(408, "request_timeout", f"The request was not there after {HEAD_S:g} s."))

    def _refuse(self, failure: Failure) -> None:
        body = failure.body
        headers: list[tuple[str, str]] = [
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        events: list[Any] = [
            h11.Response(status_code=failure.status, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ]
        try:
            for event in events:
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:
            self.transport.abort()
        else:
            self.transport.close()
