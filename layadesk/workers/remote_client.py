"""Remote experts as the rest of the app sees them: the same promises as the engine's client, over HTTP."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.inference import FinishReason, MemoryUse, PromptMessage, Timings
from layadesk.domain.remote import EndpointTest, RemoteExpert, RemoteState
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, PromptBuilt, RequestEvent, TextDelta, ThinkingDelta
from layadesk.workers.open_requests import OpenRequest, OpenRequests, deliver_to
from layadesk.workers.remote_body import body_of, messages_that_fit
from layadesk.workers.remote_calls import CallPieces
from layadesk.workers.remote_loop import RemoteLoop, in_daemon
from layadesk.workers.remote_pieces import Piece, Usage
from layadesk.workers.remote_timing import RemoteTiming

if TYPE_CHECKING:
    from layadesk.workers.remote_http import RemoteHttp

log = logging.getLogger(__name__)

KEY_S = 20.0  # a keyring may ask its owner for a password
_MS = 1000.0


@dataclass(slots=True)
class _Progress:
    """What has come of one answer."""

    begun: float
    text: list[str] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    first: float | None = None
    last: float | None = None
    finish: FinishReason | None = None
    usage: Usage = field(default_factory=Usage)
    calls: CallPieces = field(default_factory=CallPieces)
    task: asyncio.Task[None] | None = None


class RemoteClient:
    """All methods may be called from any thread and return at once, `stop` excepted.

    Listeners are called on the thread "remote-client" and must not block; after `stop` on the caller's. `expert_of`
    gives the entry of an id; `key_of` may block and is called on a thread of its own.
    """

    def __init__(
        self,
        loop: RemoteLoop,
        *,
        expert_of: Callable[[str], RemoteExpert | None],
        key_of: Callable[[RemoteExpert], str | None],
        noted: Callable[[str, ErrorReport | None], None] = lambda *_: None,
        timing: RemoteTiming | None = None,
    ) -> None:
        """`noted` hears how each request with a server ended: its error, or None where it answered."""
        self._loop = loop
        self._expert_of = expert_of
        self._key_of = key_of
        self._noted = noted
        self._timing = timing or RemoteTiming()
        self._http: RemoteHttp | None = None  # made on the loop's thread
        self._open = OpenRequests()
        self._progress: dict[str, _Progress] = {}

    def generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        """As Runner."""
        if not self._loop.call(lambda: self._do_generate(request, on_event)):
            deliver_to(on_event, Finished(request.request_id, "", FinishReason.CANCELLED, Timings()))

    def cancel(self, request_id: str) -> None:
        """As Runner: it ends at once, whatever the server does."""
        if self._progress:
            self._loop.call(lambda: self._do_cancel(request_id))

    async def look(self, expert: RemoteExpert) -> RemoteState:
        """Whether a server is there and what it serves; never raises. On the loop's thread."""
        try:
            return RemoteState(True, None, await self._session.models(expert, await self._key(expert)))
        except LayaDeskError as error:
            return RemoteState(False, error.report)

    async def test(self, expert: RemoteExpert, key: str | None, probe: Generate) -> EndpointTest:
        """Ask a server what it serves, and for a tiny answer, with a key that need not be kept yet; never raises."""
        begun = time.monotonic()
        try:
            models = await self._session.models(expert, key)
            said = ""
            async for piece in self._pieces(expert, key, probe, probe.messages):
                said += piece.text or piece.thinking
        except LayaDeskError as error:
            return EndpointTest(RemoteState(False, error.report))
        serves = expert.model in models if models else None
        return EndpointTest(RemoteState(True, None, models), serves, said[:200], (time.monotonic() - begun) * _MS)

    def stop(self) -> None:
        """End all requests as cancelled, all connections and the thread; blocks for a moment."""
        self._loop.call(self._end_all)
        self._loop.stop(self._close)

    # On the loop's thread

    @property
    def _session(self) -> "RemoteHttp":
        if self._http is None:
            from layadesk.workers.remote_http import RemoteHttp  # noqa: PLC0415 - 0.1 s that most never need

            self._http = RemoteHttp(self._timing)
        return self._http

    async def _key(self, expert: RemoteExpert) -> str | None:
        try:
            async with asyncio.timeout(KEY_S):
                return await in_daemon(lambda: self._key_of(expert))
        except TimeoutError as error:
            raise fail(ErrorCode.KEY_NOT_KEPT, detail="the keyring does not answer") from error

    def _do_generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        opened = self._open.add(request, on_event)
        if opened is None:
            report = ErrorReport(ErrorCode.DUPLICATE_REQUEST, {"request": request.request_id})
            deliver_to(on_event, Failed(request.request_id, report))
            return
        expert = self._expert_of(request.model_id)
        if expert is None:
            self._open.fail(request.request_id, ErrorReport(ErrorCode.UNKNOWN_EXPERT, {"expert": request.model_id}))
            return
        progress = _Progress(time.monotonic())
        self._progress[request.request_id] = progress
        progress.task = asyncio.get_running_loop().create_task(self._answer(opened, expert, progress))

    def _do_cancel(self, request_id: str) -> None:
        progress = self._progress.get(request_id)
        if progress is None:
            return
        self._finish(request_id, progress, FinishReason.CANCELLED)
        if progress.task is not None:
            progress.task.cancel()

    def _end_all(self) -> None:
        for request_id in tuple(self._progress):
            self._do_cancel(request_id)

    async def _close(self) -> None:
        if self._http is not None:
            await self._http.close()

    async def _answer(self, opened: OpenRequest, expert: RemoteExpert, progress: _Progress) -> None:
        request_id = opened.request.request_id
        report: ErrorReport | None = None
        try:
            await self._stream(opened, expert, progress)
        except LayaDeskError as error:
            report = error.report
        except Exception as error:
            log.exception("a remote answer failed")
            report = ErrorReport(ErrorCode.INTERNAL, {"reason": "remote", "detail": type(error).__name__})
        if request_id not in self._progress or self._progress[request_id] is not progress:
            return  # cancelled
        if report is None:
            self._noted(expert.model_id, None)
            self._finish(request_id, progress, progress.finish or FinishReason.STOP)
        else:
            log.info("remote expert %s: %s %s", expert.model_id, report.code, report.facts.get("status", ""))
            self._progress.pop(request_id)
            self._noted(expert.model_id, report)
            self._open.fail(request_id, report)

    async def _stream(self, opened: OpenRequest, expert: RemoteExpert, progress: _Progress) -> None:
        request = opened.request
        messages, n_dropped = messages_that_fit(request, expert)
        key = await self._key(expert)
        self._open.deliver(PromptBuilt(request.request_id, 0, 0, n_dropped, 0, MemoryUse()))
        async for piece in self._pieces(expert, key, request, messages):
            self._take_piece(request.request_id, piece, progress)

    async def _pieces(
        self, expert: RemoteExpert, key: str | None, request: Generate, messages: tuple[PromptMessage, ...]
    ) -> AsyncIterator[Piece]:
        """Ask with all that was wished; where the server refuses that, with what every server knows."""
        try:
            async for piece in self._session.pieces(expert, key, body_of(request, expert, messages)):
                yield piece
        except LayaDeskError as error:
            if error.code is not ErrorCode.REMOTE_REFUSED:  # which only comes before any piece
                raise
            async for piece in self._session.pieces(expert, key, body_of(request, expert, messages, is_plain=True)):
                yield piece

    def _take_piece(self, request_id: str, piece: Piece, progress: _Progress) -> None:
        """Thinking that comes after text would break the order of events; it is text then, so that nothing is lost."""
        progress.finish = piece.finish or progress.finish
        progress.usage = piece.usage or progress.usage
        for call in piece.calls:
            progress.calls.add(call)
        if piece.text or piece.thinking:
            progress.last = time.monotonic()
            progress.first = progress.first or progress.last
        if piece.thinking and not progress.text:
            progress.thinking.append(piece.thinking)
            self._open.deliver(ThinkingDelta(request_id, piece.thinking, 0))
        elif piece.thinking:
            self._take_text(request_id, piece.thinking, progress)
        if piece.text:
            self._take_text(request_id, piece.text, progress)

    def _take_text(self, request_id: str, text: str, progress: _Progress) -> None:
        progress.text.append(text)
        self._open.deliver(TextDelta(request_id, text, 0))

    def _finish(self, request_id: str, progress: _Progress, reason: FinishReason) -> None:
        del self._progress[request_id]
        text, thinking = "".join(progress.text), "".join(progress.thinking)
        calls = progress.calls.whole()
        self._open.deliver(Finished(request_id, text, reason, _timings(progress), thinking, calls))


def _timings(progress: _Progress) -> Timings:
    """As seen from here, the network included; a server that does not count leaves the counts unknown."""
    now = time.monotonic()
    usage = progress.usage
    is_counted = usage.n_prompt is not None and usage.n_decoded is not None
    first, last = progress.first, progress.last
    return Timings(
        ttft_ms=None if first is None else (first - progress.begun) * _MS,
        decode_ms=None if first is None or last is None or last == first else (last - first) * _MS,
        total_ms=((last or now) - progress.begun) * _MS,
        n_prompt=usage.n_prompt or 0,
        n_cached=usage.n_cached or 0,
        n_decoded=usage.n_decoded or 0,
        n_thinking=usage.n_thinking or 0,
        is_counted=is_counted,
    )
