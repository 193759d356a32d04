"""A server on this machine that hands out parts of files, honestly or not."""

import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Write = Callable[[bytes], None]


@dataclass
class Asked:
    """One request as it came in."""

    path: str
    first: int
    last: int
    headers: dict[str, str]


Answer = Callable[[Asked, Write], None]


@dataclass
class RangeServer:
    """`asked` are the requests so far, `n_sent` the bytes that left."""

    address: str
    asked: list[Asked] = field(default_factory=list)
    n_sent: int = 0
    is_over: threading.Event = field(default_factory=threading.Event)


def head(status: str, *headers: str) -> bytes:
    """A status line and headers."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode()


def honest(files: dict[str, bytes], *more: str) -> Answer:
    """Each range as it was asked for."""

    def answer(asked: Asked, write: Write) -> None:
        content = files.get(asked.path)
        if content is None:
            write(head("404 Not Found", "Content-Length: 0"))
            return
        part = content[asked.first : asked.last + 1]
        place = f"Content-Range: bytes {asked.first}-{asked.first + len(part) - 1}/{len(content)}"
        write(head("206 Partial Content", place, f"Content-Length: {len(part)}", *more) + part)

    return answer


@contextmanager
def serving(answer: Answer) -> Iterator[RangeServer]:
    """Answer every request with `answer` until the block ends."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked = _request(self.rfile.readline, self.rfile.readline)
            server.asked.append(asked)
            with suppress(OSError):  # the other side has had enough
                answer(asked, self._write)

        def _write(self, content: bytes) -> None:
            self.connection.sendall(content)
            server.n_sent += len(content)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as tcp:
        server = RangeServer(f"http://127.0.0.1:{tcp.server_address[1]}")
        thread = threading.Thread(target=tcp.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.is_over.set()
            tcp.shutdown()
            thread.join()


def _request(first_line: Callable[[], bytes], line: Callable[[], bytes]) -> Asked:
    path = first_line().split(b" ")[1].decode()
    headers = {}
    while text := line().strip():
        name, _, value = text.decode().partition(":")
        headers[name.casefold()] = value.strip()
    match = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", ""))
    first, last = (int(match[1]), int(match[2])) if match else (0, 0)
    return Asked(path, first, last, headers)


def closed_port() -> str:
    """An address where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
