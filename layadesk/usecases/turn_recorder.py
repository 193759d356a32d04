"""Write an answer down while it is made, and tell the front rooms."""

import logging
from dataclasses import replace

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.protocol.events import (
    Failed,
    Finished,
    Loading,
    PrefillProgress,
    PromptBuilt,
    Queued,
    TextDelta,
    ThinkingDelta,
)
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.usecases.answer_order import AnswerEvent, FailedOver, RouteChosen
from layadesk.usecases.running_turns import RunningTurn, RunningTurns
from layadesk.usecases.second_opinion import DraftEnded, DraftEvent, DraftText
from layadesk.usecases.turns import (
    TurnDraft,
    TurnEnded,
    TurnEvent,
    TurnPhase,
    TurnProgress,
    TurnPrompt,
    TurnRestarted,
    TurnRouted,
    TurnText,
    TurnThinking,
)

log = logging.getLogger(__name__)

_STATUS = {
    FinishReason.STOP: MessageStatus.COMPLETE,
    FinishReason.LENGTH: MessageStatus.COMPLETE,
    FinishReason.LOOP: MessageStatus.COMPLETE,
    FinishReason.CANCELLED: MessageStatus.CANCELLED,
    FinishReason.ERROR: MessageStatus.FAILED,
}


class TurnRecorder:
    """Turns the events of one request into stored records and turn events. Called on the worker threads, in order."""

    def __init__(self, turn: RunningTurn, store: Store, running: RunningTurns, feed: Feed[TurnEvent]) -> None:
        self._turn = turn
        self._store = store
        self._running = running
        self._feed = feed
        self._conversation_id = turn.message.conversation_id
        self._message_id = turn.message.message_id
        self._memory: MemoryUse | None = None
        self._begun = turn.message  # what is gone on with; without text for a new answer

    def on_event(self, event: AnswerEvent) -> None:
        """Take the next event of the request."""
        match event:
            case RouteChosen(route=route):
                self._turn.message = replace(self._turn.message, route=route, expert_id=route.expert)
                self._store.save_route(self._message_id, route)
                self._feed.publish(TurnRouted(self._conversation_id, self._message_id, route))
            case FailedOver():
                self._restarted(event)
            case Queued() | Loading() | PrefillProgress():
                self._progressed(event)
            case PromptBuilt():
                self._prompt_built(event)
            case ThinkingDelta(text=text, n_decoded=n_decoded):
                offset = self._turn.n_thinking_chars
                self._running.append_thinking(self._message_id, text, n_decoded)
                self._feed.publish(TurnThinking(self._conversation_id, self._message_id, text, offset, n_decoded))
            case TextDelta(text=text, n_decoded=n_decoded):
                offset = self._turn.n_chars
                self._running.append(self._message_id, text, n_decoded)
                self._feed.publish(TurnText(self._conversation_id, self._message_id, text, offset, n_decoded))
            case DraftText() | DraftEnded():
                self._drafting(event)
            case Finished():
                self._end(self._finished(event))
            case Failed(error=error):
                self._end(self._failed(error))

    def _restarted(self, event: FailedOver) -> None:
        """What was written so far is a draft of the route from here on."""
        self._running.restart(self._message_id)
        self._memory = None
        message = replace(self._turn.message, route=event.route, expert_id=event.route.expert, n_dropped=0)
        self._turn.message = message
        self._store.save_route(self._message_id, event.route)
        self._feed.publish(TurnRestarted(self._conversation_id, self._message_id, event.route))

    def _progressed(self, event: Queued | Loading | PrefillProgress) -> None:
        match event:
            case Queued(position=position):
                self._progress(TurnPhase.QUEUED, position=position)
            case Loading(fraction=fraction):
                self._progress(TurnPhase.LOADING, fraction=fraction)
            case PrefillProgress(n_done=n_done, n_prompt=n_prompt):
                self._progress(TurnPhase.PREFILL, fraction=n_done / n_prompt if n_prompt else None)

    def _progress(self, phase: TurnPhase, *, fraction: float | None = None, position: int | None = None) -> None:
        self._feed.publish(TurnProgress(self._conversation_id, self._message_id, phase, fraction, position))

    def _drafting(self, event: DraftEvent) -> None:
        """A whole draft stays with the route, so that both can be read beside the final answer."""
        if isinstance(event, DraftText):
            draft = TurnDraft(self._conversation_id, self._message_id, event.expert, event.text, event.offset)
            self._feed.publish(draft)
            return
        route = self._turn.message.route
        if route is None:
            return
        route = replace(route, drafts=(*route.drafts, event.draft))
        self._turn.message = replace(self._turn.message, route=route)
        self._store.save_route(self._message_id, route)
        self._feed.publish(TurnRouted(self._conversation_id, self._message_id, route))

    def _prompt_built(self, event: PromptBuilt) -> None:
        self._memory = event.memory
        self._turn.message = replace(self._turn.message, n_dropped=event.n_dropped)
        self._feed.publish(
            TurnPrompt(
                self._conversation_id, self._message_id, event.n_prompt, event.n_cached, event.n_dropped, event.n_ctx
            )
        )

    def _finished(self, event: Finished) -> Message:
        text, thinking = self._begun.text + event.text, self._begun.thinking + event.thinking
        if text != self._turn.text or thinking != self._turn.thinking:
            log.error("the deltas of message %s differ from its final text", self._message_id)
        return replace(
            self._turn.message,
            text=text,
            thinking=thinking,
            status=_STATUS[event.finish_reason],
            finish_reason=event.finish_reason,
            timings=_with_beginning(event.timings, self._begun.timings),
            memory=self._memory,
        )

    def _failed(self, error: ErrorReport) -> Message:
        if error.code is ErrorCode.INTERNAL:
            log.error("answer %s failed: %s", self._message_id, dict(error.facts))
        return replace(
            self._turn.message,
            text=self._turn.text,
            thinking=self._turn.thinking,
            status=MessageStatus.FAILED,
            finish_reason=FinishReason.ERROR,
            memory=self._memory,
            error=error,
        )

    def _end(self, message: Message) -> None:
        if self._running.end(self._message_id) is None:
            return
        self._store.finish_message(message)
        self._feed.publish(TurnEnded(self._conversation_id, self._message_id, message))


def _with_beginning(timings: Timings, before: Timings | None) -> Timings:
    """Those of the last part of an answer, with the number of tokens it had before."""
    return timings if before is None else replace(timings, n_before=before.n_before + before.n_decoded)
