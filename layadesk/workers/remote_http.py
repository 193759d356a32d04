"""HTTP to one endpoint, with bounds on everything a server may do: sizes, times, redirects, types.

The key goes to the host of the address and to no other: redirects are never followed. TLS is always verified.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import httpx2

from layadesk.domain.errors import ErrorCode, Fact, LayaDeskError, fail
from layadesk.domain.remote import RemoteExpert, host_of
from layadesk.workers.remote_pieces import DONE, Piece, error_words, harmless, read_piece
from layadesk.workers.remote_timing import RemoteTiming
from layadesk.workers.sse import SseReader

ResultT = TypeVar("ResultT")

MAX_BODY: Final = 4 << 20
MAX_STREAM: Final = 64 << 20
MAX_ERROR: Final = 64 << 10
_BY_STATUS: Final = {
    401: ErrorCode.REMOTE_KEY_REFUSED,
    403: ErrorCode.REMOTE_KEY_REFUSED,
    404: ErrorCode.REMOTE_NOT_FOUND,
    429: ErrorCode.REMOTE_BUSY,
}
_TOO_LONG: Final = ("context_length_exceeded", "context length", "exceed_context_size", "maximum context")


class _Patience:
    """How long a server may be silent."""

    def __init__(self, seconds: float) -> None:
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        """It has shown life: so long from now."""
        self._seconds = seconds
        self._until = asyncio.get_running_loop().time() + seconds

    async def wait(self, waiting: Awaitable[ResultT]) -> ResultT:
        """Raises REMOTE_TIMED_OUT."""
        try:
            async with asyncio.timeout_at(self._until):
                return await waiting
        except TimeoutError as error:
            raise fail(ErrorCode.REMOTE_TIMED_OUT, seconds=max(1, round(self._seconds))) from error


class RemoteHttp:
    """Lives on the loop's thread. `close` it there."""

    def __init__(self, timing: RemoteTiming) -> None:
        self._timing = timing
        limits = httpx2.Timeout(None, connect=timing.connect_s, write=timing.connect_s)
        # Proxies of the environment are for the way out of this machine only.
        self._near = httpx2.AsyncClient(timeout=limits, follow_redirects=False, trust_env=False)
        self._far = httpx2.AsyncClient(timeout=limits, follow_redirects=False)

    async def close(self) -> None:
        """Close all connections."""
        await self._near.aclose()
        await self._far.aclose()

    async def pieces(self, expert: RemoteExpert, key: str | None, body: dict[str, Any]) -> AsyncIterator[Piece]:
        """Post a chat request and give what comes, event by event. Raises REMOTE_*; the last piece has `finish`."""
        patience = _Patience(self._timing.first_token_s)
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        async with self._sent(expert, key, "POST", "/chat/completions", content, patience) as response:
            if not response.is_success:
                raise await self._refusal(expert, response)
            if _type_of(response) == "application/json":  # it does not stream
                yield read_piece((await self._body(response, MAX_BODY, patience)).decode("utf-8", "replace"))
                return
            if _type_of(response) != "text/event-stream":
                raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail=harmless(_type_of(response)) or "no content type")
            async for piece in self._streamed(response, patience):
                yield piece

    async def models(self, expert: RemoteExpert, key: str | None) -> tuple[str, ...]:
        """What the server says it serves; nothing where it does not list. Raises REMOTE_*."""
        patience = _Patience(self._timing.connect_s)
        async with self._sent(expert, key, "GET", "/models", None, patience) as response:
            if response.status_code in (404, 405, 501):  # there, but it has no list
                return ()
            if not response.is_success:
                raise await self._refusal(expert, response)
            return _names(await self._body(response, MAX_BODY, patience))

    async def _streamed(self, response: httpx2.Response, patience: _Patience) -> AsyncIterator[Piece]:
        reader = SseReader()
        raw = response.aiter_raw()
        n_bytes, has_ended = 0, False
        while True:
            chunk = await patience.wait(anext(raw, None))
            events = reader.end() if chunk is None else reader.feed(chunk)
            n_bytes += len(chunk or b"")
            if n_bytes > MAX_STREAM:
                raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail=f"more than {MAX_STREAM} bytes")
            for event in events:
                if event.strip() == DONE:
                    has_ended = True
                    break
                piece = read_piece(event)
                has_ended = has_ended or piece.finish is not None
                if piece.text or piece.thinking or piece.calls or piece.finish:  # empty events do not count as life
                    patience.renew(self._timing.stall_s)
                yield piece
            else:
                if chunk is not None:
                    continue
            if not has_ended:
                raise fail(ErrorCode.REMOTE_CUT_OFF)
            return

    @asynccontextmanager
    async def _sent(
        self, expert: RemoteExpert, key: str | None, method: str, path: str, content: bytes | None, patience: _Patience
    ) -> AsyncIterator[httpx2.Response]:
        """A response whose body has not been read. Errors inside the block get the host as a fact."""
        client = self._near if expert.stays_here else self._far
        headers = {"Accept": "text/event-stream, application/json", "Accept-Encoding": "identity"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Authorization"] = f"Bearer {key}"
        facts: dict[str, Fact] = {"host": expert.host, "expert": expert.model_id, "model": expert.model}
        response: httpx2.Response | None = None
        try:
            request = client.build_request(method, expert.base_url + path, headers=headers, content=content)
            response = await patience.wait(client.send(request, stream=True))
            if response.has_redirect_location:
                target = host_of(str(response.headers.get("location", ""))[:300])
                raise fail(ErrorCode.REMOTE_REDIRECTS, target=harmless(target))
            if response.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
                raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail="compressed, which was not asked for")
            yield response
        except LayaDeskError as error:
            raise fail(error.code, **{**facts, **error.facts}) from error
        except httpx2.TimeoutException as error:  # of connecting, or of sending
            seconds = max(1, round(self._timing.connect_s))
            raise fail(ErrorCode.REMOTE_TIMED_OUT, **facts, seconds=seconds) from error
        except (httpx2.ConnectError, ssl.SSLError) as error:
            raise fail(ErrorCode.REMOTE_UNREACHABLE, **facts, detail=harmless(str(error))) from error
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError, ValueError) as error:
            code = ErrorCode.REMOTE_UNREACHABLE if response is None else ErrorCode.REMOTE_CUT_OFF
            raise fail(code, **facts, detail=harmless(str(error) or type(error).__name__)) from error
        finally:
            if response is not None:
                await response.aclose()

    async def _body(self, response: httpx2.Response, most: int, patience: _Patience) -> bytes:
        body = bytearray()
        raw = response.aiter_raw()
        while (chunk := await patience.wait(anext(raw, None))) is not None:
            body += chunk
            if len(body) > most:
                raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail=f"more than {most} bytes")
        return bytes(body)

    async def _refusal(self, expert: RemoteExpert, response: httpx2.Response) -> LayaDeskError:
        """The error for a status that is none of success."""
        status = response.status_code
        try:
            body = await self._body(response, MAX_ERROR, _Patience(self._timing.connect_s))
        except (LayaDeskError, httpx2.HTTPError):
            body = b""
        detail = _said(body)
        if status in (400, 413, 422) and any(words in detail.lower() for words in _TOO_LONG):
            return fail(ErrorCode.CONTEXT_LENGTH_EXCEEDED, n_ctx=expert.n_ctx, detail=detail)
        code = _BY_STATUS.get(status)
        if code is None:
            code = ErrorCode.REMOTE_REFUSED if 400 <= status < 500 else ErrorCode.REMOTE_FAILED
        wait = harmless(str(response.headers.get("retry-after", "")))[:40]
        return fail(code, status=str(status), detail=detail, **({"retry_after": wait} if wait else {}))


def _type_of(response: httpx2.Response) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def _said(body: bytes) -> str:
    """What a body says of an error: OpenAI's shape, FastAPI's, or plain text."""
    text = body.decode("utf-8", "replace")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return "" if text.lstrip().startswith("<") else harmless(text)
    if isinstance(said, dict):
        return error_words(said.get("error") or said.get("detail") or said.get("message") or "")
    return error_words(said)


def _names(body: bytes) -> tuple[str, ...]:
    try:
        listed = json.loads(body)
        entries = listed["data"] if isinstance(listed, dict) else listed
        names = [entry["id"] for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise fail(ErrorCode.REMOTE_BAD_ANSWER, detail="no list of models") from error
    return tuple(harmless(name) for name in names[:1000])
