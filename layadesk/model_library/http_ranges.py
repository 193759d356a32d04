"""Parts of a file from an HTTP server, without an account: plain GET requests with `Range`.

Nothing that the server says is taken on trust: the range it names must be the one asked for, no more is read than was
asked for, however long it goes on sending, redirects are few and never lead from https to http, and each call ends
after `DEADLINE_S`, however slowly the bytes come.
"""

import http.client
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast
from urllib.parse import urljoin, urlsplit

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail
from layadesk.model_library.byte_source import RangeReply

DEADLINE_S: Final = 30.0
SILENCE_S: Final = 10.0
MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)
_CHUNK_BYTES: Final = 1 << 16


class HttpRanges:
    """A `Fetch` for one address. Proxies are those of the environment. Blocks for about `deadline_s` at most."""

    def __init__(self, address: str, *, deadline_s: float = DEADLINE_S) -> None:
        self._address = address
        self._deadline_s = deadline_s
        self.name = shown_address(address)

    def __call__(self, offset: int, n: int) -> RangeReply:
        """`n` bytes from `offset` on, fewer at the end. Raises REMOTE_FILE_UNREADABLE."""
        watch = _Watch(self._deadline_s)
        address = self._address
        with watch:
            try:
                for _ in range(MAX_REDIRECTS + 1):
                    further = None
                    try:
                        with watch.open(address, {"Range": f"bytes={offset}-{offset + n - 1}"}) as response:
                            return self._read(response, n, watch)
                    except urllib.error.HTTPError as error:
                        further = self._further(address, error)
                    address = further
            except (OSError, http.client.HTTPException, ValueError) as error:
                is_late = watch.is_over or isinstance(_cause(error), TimeoutError)
                raise self._failed("timeout" if is_late else "connection", detail=_plain(error)) from error
        raise self._failed("redirects")

    def _further(self, address: str, error: urllib.error.HTTPError) -> str:
        """Where a redirect leads; its body, which may have no end, is not read."""
        error.close()
        location = error.headers.get("Location")
        if error.code not in _REDIRECTS or location is None:
            raise self._failed("status", detail=f"HTTP {error.code}")
        further = urljoin(address, location)
        if urlsplit(address).scheme == "https" and urlsplit(further).scheme != "https":
            raise self._failed("redirects")
        return further

    def _read(self, response: Any, n: int, watch: "_Watch") -> RangeReply:
        headers: Mapping[str, str] = response.headers
        if watch.is_over:  # headers that were cut off read as if they were whole
            raise self._failed("timeout")
        if response.status != 206:
            raise self._failed("no_ranges", detail=f"HTTP {response.status}")
        if headers.get("Content-Encoding", "identity") != "identity":
            raise self._failed("wrong_range")
        match = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
        if match is None:
            raise self._failed("wrong_range")
        first, last, total = (int(group) for group in match.groups())
        n_bytes = last - first + 1
        if not 0 < n_bytes <= n or last >= total:
            raise self._failed("wrong_range", offset=first, n_bytes=n_bytes)
        body = bytearray()
        while len(body) < n_bytes:
            piece = response.read1(min(_CHUNK_BYTES, n_bytes - len(body)))
            if not piece:
                raise self._failed("connection", n_bytes=len(body))
            if watch.is_over:
                raise self._failed("timeout")
            body += piece
        return RangeReply(first, bytes(body), total, headers.get("ETag"))

    def _failed(self, reason: str, **facts: Fact) -> LayaDeskError:
        return fail(ErrorCode.REMOTE_FILE_UNREADABLE, path=self.name, reason=reason, **facts)


def shown_address(address: str) -> str:
    """An address without what may be secret in it: user, password, query."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address.partition("?")[0]
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _cause(error: Exception) -> object:
    return error.reason if isinstance(error, urllib.error.URLError) else error


def _plain(error: Exception) -> str:
    cause = _cause(error)
    return f"{type(cause).__name__}: {cause}"[:200]


class _Watch:
    """Ends a call when its time is over. A socket's own time-out starts anew with each piece, so a server that sends a
    byte now and then would never meet it; while headers are awaited, only shutting the connection helps."""

    def __init__(self, deadline_s: float) -> None:
        self._deadline_s = deadline_s
        self._until = time.monotonic() + deadline_s
        self._connections: list[http.client.HTTPConnection] = []
        self._timer = threading.Timer(deadline_s, self._shut)
        self._timer.daemon = True

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def open(self, address: str, headers: dict[str, str]) -> Any:
        """The response. HTTPError for any status but 2xx; ValueError for what is neither http nor https."""
        request = urllib.request.Request(address, headers=headers | {"Accept-Encoding": "identity"})
        opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            _Http(self._connections),
            _Https(self._connections),
            urllib.request.HTTPErrorProcessor(),
            urllib.request.HTTPDefaultErrorHandler(),
        ):
            opener.add_handler(handler)
        response = opener.open(request, timeout=min(SILENCE_S, self._deadline_s))
        if response is None:
            raise ValueError(f"neither http nor https: {request.type}")
        return response

    def _shut(self) -> None:
        for connection in list(self._connections):
            if connection.sock is not None:
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)


class _Http(urllib.request.HTTPHandler):
    def __init__(self, connections: list[http.client.HTTPConnection]) -> None:
        super().__init__()
        self._connections = connections

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_kept(self._connections, http.client.HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, connections: list[http.client.HTTPConnection]) -> None:
        super().__init__()
        self._connections = connections

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_kept(self._connections, http.client.HTTPSConnection), req)


def _kept(connections: list[http.client.HTTPConnection], kind: type[http.client.HTTPConnection]) -> Any:
    def make(host: str, **options: Any) -> http.client.HTTPConnection:
        connection = kind(host, **options)
        connections.append(connection)
        return connection

    return cast("Any", make)
