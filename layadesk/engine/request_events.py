"""What the app hears of a request, in the one order it may come; see `layadesk/protocol/__init__.py`."""

import logging
from collections.abc import Callable, Iterable

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse
from layadesk.engine.sequence import Sequence, SequenceState
from layadesk.protocol.events import (
    EngineEvent,
    Failed,
    Finished,
    Loading,
    PrefillProgress,
    PromptBuilt,
    Queued,
    TextDelta,
    ThinkingDelta,
)

log = logging.getLogger(__name__)


class RequestEvents:
    """Sends the events of sequences and keeps their order and the single terminal event. Decode thread.

    An event that would break the order is left out: one that comes late has nothing to say any more.
    """

    def __init__(
        self,
        put: Callable[[EngineEvent], None],
        clock: Callable[[], float],
        on_end: Callable[[Sequence], None],
    ) -> None:
        self._put = put
        self._clock = clock
        self._on_end = on_end

    def queued(self, one: Sequence, position: int) -> None:
        """It waits; `position` 0 is next. Only changes are told."""
        if one.has_reported_load or one.has_reported_prompt or one.reported_position == position:
            return
        one.reported_position = position
        self._put(Queued(one.request_id, position))

    def positions(self, ones: Iterable[Sequence], has_free_slot: Callable[[str], bool]) -> None:
        """Tell those who wait for a slot or for their turn to load how many are before them."""
        before: dict[str, int] = {}
        for one in sorted(ones, key=lambda one: one.order):
            if one.state is SequenceState.RUNNING:
                continue
            position = before.get(one.model_id, 0)
            before[one.model_id] = position + 1
            if one.state is SequenceState.PREPARING and has_free_slot(one.model_id):
                continue  # a moment only
            self.queued(one, position)

    def loading(self, one: Sequence, fraction: float) -> None:
        """Its expert is being loaded."""
        if one.has_reported_prompt:
            return
        one.has_reported_load = True
        self._put(Loading(one.request_id, one.model_id, fraction))

    def prompt_built(self, one: Sequence, memory: MemoryUse) -> None:
        """It has a slot; not told again after a preemption."""
        if one.has_reported_prompt:
            return
        one.has_reported_prompt = True
        self._put(PromptBuilt(one.request_id, one.n_prompt, one.n_cached, one.n_dropped, one.n_ctx, memory))

    def prefilled(self, one: Sequence) -> None:
        """Some of its prompt is in the KV cache."""
        if one.n_decoded > 0 or one.n_past <= one.n_reported_prefill:
            return
        one.n_reported_prefill = one.n_past
        self._put(PrefillProgress(one.request_id, one.n_past, one.n_prompt))

    def text(self, one: Sequence, thought: str, text: str) -> None:
        """New thinking, then new text; each perhaps empty."""
        if thought:
            self._put(ThinkingDelta(one.request_id, thought, one.n_decoded))
        if text:
            self._put(TextDelta(one.request_id, text, one.n_decoded))

    def finished(self, one: Sequence, reason: FinishReason) -> None:
        """The end of an answer, with the text that was held back."""
        if one.state is SequenceState.ENDED:
            return
        self.text(one, *one.stream.finish())
        self._end(one)
        stream, timings = one.stream, one.timings(self._clock())
        self._put(Finished(one.request_id, stream.text, reason, timings, stream.thinking, stream.calls))

    def failed(self, one: Sequence, error: ErrorReport) -> None:
        """The end of a request that could not be answered."""
        if one.state is SequenceState.ENDED:
            return
        self._end(one)
        log.info("request %s failed: %s", one.request_id, error.code)
        self._put(Failed(one.request_id, error, one.model_id))

    def _end(self, one: Sequence) -> None:
        one.state = SequenceState.ENDED
        if one.sampler is not None:
            one.sampler.close()
            one.sampler = None
        self._on_end(one)
