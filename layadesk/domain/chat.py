"""Conversations are trees: an edit or a new answer is a new child of the same parent, and nothing is deleted by it."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse, Role, Timings
from layadesk.domain.routing import Route

_JOINERS = "\u200c\u200d"  # they hold emoji of families together, and letters of Persian apart
_MARKDOWN = re.compile(r"^(?:(?:#{1,6}|[*+>-]|[-=*_]{3,}|`{3,}\S*)(?:\s+|$))+")  # heading, list, quote, rule, fence


class MessageStatus(StrEnum):
    """Where a message stands. Only `STREAMING` may change its text."""

    STREAMING = "streaming"
    COMPLETE = "complete"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # the program ended in mid-answer; set at the next start


class AttachmentKind(StrEnum):
    """What a file was before it became text."""

    TEXT = "text"
    CODE = "code"
    PDF = "pdf"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that goes with a question, as text. `n_tokens` is None where it was not counted."""

    name: str
    kind: AttachmentKind
    text: str
    n_tokens: int | None = None


class Rating(StrEnum):
    """What the user thinks of a route."""

    GOOD = "good"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Correction:
    """What the user says of the route of an answer: right or wrong, and which expert or task it should have been."""

    rating: Rating | None = None
    expert: str | None = None
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One node of a conversation. `created_at` is seconds since the epoch; what only answers have is None for the rest.

    `n_dropped` counts the older messages that were left out of the prompt for this answer. `thinking` came before the
    text and is not sent back to the expert; an answer with nothing but thinking shows that.
    """

    message_id: str
    conversation_id: str
    parent_id: str | None
    role: Role
    text: str
    created_at: float
    status: MessageStatus = MessageStatus.COMPLETE
    expert_id: str | None = None
    route: Route | None = None
    finish_reason: FinishReason | None = None
    timings: Timings | None = None
    memory: MemoryUse | None = None
    n_dropped: int = 0
    error: ErrorReport | None = None
    thinking: str = ""
    attachments: tuple[Attachment, ...] = ()
    correction: Correction | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A tree of messages with the leaf that is shown. `expert_id` is the pin, None for Auto.

    `system_prompt` and `preset` are this conversation's own, empty for those of the settings. `folder` is the name the
    user gave to a group of conversations, empty for none.
    """

    conversation_id: str
    title: str
    created_at: float
    updated_at: float
    leaf_id: str | None = None
    expert_id: str | None = None
    draft: str = ""
    system_prompt: str = ""
    preset: str = ""
    is_pinned: bool = False
    folder: str = ""


@dataclass(frozen=True, slots=True)
class DeletedConversation:
    """One that was deleted and can still be brought back. `deleted_at` is seconds since the epoch."""

    conversation_id: str
    title: str
    deleted_at: float
    n_messages: int


@dataclass(frozen=True, slots=True)
class OpenConversation:
    """A conversation as one screen shows it: the branch from the first message to the leaf, and its siblings.

    `siblings` has an entry for each message of the branch that has any: all ids under the same parent, itself
    included, oldest first.
    """

    conversation: Conversation
    branch: tuple[Message, ...]
    siblings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def can_be_continued(message: Message) -> bool:
    """Whether this is an answer that ended before its end, with something to go on with and someone to do it."""
    if message.role is not Role.ASSISTANT or message.expert_id is None or not (message.text or message.thinking):
        return False
    if message.status is MessageStatus.COMPLETE:
        return message.finish_reason is FinishReason.LENGTH
    return message.status is not MessageStatus.STREAMING


def text_for_expert(message: Message) -> str:
    """What an expert reads of a message: its files first, each with its name, then what was said."""
    files = [file_for_expert(one) for one in message.attachments]
    return "\n\n".join([*files, message.text]) if files else message.text


def file_for_expert(file: Attachment) -> str:
    """What an expert reads of a file: its name, and its text in a fence that is longer than any in it."""
    fence = "`" * max(3, max((len(run) for run in re.findall("`+", file.text)), default=0) + 1)
    return f"[{file.name}]\n{fence}\n{file.text.rstrip()}\n{fence}"


def branch_to(messages: Mapping[str, Message], leaf_id: str | None) -> tuple[Message, ...]:
    """The messages from the root to `leaf_id`, in order of speaking. A broken chain ends at the break."""
    path: list[Message] = []
    seen: set[str] = set()
    current = leaf_id
    while current is not None and current in messages and current not in seen:
        seen.add(current)
        path.append(messages[current])
        current = messages[current].parent_id
    return tuple(reversed(path))


def siblings_of(messages: Iterable[Message], branch: Iterable[Message]) -> dict[str, tuple[str, ...]]:
    """For each message of `branch` that is not an only child: the ids of all children of its parent, oldest first."""
    children: dict[str | None, list[Message]] = {}
    for message in messages:
        children.setdefault(message.parent_id, []).append(message)
    found: dict[str, tuple[str, ...]] = {}
    for message in branch:
        group = children.get(message.parent_id, [])
        if len(group) > 1:
            found[message.message_id] = tuple(m.message_id for m in sorted(group, key=_age))
    return found


def newest_leaf_below(messages: Iterable[Message], message_id: str) -> str:
    """The leaf one sees on switching to `message_id`: its newest child's newest child, and so on."""
    children: dict[str | None, list[Message]] = {}
    for message in messages:
        children.setdefault(message.parent_id, []).append(message)
    leaf = message_id
    seen = {leaf}
    while children.get(leaf):
        leaf = max(children[leaf], key=_age).message_id
        if leaf in seen:
            break
        seen.add(leaf)
    return leaf


def title_from(text: str, *, limit: int = 48) -> str:
    """A title from the first message: its first line with words in it, cut at a word where there are words.

    Marks of Markdown at its start are left out, other signs stay: C# and -5 mean what they say. No model is asked, so
    no expert's time and no cache is spent (reported fault G15). Empty where there is nothing to see.
    """
    words = next(filter(None, map(_words_of, text.splitlines())), "")
    if len(words) <= limit:
        return words
    cut = words[:limit]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(f" ,.;:，。；：、{_JOINERS}") + "…"


def _words_of(line: str) -> str:
    """What can be seen of a line; control signs, and those that turn the direction of writing, are dropped."""
    seen = "".join(c for c in line if c in f"\t{_JOINERS}" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    words = _MARKDOWN.sub("", " ".join(seen.split()))
    return words if words.strip(_JOINERS) else ""


def _age(message: Message) -> tuple[float, str]:
    return (message.created_at, message.message_id)
