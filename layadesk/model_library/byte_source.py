"""Where the bytes of a GGUF come from: a file that is here, or a server that hands out parts of one.

The reader of headers asks for a window at a place and trusts no number in it; a source adds its own limits, so that
neither a hostile file nor a hostile server costs more than a bounded amount of time, traffic and memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail

FILE_WINDOW_BYTES: Final = 1 << 20
RANGE_WINDOW_BYTES: Final = 1 << 22  # most headers have 2 to 8 MB: one to three requests
MAX_FETCHED_BYTES: Final = 1 << 26  # of one file; the largest vocabularies come to 16 MB


class ByteSource(Protocol):
    """`name` is how errors call it: a path or an address. `window_bytes` is what one read should best ask for."""

    @property
    def name(self) -> str: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def window_bytes(self) -> int: ...

    def read_at(self, offset: int, n: int) -> bytes:
        """At most `n` bytes from `offset` on; fewer where it ends sooner."""


class FileSource:
    """An open file, which the caller closes. It is read, never mapped: one that shrinks while mapped would kill us."""

    def __init__(self, file: BinaryIO, name: str, size_bytes: int) -> None:
        self._file = file
        self.name = name
        self.size_bytes = size_bytes
        self.window_bytes = FILE_WINDOW_BYTES

    def read_at(self, offset: int, n: int) -> bytes:
        """See ByteSource. Raises OSError."""
        self._file.seek(offset)
        return self._file.read(n)


@dataclass(frozen=True, slots=True)
class RangeReply:
    """What a server answered: `body` from `offset` on, of `total_bytes`; `version` (an ETag) names the file's state."""

    offset: int
    body: bytes
    total_bytes: int
    version: str | None = None


Fetch = Callable[[int, int], RangeReply]  # (offset, at most so many bytes); raises REMOTE_FILE_UNREADABLE


class RangeSource:
    """A remote file, read in ranges by `fetch`. The first range is fetched at once, since it tells the size.

    Raises REMOTE_FILE_UNREADABLE where a reply is not what was asked for, contradicts an earlier one, or where all
    replies together would exceed `MAX_FETCHED_BYTES`. Blocks; any one thread.
    """

    def __init__(self, name: str, fetch: Fetch) -> None:
        self.name = name
        self.window_bytes = RANGE_WINDOW_BYTES
        self._fetch = fetch
        self._fetched_bytes = 0
        self._first = fetch(0, self.window_bytes)
        self.size_bytes = self._first.total_bytes
        self._check(self._first, 0, self.window_bytes)

    def read_at(self, offset: int, n: int) -> bytes:
        """See ByteSource."""
        end = min(offset + n, self.size_bytes)
        if end <= offset:
            return b""
        if end <= len(self._first.body):
            return self._first.body[offset:end]
        if self._fetched_bytes + end - offset > MAX_FETCHED_BYTES:
            raise self._failed("too_much", limit_bytes=MAX_FETCHED_BYTES)
        reply = self._fetch(offset, end - offset)
        self._check(reply, offset, end - offset)
        return reply.body

    def _check(self, reply: RangeReply, offset: int, n: int) -> None:
        self._fetched_bytes += len(reply.body)
        if (reply.total_bytes, reply.version) != (self.size_bytes, self._first.version):
            raise self._failed("changed")
        if reply.offset != offset or len(reply.body) != min(n, self.size_bytes - offset):
            raise self._failed("wrong_range", offset=reply.offset, n_bytes=len(reply.body))

    def _failed(self, reason: str, **facts: Fact) -> LayaDeskError:
        return fail(ErrorCode.REMOTE_FILE_UNREADABLE, path=self.name, reason=reason, **facts)
