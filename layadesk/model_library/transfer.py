"""The bytes of one file, from a server into its `.part`, from wherever it stopped before.

206 goes on, 200 begins anew, 416 means that all is here; then the sha256 decides. Never writes more than the file has.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import httpx2

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.model_library.disk import disk_failure
from layadesk.model_library.following_hash import FollowingHash
from layadesk.model_library.partial_file import PartialFile
from layadesk.model_library.web import Stop, Token, check_status, host_of, opened, transient

OnBytes = Callable[[int], None]  # how many bytes of the file are here


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a file lies. `page` is for people; `size_bytes` None: the server is taken at its word.

    `home` is the host of the hub itself where this is a mirror of it, else empty.
    """

    url: str
    repo: str
    path: str
    page: str
    size_bytes: int | None
    sha256: str
    home: str = ""

    @property
    def facts(self) -> dict[str, str]:
        """For an error about it."""
        facts = {"repo": self.repo, "file": self.path, "page": self.page}
        return facts | {"home": self.home} if self.home else facts


class Transfer:
    """Fetches one file; one thread at a time. `stop` ends it within a moment."""

    def __init__(
        self, client: httpx2.Client, remote: Remote, part: PartialFile, token: Token | None, stop: Stop
    ) -> None:
        self._client = client
        self._remote = remote
        self._part = part
        self._token = token
        self._stop = stop
        self._size = remote.size_bytes
        self._offset = 0

    @property
    def size_bytes(self) -> int | None:
        """As known so far."""
        return self._size

    def receive(self, digest: FollowingHash, on_bytes: OnBytes) -> None:
        """One try: go on until all bytes are here. Raises Transient, Stopped, DISK_* and HUB_* errors."""
        self._offset = self._part.open()
        digest.reached(self._offset)
        if self._size is not None and self._offset > self._size:
            self._begin_anew(digest)
        on_bytes(self._offset)
        if self._offset == self._size:
            return
        with opened(self._client, self._remote.url, self._range(), self._token, self._stop) as response:
            check_status(response, self._remote.facts, self._token)
            if response.status_code == 416:
                self._on_416(response, digest)
                return
            self._on_start(response, digest)
            self._part.remember(_strong(response.headers.get("ETag")))
            self._write(response, digest, on_bytes)
        if self._size is not None and self._offset < self._size:  # the server ended early without a word
            raise transient(OSError("the connection was closed early"), self._remote.url)

    def _range(self) -> Mapping[str, str]:
        if self._offset == 0:
            return {}
        etag = self._part.identity.etag
        condition = {"If-Range": etag} if etag is not None else {}
        return {"Range": f"bytes={self._offset}-"} | condition

    def _on_416(self, response: httpx2.Response, digest: FollowingHash) -> None:
        total = _total(response)
        if self._size is None and total == self._offset:
            self._size = total
            return
        self._begin_anew(digest)
        raise transient(OSError(f"the server has {total} bytes"), self._remote.url)

    def _on_start(self, response: httpx2.Response, digest: FollowingHash) -> None:
        """Make offset and size agree with what is coming. Raises HUB_CHANGED where another file is coming."""
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise fail(ErrorCode.HUB_UNREACHABLE, host=host_of(str(response.url)), reason="compressed")
        if response.status_code == 206:
            start, total = _content_range(response)
            if start != self._offset:
                self._begin_anew(digest)
                raise transient(OSError(f"asked for byte {self._offset}, got {start}"), self._remote.url)
        else:
            total = _length(response)
            if self._offset:
                self._begin_anew(digest)
        if self._size is None:
            self._size = total
        if total is not None and total != self._size:
            raise self._changed(response, total)

    def _changed(self, response: httpx2.Response, n_bytes: int) -> LayaDeskError:
        facts = {"value": n_bytes, "expected": self._size}
        return fail(ErrorCode.HUB_CHANGED, host=host_of(str(response.url)), file=self._remote.path, **facts)

    def _begin_anew(self, digest: FollowingHash) -> None:
        try:
            self._part.path.write_bytes(b"")
        except OSError as error:
            raise disk_failure(error, self._part.path) from error
        digest.restart()
        self._offset = 0

    def _write(self, response: httpx2.Response, digest: FollowingHash, on_bytes: OnBytes) -> None:
        try:
            with self._part.path.open("rb+", buffering=0) as file:
                file.seek(self._offset)
                for piece in _pieces(response, self._remote.url, self._stop):
                    if self._size is not None and self._offset + len(piece) > self._size:
                        raise self._changed(response, self._offset + len(piece))
                    view = memoryview(piece)
                    while view:  # a disk that fills up takes a part first
                        n_written = file.write(view)
                        view = view[n_written:]
                        self._offset += n_written
                    digest.reached(self._offset)
                    on_bytes(self._offset)
                    self._stop.check()
        except OSError as error:
            raise disk_failure(error, self._part.path) from error


def _pieces(response: httpx2.Response, url: str, stop: Stop) -> Iterator[bytes]:
    iterator = response.iter_raw()
    while True:
        try:
            piece = next(iterator, None)
        except (httpx2.TransportError, httpx2.StreamError, OSError, ValueError) as error:
            stop.check()  # the socket was shut because the user said so
            raise transient(error, url) from error
        if piece is None:
            return
        yield piece


def _strong(etag: str | None) -> str | None:
    return etag if etag and not etag.startswith("W/") else None


def _length(response: httpx2.Response) -> int | None:
    value = response.headers.get("Content-Length", "")
    return int(value) if value.isdecimal() else None


def _content_range(response: httpx2.Response) -> tuple[int, int | None]:
    unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
    span, _, total = rest.partition("/")
    start = span.partition("-")[0]
    if unit != "bytes" or not start.isdecimal():
        return (-1, None)
    return (int(start), int(total) if total.isdecimal() else None)


def _total(response: httpx2.Response) -> int | None:
    total = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(total) if total.isdecimal() else None
