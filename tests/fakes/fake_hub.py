"""A small hub on the loopback: what huggingface.co, a mirror and ModelScope answer, and how they fail.

`huggingface_hub` really talks to it, and so does our transfer. It serves what was added and nothing else.
"""

import hashlib
import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

CHUNK = 16 * 1024


@dataclass
class Served:
    """One file. `etag` is what the server calls its bytes; for large files it is their sha256."""

    data: bytes
    is_lfs: bool = True

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def etag(self) -> str:
        if self.is_lfs:
            return self.sha256
        return hashlib.sha1(b"blob %d\0" % len(self.data) + self.data).hexdigest()


@dataclass
class Fault:
    """How a file fails. Counts go down as they happen; `cut_times` -1: always."""

    cut_after: int = 0
    cut_times: int = 0
    corrupt: bool = False
    ignore_range: bool = False
    status: int = 0
    status_times: int = -1
    error_code: str = ""
    bytes_per_s: int = 0
    hang_after: int | None = None
    redirect: str = ""
    etag: str = ""
    says_length: int | None = None
    says_size: int | None = None
    no_size: bool = False


@dataclass(frozen=True)
class Request:
    """What came in."""

    method: str
    path: str
    range: str | None
    if_range: str | None
    token: str | None


@dataclass
class FakeHub:
    """Use as a context manager. `gated` repositories want a token; `url` is where it listens."""

    repos: dict[str, dict[str, Served]] = field(default_factory=dict)
    faults: dict[tuple[str, str], Fault] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    log: list[Request] = field(default_factory=list)
    n_sent: int = 0

    def __enter__(self) -> "FakeHub":
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.let_go = threading.Event()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def add(self, repo: str, path: str, data: bytes, *, is_lfs: bool = True) -> Served:
        served = Served(data, is_lfs)
        self.repos.setdefault(repo, {})[path] = served
        return served

    def commit(self, repo: str) -> str:
        names = "".join(f"{path}{served.etag}" for path, served in sorted(self.repos[repo].items()))
        return hashlib.sha1(names.encode()).hexdigest()

    def fault(self, repo: str, path: str, **how: Any) -> Fault:
        self.faults[(repo, path)] = Fault(**how)
        return self.faults[(repo, path)]

    def gets(self) -> list[Request]:
        """The requests for bytes."""
        return [request for request in self.log if request.method == "GET"]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    hub: ClassVar[FakeHub]
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Silent."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        headers = self.headers
        self.hub.log.append(
            Request(
                self.command, self.path, headers.get("Range"), headers.get("If-Range"), headers.get("Authorization")
            )
        )
        parts = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if parts[0] == "models":  # as ModelScope has it
            parts = parts[1:]
        if len(parts) < 5 or parts[2] != "resolve":
            self._refuse(404, "EntryNotFound")
            return
        repo, revision, path = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        fault = self.hub.faults.get((repo, path), Fault())
        if fault.status and fault.status_times != 0:
            fault.status_times -= 1
            self._refuse(fault.status, fault.error_code)
        elif repo in self.hub.gated and not headers.get("Authorization"):
            self._refuse(403, "GatedRepo")
        elif repo not in self.hub.repos:
            self._refuse(401, "RepoNotFound")
        elif revision not in ("main", "master", self.hub.commit(repo)):
            self._refuse(404, "RevisionNotFound")
        elif path not in self.hub.repos[repo]:
            self._refuse(404, "EntryNotFound")
        else:
            self._serve(repo, self.hub.repos[repo][path], fault)

    def _refuse(self, status: int, code: str) -> None:
        body = json.dumps({"error": code}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Error-Code", code)
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _serve(self, repo: str, served: Served, fault: Fault) -> None:
        size = len(served.data) if fault.says_size is None else fault.says_size
        about = {
            "X-Repo-Commit": self.hub.commit(repo),
            "X-Linked-Etag": f'"{served.etag}"',
            "ETag": f'"{fault.etag or served.etag}"',
        }
        if not fault.no_size:
            about["X-Linked-Size"] = str(size)
        if fault.redirect:
            self._head(302, {**about, "Location": fault.redirect + self.path, "Content-Length": "0"})
            return
        data = served.data if not fault.corrupt else bytes([served.data[0] ^ 0xFF]) + served.data[1:]
        start, end, is_part = self._wanted(about["ETag"], fault, len(data))
        if start >= len(data) > 0:
            self._head(416, {"Content-Range": f"bytes */{len(data)}", "Content-Length": "0"})
            return
        body = memoryview(data)[start:end]
        length = len(body) if fault.says_length is None else fault.says_length
        span = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"} if is_part else {}
        self._head(206 if is_part else 200, {**about, **span, "Content-Length": str(length)})
        if self.command == "GET":
            self._send(body, fault)

    def _wanted(self, etag: str, fault: Fault, size: int) -> tuple[int, int, bool]:
        wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
        if wanted is None or fault.ignore_range or (condition is not None and condition != etag):
            return 0, size, False
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        return int(first), min(size, int(last) + 1) if last else size, True

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, body: memoryview, fault: Fault) -> None:
        cut = None
        if fault.cut_times:
            cut = fault.cut_after
            fault.cut_times -= fault.cut_times > 0
        sent = 0
        try:
            while sent < len(body):
                if cut is not None and sent >= cut:
                    break
                if fault.hang_after is not None and sent >= fault.hang_after:
                    self.hub.let_go.wait(30)
                    break
                n = min(CHUNK, len(body) - sent, CHUNK if cut is None else cut - sent)
                self.wfile.write(body[sent : sent + n])
                sent += n
                self.hub.n_sent += n
                if fault.bytes_per_s:
                    time.sleep(n / fault.bytes_per_s)
        except OSError:
            pass
        if sent < len(body):
            self.close_connection = True
