"""What happens to an answer while it is made, as the front rooms see it: the events of one `Feed[TurnEvent]`.

A stream is bound to its conversation and message, never to what is on screen, so that switching the conversation loses
nothing (reported fault E10).
"""

from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.chat import Message
from layadesk.domain.routing import Route


class TurnPhase(StrEnum):
    """What an unfinished answer is waiting for."""

    QUEUED = "queued"
    ROUTING = "routing"
    LOADING = "loading"
    PREFILL = "prefill"
    DECODE = "decode"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A question and its empty answer exist; `question` is None when an old question is answered again."""

    conversation_id: str
    question: Message | None
    answer: Message


@dataclass(frozen=True, slots=True)
class TurnRouted:
    """The route of an answer is known; it is stored with the message."""

    conversation_id: str
    message_id: str
    route: Route


@dataclass(frozen=True, slots=True)
class TurnRestarted:
    """A remote expert failed and another one answers: text and thinking begin anew, at offset 0.

    What was written until then is the last draft of `route`, which is stored with the message.
    """

    conversation_id: str
    message_id: str
    route: Route


@dataclass(frozen=True, slots=True)
class TurnProgress:
    """A phase and how far it is: `fraction` 0–1 or None where it cannot be told; `position` in the queue, 0 is next."""

    conversation_id: str
    message_id: str
    phase: TurnPhase
    fraction: float | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """The prompt as the expert got it. `n_dropped` > 0 must be shown: that many messages were left out."""

    conversation_id: str
    message_id: str
    n_prompt: int
    n_cached: int
    n_dropped: int
    n_ctx: int


@dataclass(frozen=True, slots=True)
class TurnThinking:
    """New text of the thinking before an answer, as TurnText; `offset` counts in the thinking's own text."""

    conversation_id: str
    message_id: str
    text: str
    offset: int
    n_decoded: int


@dataclass(frozen=True, slots=True)
class TurnText:
    """New text of an answer. `offset` is the number of characters before it, so that a view that was opened in
    mid-answer neither doubles nor misses any.
    """

    conversation_id: str
    message_id: str
    text: str
    offset: int
    n_decoded: int


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """New text of a draft by one of two experts, after `offset` characters of it; whole drafts stay in the route."""

    conversation_id: str
    message_id: str
    expert: str
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of an answer; `message` is what is stored, with its whole text."""

    conversation_id: str
    message_id: str
    message: Message


TurnEvent = (
    TurnStarted
    | TurnRouted
    | TurnRestarted
    | TurnProgress
    | TurnPrompt
    | TurnThinking
    | TurnText
    | TurnDraft
    | TurnEnded
)
