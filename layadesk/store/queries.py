"""Every question to the database, as a function on a connection; unreadable rows are told, never in the way.

Raises sqlite3.Error; where that is damage, `Home` takes the rows that are left and asks again.
"""

import sqlite3
from dataclasses import dataclass
from typing import Generic, TypeVar

from layadesk.domain.chat import Conversation, DeletedConversation, Message
from layadesk.domain.corrections import JudgedAnswer
from layadesk.domain.errors import ErrorCode, fail
from layadesk.store.rows import CONVERSATION_FIELDS, MESSAGE_FIELDS, conversation_from, judged_from, message_from

ValueT = TypeVar("ValueT")

_CONVERSATIONS = f"SELECT {', '.join(CONVERSATION_FIELDS)} FROM conversation"


def _without_text(name: str) -> str:
    return {"text": "''", "thinking": "''", "attachments": "NULL"}.get(name, f"message.{name}")


_ROUTED = f"""
    SELECT {", ".join(_without_text(name) for name in MESSAGE_FIELDS)}
    FROM message JOIN conversation USING (conversation_id)
    WHERE message.route IS NOT NULL AND message.created_at >= ? AND deleted_at IS NULL
    ORDER BY message.created_at
"""
_MESSAGES = f"SELECT {', '.join(MESSAGE_FIELDS)} FROM message WHERE conversation_id = ?"


@dataclass(frozen=True, slots=True)
class Found(Generic[ValueT]):
    """The answer to a query. `unreadable` names the rows that could not be read, or only in part."""

    value: ValueT
    unreadable: frozenset[str]


def list_conversations(connection: sqlite3.Connection) -> Found[tuple[Conversation, ...]]:
    """All that are not deleted, newest first."""
    found, unreadable = [], set()
    for row in connection.execute(f"{_CONVERSATIONS} WHERE deleted_at IS NULL"):
        conversation, is_whole = conversation_from(row)
        if not is_whole:
            unreadable.add(f"conversation {row[0]!r}")
        if conversation is not None:
            found.append(conversation)
    found.sort(key=lambda one: (-one.updated_at, one.conversation_id))
    return Found(tuple(found), frozenset(unreadable))


def list_deleted(connection: sqlite3.Connection) -> Found[tuple[DeletedConversation, ...]]:
    """Those that can still be brought back and hold a message, the last deleted first."""
    rows = connection.execute(
        "SELECT conversation_id, title, deleted_at, count(message_id) FROM conversation"
        " JOIN message USING (conversation_id) WHERE deleted_at IS NOT NULL"
        " GROUP BY conversation_id ORDER BY deleted_at DESC, conversation_id"
    )
    found = tuple(DeletedConversation(str(key), str(title), float(at), int(n)) for key, title, at, n in rows)
    return Found(found, frozenset())


def load_conversation(connection: sqlite3.Connection, conversation_id: str) -> Found[Conversation]:
    """One conversation, also a deleted one. Raises UNKNOWN_CONVERSATION."""
    row = connection.execute(f"{_CONVERSATIONS} WHERE conversation_id = ?", (conversation_id,)).fetchone()
    conversation, is_whole = (None, True) if row is None else conversation_from(row)
    if conversation is None:
        raise fail(ErrorCode.UNKNOWN_CONVERSATION, conversation=conversation_id)
    return Found(conversation, frozenset() if is_whole else frozenset({f"conversation {conversation_id!r}"}))


_JUDGED = (
    "SELECT answer.message_id, question.text, earlier.text, answer.route, answer.correction, answer.finish_reason,"
    " (SELECT count(*) FROM message AS other WHERE other.parent_id = answer.parent_id)"
    " FROM message AS answer JOIN conversation USING (conversation_id)"
    " JOIN message AS question ON question.message_id = answer.parent_id"
    " LEFT JOIN message AS between_ ON between_.message_id = question.parent_id"
    " LEFT JOIN message AS earlier ON earlier.message_id = between_.parent_id"
    " WHERE answer.route IS NOT NULL AND conversation.deleted_at IS NULL ORDER BY answer.created_at"
)


def judged_answers(connection: sqlite3.Connection) -> Found[tuple[JudgedAnswer, ...]]:
    """All answers that have a route, of conversations that are not deleted, oldest first."""
    found, unreadable = [], set()
    for message_id, *fields in connection.execute(_JUDGED):
        judged = judged_from(fields)
        if judged is None:
            unreadable.add(f"message {message_id!r}")
        else:
            found.append(judged)
    return Found(tuple(found), frozenset(unreadable))


def load_messages(connection: sqlite3.Connection, conversation_id: str) -> Found[dict[str, Message]]:
    """All messages of a conversation by id, oldest first."""
    found, unreadable = [], set()
    for row in connection.execute(_MESSAGES, (conversation_id,)):
        message, is_whole = message_from(row)
        if not is_whole:
            unreadable.add(f"message {row[0]!r}")
        if message is not None:
            found.append(message)
    found.sort(key=lambda one: (one.created_at, one.message_id))
    return Found({one.message_id: one for one in found}, frozenset(unreadable))


def load_routed(connection: sqlite3.Connection, since: float) -> Found[tuple[Message, ...]]:
    """Answers that have a route, without their texts, oldest first."""
    found = (message_from(row)[0] for row in connection.execute(_ROUTED, (since,)))
    return Found(tuple(message for message in found if message is not None), frozenset())
