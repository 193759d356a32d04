"""Two experts draft an answer, and the main one writes the final answer from both. One request to the outside.

Side by side where both could begin at once, otherwise one after the other, the main expert last so that it is loaded
once.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from layadesk.domain.inference import FinishReason, PromptMessage, SamplingParams, ThinkingParams, Timings
from layadesk.domain.routing import Draft, Route
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, Loading, Queued, RequestEvent, TextDelta
from layadesk.usecases.expert_runners import ExpertRunners

DRAFT_TOKENS: Final = 1024
_ASK: Final = {
    "zh": (
        "{question}\n\n---\n以下是两位助手为上面这条消息写的草稿。\n\n草稿一：\n{first}\n\n草稿二：\n{second}\n\n"
        "请用这条消息的语言写出最好的最终回答：采用两份草稿中正确的内容，改正错误，不要提到草稿。"
    ),
    "en": (
        "{question}\n\n---\nTwo assistants have drafted answers to the message above.\n\nDraft 1:\n{first}\n\n"
        "Draft 2:\n{second}\n\nWrite the best final answer to the message, in its language. Use what is right in "
        "either draft, correct what is wrong, and do not mention the drafts."
    ),
}


@dataclass(frozen=True, slots=True)
class DraftText:
    """New text of one expert's draft; `offset` characters came before it."""

    request_id: str
    expert: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class DraftEnded:
    """A draft is whole, or ended as far as it came."""

    request_id: str
    draft: Draft


DraftEvent = DraftText | DraftEnded


@dataclass(frozen=True, slots=True)
class Opinions:
    """What two experts are asked; `route.second` is set."""

    request_id: str
    messages: tuple[PromptMessage, ...]
    sampling: SamplingParams
    route: Route
    conversation_id: str = ""
    client: str = ""


@dataclass(slots=True)
class _Running:
    order: Opinions
    on_event: Callable[[RequestEvent | DraftEvent], None]
    waiting: list[str]
    texts: dict[str, str] = field(default_factory=dict)
    ended: dict[str, Finished | Failed] = field(default_factory=dict)
    is_cancelled: bool = False
    is_final: bool = False


class SecondOpinion:
    """Starts and cancels. Any thread; events come on the runners' threads. One Finished or Failed for each."""

    def __init__(self, runners: ExpertRunners) -> None:
        self._runners = runners
        self._lock = threading.Lock()
        self._running: dict[str, _Running] = {}

    def start(self, order: Opinions, on_event: Callable[[RequestEvent | DraftEvent], None]) -> None:
        """Ask both for drafts."""
        assert order.route.second is not None
        experts = [order.route.second, order.route.expert]
        at_once = experts if all(map(self._runners.is_ready, experts)) else experts[:1]
        running = _Running(order, on_event, experts[len(at_once) :], dict.fromkeys(at_once, ""))
        with self._lock:
            self._running[order.request_id] = running
        for expert in at_once:
            self._draft(running, expert)

    def cancel(self, request_id: str) -> bool:
        """End it in whatever phase it is; false for an id that is not one of these."""
        with self._lock:
            running = self._running.get(request_id)
            if running is None:
                return False
            running.is_cancelled = True
            open_drafts = [one for one in running.texts if one not in running.ended]
        if running.is_final:
            self._runners.cancel(request_id)
        for expert in open_drafts:
            self._runners.cancel(_draft_id(request_id, expert))
        return True

    def _draft(self, running: _Running, expert: str) -> None:
        order = running.order
        n_most = min(DRAFT_TOKENS, order.sampling.max_tokens or DRAFT_TOKENS)
        request = Generate(
            _draft_id(order.request_id, expert),
            expert,
            order.messages,
            replace(order.sampling, max_tokens=n_most),
            ThinkingParams(),
            client=order.client or order.conversation_id,
        )
        self._runners.generate(request, lambda event: self._on_draft(running, expert, event))

    def _on_draft(self, running: _Running, expert: str, event: RequestEvent) -> None:
        request_id = running.order.request_id
        match event:
            case TextDelta(text=text):
                offset = len(running.texts[expert])
                running.texts[expert] += text
                running.on_event(DraftText(request_id, expert, text, offset))
            case Queued(position=position):
                running.on_event(Queued(request_id, position))
            case Loading(model_id=model_id, fraction=fraction):
                running.on_event(Loading(request_id, model_id, fraction))
            case Finished() | Failed():
                error = event.error if isinstance(event, Failed) else None
                running.on_event(DraftEnded(request_id, Draft(expert, running.texts[expert], error)))
                self._draft_over(running, expert, event)
            case _:
                pass

    def _draft_over(self, running: _Running, expert: str, event: Finished | Failed) -> None:
        with self._lock:
            running.ended[expert] = event
            is_last = not running.waiting and len(running.ended) == len(running.texts)
        if running.is_cancelled:
            if len(running.ended) == len(running.texts):
                self._end(running, Finished(running.order.request_id, "", FinishReason.CANCELLED, Timings()))
        elif running.waiting and len(running.ended) == len(running.texts):
            following = running.waiting.pop()
            running.texts[following] = ""
            self._draft(running, following)
        elif is_last:
            self._finish(running)

    def _finish(self, running: _Running) -> None:
        order = running.order
        drafts = {expert: text for expert, text in running.texts.items() if text.strip()}
        if len(drafts) < 2:
            self._only_one(running, drafts)
            return
        running.is_final = True
        first, second = (drafts[expert] for expert in (order.route.expert, order.route.second or ""))
        asked = _ASK["zh" if order.route.language == "zh" else "en"]
        question = order.messages[-1]
        text = asked.format(question=question.text, first=first, second=second)
        request = Generate(
            order.request_id,
            order.route.expert,
            (*order.messages[:-1], replace(question, text=text)),
            order.sampling,
            ThinkingParams(enabled=True) if order.route.thinks else ThinkingParams(),
            client=order.client or order.conversation_id,
        )
        self._runners.generate(request, lambda event: self._on_final(running, event))
        if running.is_cancelled:  # while it was handed over
            self._runners.cancel(order.request_id)

    def _on_final(self, running: _Running, event: RequestEvent) -> None:
        if isinstance(event, Finished | Failed):
            self._end(running, event)
        else:
            running.on_event(event)

    def _only_one(self, running: _Running, drafts: Mapping[str, str]) -> None:
        """Nothing to weigh: the draft there is becomes the answer, or the main expert's failure does."""
        order = running.order
        if not drafts:
            main = running.ended[order.route.expert]
            if isinstance(main, Finished):
                main = Finished(order.request_id, "", main.finish_reason, main.timings)
            self._end(running, main)
            return
        ((expert, text),) = drafts.items()
        ended = running.ended[expert]
        running.on_event(TextDelta(order.request_id, text, 0))
        timings = ended.timings if isinstance(ended, Finished) else Timings()
        self._end(running, Finished(order.request_id, text, FinishReason.STOP, timings))

    def _end(self, running: _Running, event: Finished | Failed) -> None:
        with self._lock:
            self._running.pop(running.order.request_id, None)
        if isinstance(event, Failed):
            event = Failed(running.order.request_id, event.error)
        running.on_event(event)


def _draft_id(request_id: str, expert: str) -> str:
    return f"{request_id}/{expert}"
