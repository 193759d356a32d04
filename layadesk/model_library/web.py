"""One request to a hub or a mirror: redirects are followed by hand, so that the token goes to its own host only."""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx2

from layadesk import __version__
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail

CONNECT_S = 10.0
STALL_S = 30.0
MAX_REDIRECTS = 8
USER_AGENT = f"layadesk/{__version__}"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Transient(Exception):
    """What may go away by itself. `report` is what to say where it does not; `retry_after_s` is the server's wish."""

    def __init__(self, report: ErrorReport, retry_after_s: float | None = None) -> None:
        super().__init__(str(report))
        self.report = report
        self.retry_after_s = retry_after_s


class Stopped(Exception):
    """The user paused or cancelled."""


class Stop:
    """Ends a transfer within a moment, also one that waits for bytes. Any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    def set(self) -> None:
        """Stop now."""
        self._event.set()
        with self._lock:
            if self._socket is not None:
                with suppress(OSError, ValueError):
                    self._socket.shutdown(socket.SHUT_RDWR)  # wakes who reads from it

    @property
    def is_set(self) -> bool:
        """Whether it is over."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise Stopped where it is over."""
        if self._event.is_set():
            raise Stopped

    def wait(self, seconds: float) -> None:
        """Sleep, at most until it is over. Raises Stopped."""
        if self._event.wait(seconds):
            raise Stopped

    def watch(self, connection: socket.socket | None) -> None:
        """What is being read from now; None: nothing."""
        with self._lock:
            self._socket = connection
        if connection is not None and self._event.is_set():
            self.set()


@dataclass(frozen=True, slots=True)
class Token:
    """A secret, and the one origin that may see it. `source` says where it was found, for a message."""

    secret: str
    origin: str
    source: str

    def headers(self, url: str) -> dict[str, str]:
        """What to send to that address: nothing where it is not the token's own, or not the same scheme and port."""
        return {"Authorization": f"Bearer {self.secret}"} if origin_of(url) == origin_of(self.origin) else {}


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    return (parts.scheme, (parts.hostname or "").casefold(), port)


def host_of(url: str) -> str:
    """Who answers there, with the port where it is not the usual one; never with a password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""


def make_client(proxy: str = "", *, stall_s: float = STALL_S) -> httpx2.Client:
    """A client that uses `proxy`, or else those of the environment; NO_PROXY counts for both."""
    mounts: dict[str, httpx2.BaseTransport | None] = {}
    if proxy:
        mounts["all://"] = httpx2.HTTPTransport(proxy=proxy)
        for name in ("localhost", "127.0.0.1", *_no_proxy()):
            mounts[f"all://{name}"] = None
    return httpx2.Client(
        follow_redirects=False,
        timeout=httpx2.Timeout(stall_s, connect=CONNECT_S),
        mounts=mounts,
        headers={"User-Agent": USER_AGENT, "Accept-Encoding": "identity"},
    )


def _no_proxy() -> list[str]:
    names = (os.environ.get("NO_PROXY") or os.environ.get("no_proxy") or "").split(",")
    return [f"*{name}" if name.startswith(".") else name for name in map(str.strip, names) if name]


@contextmanager
def opened(
    client: httpx2.Client, url: str, headers: Mapping[str, str], token: Token | None, stop: Stop
) -> Iterator[httpx2.Response]:
    """The last response of a chain of redirects, its body unread. Raises Transient, Stopped, HUB_UNREACHABLE."""
    response: httpx2.Response | None = None
    try:
        for _ in range(MAX_REDIRECTS):
            own = token.headers(url) if token is not None else {}
            response = _send(client, client.build_request("GET", url, headers={**headers, **own}), stop)
            location = response.headers.get("Location")
            if response.status_code not in _REDIRECTS or location is None:
                stop.watch(_socket_of(response))
                yield response
                return
            response.close()
            url = _next_address(url, location)
        raise fail(ErrorCode.HUB_UNREACHABLE, host=host_of(url), reason="too many redirects")
    finally:
        stop.watch(None)
        if response is not None:
            response.close()


def _send(client: httpx2.Client, request: httpx2.Request, stop: Stop) -> httpx2.Response:
    stop.check()
    try:
        return client.send(request, stream=True)
    except httpx2.UnsupportedProtocol as error:
        raise fail(ErrorCode.HUB_UNREACHABLE, host=host_of(str(request.url)), reason=str(error)[:200]) from error
    except (httpx2.TransportError, OSError) as error:
        stop.check()
        raise transient(error, str(request.url)) from error


def transient(error: Exception, url: str) -> Transient:
    """A broken or silent connection."""
    reason = f"{type(error).__name__}: {error}"[:200] if str(error) else type(error).__name__
    return Transient(ErrorReport(ErrorCode.HUB_UNREACHABLE, {"host": host_of(url), "reason": reason}))


def _next_address(url: str, location: str) -> str:
    target = urljoin(url, location)
    scheme = urlsplit(target).scheme
    if scheme not in ("http", "https") or (scheme == "http" and urlsplit(url).scheme == "https"):
        raise fail(ErrorCode.HUB_UNREACHABLE, host=host_of(url), reason=f"redirect to {scheme}")
    return target


def _socket_of(response: httpx2.Response) -> socket.socket | None:
    stream = response.extensions.get("network_stream")
    found = None if stream is None else stream.get_extra_info("socket")
    return found if isinstance(found, socket.socket) else None


def check_status(response: httpx2.Response, facts: Mapping[str, str], token: Token | None) -> None:
    """Pass 200, 206 and 416. Raises Transient for what may go away, else what `status_error` says."""
    if response.status_code in (200, 206, 416):
        return
    host = host_of(str(response.url))
    raise status_error(response.status_code, response.headers, {**facts, "host": host}, token)


def status_error(
    status: int, headers: Mapping[str, str], facts: Mapping[str, str], token: Token | None
) -> Transient | LayaDeskError:
    """What an HTTP status of a hub means. 401 and 403 are told apart: a token is wanted, or a licence (fault D29).

    `facts` are host, repo, file and page, and of a mirror `home`, the host that the token is for: no token helps there.
    """
    where = {name: facts[name] for name in ("host", "repo", "page")}
    if status in (401, 403):
        return _refusal(status, where, facts.get("home"), token)
    if status in (404, 410):
        return fail(ErrorCode.HUB_NOT_FOUND, **where, file=facts["file"])
    if status == 429:
        report = ErrorReport(ErrorCode.HUB_BUSY, {"host": facts["host"]})
        return Transient(report, _retry_after(headers))
    if status == 408 or status >= 500:
        report = ErrorReport(ErrorCode.HUB_UNREACHABLE, {"host": facts["host"], "reason": f"HTTP {status}"})
        return Transient(report, _retry_after(headers))
    return fail(ErrorCode.HUB_UNREACHABLE, host=facts["host"], reason=f"HTTP {status}")


def _refusal(status: int, where: Mapping[str, str], home: str | None, token: Token | None) -> LayaDeskError:
    if home is not None:
        return fail(ErrorCode.HUB_MIRROR_REFUSES, **where, home=home)
    if status == 401:
        return fail(ErrorCode.HUB_UNAUTHORIZED, **where, token=None if token is None else token.source)
    return fail(ErrorCode.HUB_GATED, **where)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    value = headers.get("Retry-After", "")
    return min(float(value), 120.0) if value.isdecimal() else None
