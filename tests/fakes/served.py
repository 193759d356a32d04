"""A real server over real use cases and a real engine process, scripted unless told otherwise."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openai

from layadesk.app import Core
from layadesk.domain.server import ServedRequest
from layadesk.domain.worker_state import WorkerState
from layadesk.protocol.events import EngineStats
from layadesk.settings import definitions
from layadesk.settings.definitions import Setting
from tests.fakes.gguf_files import chat_metadata, write_gguf

PATIENCE_S = 20.0
_METADATA = {**chat_metadata(), "llama.context_length": 4096}


class RequestLog:
    """What the server says it was asked."""

    def __init__(self) -> None:
        self.all: list[ServedRequest] = []
        self._changed = threading.Condition()

    def keep(self, request: ServedRequest) -> None:
        with self._changed:
            self.all.append(request)
            self._changed.notify_all()

    def wait_for(self, n: int) -> ServedRequest:
        """The request with this number, counted from 1."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.all) >= n, PATIENCE_S), "no such request was served"
            return self.all[n - 1]


class StatsLog:
    """What the engine last said of its work."""

    def __init__(self) -> None:
        self._last: EngineStats | None = None
        self._changed = threading.Condition()

    def keep(self, stats: EngineStats) -> None:
        with self._changed:
            self._last = stats
            self._changed.notify_all()

    def wait_until_idle(self) -> None:
        def is_idle() -> bool:
            return self._last is not None and self._last.n_running + self._last.n_waiting == 0

        with self._changed:
            assert self._changed.wait_for(is_idle, PATIENCE_S), "the engine is still at work"


@dataclass(frozen=True, slots=True)
class Served:
    core: Core
    port: int
    log: RequestLog
    stats: StatsLog

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def client(self, key: str = "none", **options: Any) -> Any:
        """OpenAI's own client, unmodified; untyped, as its users write their messages."""
        return openai.OpenAI(base_url=self.base_url, api_key=key, max_retries=0, timeout=3 * PATIENCE_S, **options)

    def raw(self, *pieces: bytes, pause_s: float = 0.0, timeout_s: float = PATIENCE_S) -> bytes:
        """All bytes that come back for some that are sent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout_s) as connection:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause_s)
            return received(connection)

    def post(self, path: str, body: bytes, **headers: str) -> tuple[int, Any]:
        """Status and JSON of a POST with a body as it stands."""
        lines = {"Host": f"127.0.0.1:{self.port}", "Content-Length": str(len(body)), "Connection": "close"}
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = f"POST {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n"
        return answer_of(self.raw(head.encode() + body))

    def wait_until_idle(self) -> None:
        """Until the engine says that nothing runs any more."""
        self.stats.wait_until_idle()


def received(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def answer_of(raw: bytes) -> tuple[int, Any]:
    """Status and JSON body of an HTTP answer."""
    head, _, body = raw.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body) if body else None


@contextmanager
def served(
    folder: Path,
    *,
    experts: tuple[str, ...] = ("tiny",),
    files: dict[str, Path] | None = None,
    settings: dict[Setting[str], str] | None = None,
    **script: object,
) -> Iterator[Served]:
    """`files` are real models by id and make the engine a real one; else `script` is what the scripted one does."""
    engine = "llama"
    if files is None:
        options = folder / "script.json"
        options.write_text(json.dumps(script), encoding="utf-8")
        engine = f"scripted:{options}"
    core = Core(folder / "data", engine=engine)
    for name in experts if files is None else ():
        core.inventory.import_file(write_gguf(folder / f"{name}.gguf", _METADATA), model_id=name)
    for name, path in (files or {}).items():
        core.inventory.import_file(path, model_id=name)
    core.settings.set(definitions.N_CTX, 2048)
    for setting, value in (settings or {}).items():
        core.settings.set(setting, value)
    log, stats = RequestLog(), StatsLog()
    core.serve.log_feed.subscribe(log.keep)
    core.engine.stats_feed.subscribe(stats.keep)
    core.start()
    try:
        status = core.serve.start(port=0)
        _wait_until_ready(core)
        yield Served(core, status.port, log, stats)
    finally:
        core.stop()


def _wait_until_ready(core: Core) -> None:
    until = time.monotonic() + PATIENCE_S
    while any(one.status.state is not WorkerState.READY for one in (core.engine, core.router)):
        assert time.monotonic() < until, "the children did not start"
        time.sleep(0.01)
