"""Conversations and messages as rows, and back. Writing is exact; reading forgives what it does not understand.

Whatever a newer, older or damaged program wrote: the message is shown, with None for the fields that make no sense
(reported faults E03, E09).
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import msgspec

from layadesk.domain.chat import Attachment, Conversation, Correction, Message, MessageStatus
from layadesk.domain.corrections import JudgedAnswer
from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse, Role, Timings
from layadesk.domain.routing import Route

SqlValue = str | int | float | bytes | None
EnumT = TypeVar("EnumT", bound=StrEnum)
ValueT = TypeVar("ValueT")

# All but `deleted_at`, and all but `n_decoded` and `session_id`: those are not part of the values.
CONVERSATION_FIELDS = (
    "conversation_id", "title", "created_at", "updated_at", "leaf_id", "expert_id", "draft",
    "system_prompt", "preset", "is_pinned", "folder",
)  # fmt: skip
MESSAGE_FIELDS = (
    "message_id", "conversation_id", "parent_id", "role", "text", "created_at", "status", "expert_id", "route",
    "finish_reason", "timings", "memory", "n_dropped", "error", "thinking",
    "attachments", "correction",
)  # fmt: skip

# Looking a word up is five times as fast as making an enum of it, and a long conversation has 15,000.
_MEMBERS: Mapping[type[StrEnum], Mapping[str, StrEnum]] = {
    kind: {member.value: member for member in kind} for kind in (Role, MessageStatus, FinishReason)
}
_ROUTE = msgspec.json.Decoder(Route)
_TIMINGS = msgspec.json.Decoder(Timings)
_MEMORY = msgspec.json.Decoder(MemoryUse)
_ATTACHMENTS = msgspec.json.Decoder(tuple[Attachment, ...])
_CORRECTION = msgspec.json.Decoder(Correction)
_ERROR = msgspec.json.Decoder(ErrorReport)


def conversation_row(conversation: Conversation) -> tuple[SqlValue, ...]:
    """The values of CONVERSATION_FIELDS."""
    return (
        conversation.conversation_id,
        storable(conversation.title),
        conversation.created_at,
        conversation.updated_at,
        conversation.leaf_id,
        conversation.expert_id,
        storable(conversation.draft),
        storable(conversation.system_prompt),
        conversation.preset,
        int(conversation.is_pinned),
        storable(conversation.folder),
    )


def message_row(message: Message) -> tuple[SqlValue, ...]:
    """The values of MESSAGE_FIELDS."""
    return (
        message.message_id,
        message.conversation_id,
        message.parent_id,
        message.role.value,
        storable(message.text),
        message.created_at,
        message.status.value,
        message.expert_id,
        as_json(message.route),
        None if message.finish_reason is None else message.finish_reason.value,
        as_json(message.timings),
        as_json(message.memory),
        message.n_dropped,
        as_json(message.error),
        storable(message.thinking),
        as_json(message.attachments or None),
        as_json(message.correction),
    )


def storable(text: str) -> str:
    """`text` with halves of surrogate pairs joined, or replaced by U+FFFD: UTF-8 cannot hold them, SQLite refuses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def as_json(
    value: Route | Timings | MemoryUse | ErrorReport | Correction | tuple[Attachment, ...] | None,
) -> str | None:
    """A value of the domain as JSON."""
    if value is None:
        return None
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a file name that is no UTF-8, in the facts of an error
        return msgspec.json.encode(_all_storable(msgspec.to_builtins(value))).decode()


def conversation_from(row: tuple[Any, ...]) -> tuple[Conversation | None, bool]:
    """A row of CONVERSATION_FIELDS as a value, and whether all of it could be read. None: it has no id."""
    reading = _Reading(CONVERSATION_FIELDS, row)
    conversation_id = reading.id("conversation_id")
    if conversation_id is None:
        return None, False
    created_at = reading.number("created_at")
    conversation = Conversation(
        conversation_id,
        reading.text("title"),
        created_at,
        reading.number("updated_at") or created_at,
        leaf_id=reading.id("leaf_id"),
        expert_id=reading.id("expert_id"),
        draft=reading.text("draft"),
        system_prompt=reading.text("system_prompt"),
        preset=reading.text("preset"),
        is_pinned=bool(reading.number("is_pinned")),
        folder=reading.text("folder"),
    )
    return conversation, reading.is_whole


def judged_from(fields: Sequence[Any]) -> JudgedAnswer | None:
    """Question, the one before, route, correction, end, number of answers; None where the route cannot be read."""
    question, previous, raw_route, raw_correction, raw_reason, n_answers = fields
    try:
        route = _ROUTE.decode(raw_route)
        correction = None if raw_correction is None else _CORRECTION.decode(raw_correction)
        reason = None if raw_reason is None else FinishReason(raw_reason)
    except (msgspec.DecodeError, ValueError, TypeError):
        return None
    return JudgedAnswer(str(question), str(previous or ""), route, correction, reason, int(n_answers))


def message_from(row: tuple[Any, ...]) -> tuple[Message | None, bool]:
    """A row of MESSAGE_FIELDS as a value, and whether all of it could be read. None: it has no id.

    An unknown role counts as the assistant's (a newer program's tool output, for instance), an unknown status as
    complete: neither hides the text.
    """
    reading = _Reading(MESSAGE_FIELDS, row)
    message_id, conversation_id = reading.id("message_id"), reading.id("conversation_id")
    if message_id is None or conversation_id is None:
        return None, False
    message = Message(
        message_id,
        conversation_id,
        reading.id("parent_id"),
        reading.choice(Role, "role") or Role.ASSISTANT,
        reading.text("text"),
        reading.number("created_at"),
        status=reading.choice(MessageStatus, "status") or MessageStatus.COMPLETE,
        expert_id=reading.id("expert_id"),
        route=reading.json(_ROUTE, "route"),
        finish_reason=reading.choice(FinishReason, "finish_reason"),
        timings=reading.json(_TIMINGS, "timings"),
        memory=reading.json(_MEMORY, "memory"),
        n_dropped=int(reading.number("n_dropped")),
        error=reading.json(_ERROR, "error"),
        thinking=reading.text("thinking"),
        attachments=reading.json(_ATTACHMENTS, "attachments") or (),
        correction=reading.json(_CORRECTION, "correction"),
    )
    return message, reading.is_whole


class _Reading:
    """One row, field by field. SQLite keeps any type in any column, so each is checked."""

    def __init__(self, fields: tuple[str, ...], row: tuple[Any, ...]) -> None:
        self._row = dict(zip(fields, row, strict=True))
        self.is_whole = True

    def text(self, name: str) -> str:
        value = self._row[name]
        if isinstance(value, str):
            return value
        self.is_whole = False
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return "" if value is None else str(value)

    def id(self, name: str) -> str | None:
        value = self._row[name]
        if value is None or (isinstance(value, str) and value):
            return value
        self.is_whole = False
        return None

    def number(self, name: str) -> float:
        value = self._row[name]
        if isinstance(value, int | float) and abs(value) < 1e15:
            return value
        self.is_whole = False
        return 0.0

    def choice(self, choices: type[EnumT], name: str) -> EnumT | None:
        value = self._row[name]
        if value is None:
            return None
        found = _MEMBERS[choices].get(value) if isinstance(value, str) else None
        if found is None:
            self.is_whole = False
        return found  # type: ignore[return-value]  # a member of `choices`

    def json(self, decoder: msgspec.json.Decoder[ValueT], name: str) -> ValueT | None:
        value = self._row[name]
        if value is None:
            return None
        try:
            return decoder.decode(value)
        except (msgspec.MsgspecError, TypeError, RecursionError, UnicodeError):
            self.is_whole = False
            return None


def _all_storable(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {_all_storable(key): _all_storable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_all_storable(one) for one in value]
    return value
