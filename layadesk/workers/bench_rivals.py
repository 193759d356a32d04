"""The app's side of what the engine is compared with: a raw decode loop, and llama.cpp's own server.

Each holds its process; `close` ends it. For `layadesk bench engine` only.
"""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import PromptMessage
from layadesk.domain.models import ExpertSpec
from layadesk.protocol.bench import RawReply, RawRun, ServerReady
from layadesk.protocol.channel import Channel
from layadesk.workers import spawn
from layadesk.workers.child_process import ChildProcess

READ_TIMEOUT_S = 300.0


class RawLoop:
    """llama.cpp's decode call without any scheduler. Blocks the caller while it measures."""

    def __init__(self, spec: ExpertSpec) -> None:
        self._child = spawn.start_raw_loop(spec)
        self._channel: Channel[RawRun, RawReply] = Channel(self._child.connection, RawReply)
        self._channel.receive()

    def run(self, *, n_seq: int, n_prompt: int, n_tokens: int) -> RawReply:
        """One measurement. Raises DECODE_FAILED."""
        self._channel.send(RawRun(n_seq, n_prompt, n_tokens))
        reply = self._channel.receive()
        if reply.error:
            raise fail(ErrorCode.DECODE_FAILED, reason=reply.error, value=n_seq)
        return reply

    def close(self) -> None:
        """End its process."""
        end(self._child)


class LlamaServer:
    """llama.cpp's server in its own process, spoken to as its users do: OpenAI's chat protocol, streamed."""

    def __init__(self, spec: ExpertSpec) -> None:
        self._child = spawn.start_llama_server(spec)
        channel: Channel[RawRun, ServerReady] = Channel(self._child.connection, ServerReady)
        ready = channel.receive()
        if not ready.address:
            self.close()
            raise fail(ErrorCode.BAD_PARAMETER, parameter="--against", value="llama-server", detail=ready.error)
        self._host = ready.address.removeprefix("http://")

    def stream(
        self,
        messages: Sequence[PromptMessage],
        max_tokens: int,
        on_token: Callable[[float, str], None],
        on_end: Callable[[], None],
    ) -> Callable[[], None]:
        """Ask in a thread of its own; `on_token` gets time and text of each token. Returns what calls it off."""
        asked = {
            "messages": [{"role": str(one.role), "content": one.text} for one in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
            "ignore_eos": True,  # as ours: an answer that ends at once measures nothing
            "stream": True,
            "cache_prompt": True,
        }
        connection = http.client.HTTPConnection(self._host, timeout=READ_TIMEOUT_S)

        def read() -> None:
            with suppress(OSError, http.client.HTTPException):  # called off
                _read(connection, asked, on_token)
            on_end()

        def call_off() -> None:
            with suppress(OSError):
                if connection.sock is not None:
                    connection.sock.shutdown(socket.SHUT_RDWR)

        threading.Thread(target=read, name="llama-server", daemon=True).start()
        return call_off

    def close(self) -> None:
        """End its process."""
        end(self._child)


def _read(
    connection: http.client.HTTPConnection, asked: dict[str, Any], on_token: Callable[[float, str], None]
) -> None:
    try:
        body = json.dumps(asked).encode()
        connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
        for event in _events(connection.getresponse()):
            text = event["choices"][0]["delta"].get("content") if event["choices"] else None
            if text:
                on_token(time.perf_counter(), text)
    finally:
        connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        if line.startswith(b"data: {"):
            yield json.loads(line[6:])


def end(child: ChildProcess) -> None:
    """End such a process, by force where it does not end by itself."""
    child.connection.close()
    child.process.terminate()
    if child.wait_exit_code(5.0) is None:
        child.process.kill()
        child.wait_exit_code(5.0)
