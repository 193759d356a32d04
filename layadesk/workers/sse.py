"""Server-sent events out of bytes that may be hostile: lines of any length, any bytes, any ends."""

import re
from typing import Final

from layadesk.domain.errors import ErrorCode, fail

MAX_EVENT: Final = 1 << 20
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class SseReader:
    """Bytes in, the data of whole events out. Holds at most MAX_EVENT bytes; invalid UTF-8 becomes U+FFFD."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._data: list[bytes] = []
        self._n_data = 0
        self._skips_newline = False

    def feed(self, chunk: bytes) -> list[str]:
        """The events that `chunk` completes. Raises REMOTE_BAD_ANSWER for one that does not end."""
        if self._skips_newline and chunk[:1] == b"\n":  # the other half of a \r\n
            chunk = chunk[1:]
        self._skips_newline = chunk.endswith(b"\r")
        self._buffer += chunk
        events: list[str] = []
        begin = 0
        for end in _LINE_END.finditer(self._buffer, self._searched):
            self._line(bytes(self._buffer[begin : end.start()]), events)
            begin = end.end()
        del self._buffer[:begin]
        self._searched = len(self._buffer)
        if len(self._buffer) + self._n_data > MAX_EVENT:
            raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail=f"an event of more than {MAX_EVENT} bytes")
        return events

    def end(self) -> list[str]:
        """What is left when the connection has ended; some servers send no last empty line."""
        events: list[str] = []
        for line in (bytes(self._buffer), b""):
            self._line(line, events)
        self._buffer.clear()
        return events

    def _line(self, line: bytes, events: list[str]) -> None:
        if not line:
            if self._data:
                events.append(b"\n".join(self._data).decode("utf-8", "replace"))
            self._data, self._n_data = [], 0
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._n_data += len(line)
