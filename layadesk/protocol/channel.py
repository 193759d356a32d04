"""Typed messages over one end of a duplex pipe. A wrong type or an unknown tag is refused with its path."""

import threading
from multiprocessing.connection import Connection
from typing import Any, Generic, TypeVar

import msgspec

from layadesk.domain.errors import ErrorCode, fail

MAX_FRAME_BYTES = 32 * 2**20

SentT = TypeVar("SentT")
ReceivedT = TypeVar("ReceivedT")


class Channel(Generic[SentT, ReceivedT]):
    """One end of the line. `send` may be called from any thread; `receive` belongs to one thread.

    `received_type` is the union of messages this end accepts, for instance `EngineCommand`.
    """

    def __init__(self, connection: "Connection[Any, Any]", received_type: Any) -> None:
        self.connection = connection
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder: msgspec.msgpack.Decoder[ReceivedT] = msgspec.msgpack.Decoder(received_type)
        self._lock = threading.Lock()

    def encode(self, message: SentT) -> bytes:
        """The frame of one message. Raises BAD_PARAMETER for what is too large or cannot be written, as half a
        surrogate pair in a text; nothing has been sent then."""
        try:
            frame = self._encoder.encode(message)
        except (UnicodeEncodeError, TypeError, OverflowError) as error:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="message", value=type(error).__name__) from error
        if len(frame) > MAX_FRAME_BYTES:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="message size", value=len(frame), maximum=MAX_FRAME_BYTES)
        return frame

    def send_frame(self, frame: bytes) -> None:
        """Write what `encode` made; blocks while the pipe is full. Raises OSError when the other end is gone."""
        with self._lock:
            self.connection.send_bytes(frame)

    def send(self, message: SentT) -> None:
        """Write one message; `encode` and `send_frame` in one."""
        self.send_frame(self.encode(message))

    def receive(self) -> ReceivedT:
        """The next message; blocks. Raises EOFError or OSError at the end, PROTOCOL_MISMATCH for what is no message."""
        frame = self.connection.recv_bytes(MAX_FRAME_BYTES)
        try:
            return self._decoder.decode(frame)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:  # a wrong type is a DecodeError too
            raise fail(ErrorCode.PROTOCOL_MISMATCH, detail=str(error)) from error

    def close(self) -> None:
        """Close this end; the other one sees EOF."""
        self.connection.close()
