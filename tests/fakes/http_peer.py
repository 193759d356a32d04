"""A server on a real socket that does what a test says, lawful or not."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

PATIENCE_S = 10.0


@dataclass
class Exchange:
    """One request, and the way back."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: socket.socket
    is_closed_by_client: threading.Event = field(default_factory=threading.Event)

    @property
    def json(self) -> dict[str, object]:
        """The body."""
        asked: dict[str, object] = json.loads(self.body)
        return asked

    def send(self, content: bytes) -> None:
        """Any bytes."""
        self.connection.sendall(content)

    def head(self, status: str = "200 OK", kind: str = "text/event-stream", **more: str) -> None:
        """Status line and headers; the body ends with the connection."""
        lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def event(self, **fields: object) -> None:
        """One event of the stream."""
        self.send(f"data: {json.dumps(fields)}\n\n".encode())

    def say(self, *texts: str, **more: object) -> None:
        """Text, a piece an event."""
        for text in texts:
            self.event(choices=[{"index": 0, "delta": {"content": text}, **more}])

    def think(self, *texts: str) -> None:
        """Reasoning, a piece an event."""
        for text in texts:
            self.event(choices=[{"index": 0, "delta": {"reasoning_content": text}}])

    def finish(self, reason: str = "stop", usage: dict[str, object] | None = None) -> None:
        """As OpenAI ends a stream."""
        self.event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}])
        if usage is not None:
            self.event(choices=[], usage=usage)
        self.send(b"data: [DONE]\n\n")

    def answer(self, status: str, said: object) -> None:
        """A whole JSON answer."""
        content = json.dumps(said).encode()
        self.head(status, "application/json", Content_Length=str(len(content)))
        self.send(content)

    def wait_for_hangup(self) -> bool:
        """Until the client has closed its side."""
        self.connection.settimeout(PATIENCE_S)
        with suppress(OSError):
            while self.connection.recv(4096):
                pass
            self.is_closed_by_client.set()
        return self.is_closed_by_client.is_set()


Script = Callable[[Exchange], None]


class HttpPeer:
    """Answers `GET /v1/models` with `models`, and each chat request with `script`."""

    def __init__(self, script: Script | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.script: Script = script or hello
        self.models: list[str] | Script = ["big"]
        self.asked: list[Exchange] = []
        self.looks: list[Exchange] = []
        self.problems: list[BaseException] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Where it listens."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        """Be gone, with all connections."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            exchange = _read(connection)
            if exchange is None:
                return
            is_look = exchange.path.endswith("/models")
            (self.looks if is_look else self.asked).append(exchange)
            try:
                self._look(exchange) if is_look else self.script(exchange)
            except AssertionError as error:
                self.problems.append(error)

    def _look(self, exchange: Exchange) -> None:
        if callable(self.models):
            self.models(exchange)
        else:
            exchange.answer("200 OK", {"object": "list", "data": [{"id": name} for name in self.models]})


def _read(connection: socket.socket) -> Exchange | None:
    connection.settimeout(PATIENCE_S)
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        if not more:
            return None
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Exchange(method, path, headers, body, connection)


def hello(exchange: Exchange) -> None:
    """A lawful answer."""
    exchange.head()
    exchange.say("Hel", "lo")
    exchange.finish(usage={"prompt_tokens": 7, "completion_tokens": 2})


@contextmanager
def http_peer(script: Script | None = None, tls: ssl.SSLContext | None = None) -> Iterator[HttpPeer]:
    """One that runs inside the block."""
    peer = HttpPeer(script, tls)
    try:
        yield peer
    finally:
        peer.close()
    assert not peer.problems, peer.problems
