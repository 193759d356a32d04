"""Every change of the database, as a function on a connection.

The caller holds the transaction. Raises sqlite3.Error.
"""

import sqlite3
from collections.abc import Callable, Sequence

from layadesk.domain.chat import Conversation, Correction, Message, MessageStatus
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.routing import Route
from layadesk.store.rows import (
    CONVERSATION_FIELDS,
    MESSAGE_FIELDS,
    SqlValue,
    as_json,
    conversation_row,
    message_row,
    storable,
)


def _insert(table: str, fields: tuple[str, ...], *, on_conflict: str) -> str:
    return (
        f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))}) "
        f"ON CONFLICT ({fields[0]}) DO UPDATE SET {on_conflict}"
    )


_ADD_CONVERSATION = _insert(
    "conversation", CONVERSATION_FIELDS, on_conflict="title = excluded.title WHERE conversation.title = ''"
)
_PUT_MESSAGE = _insert(
    "message",
    (*MESSAGE_FIELDS, "session_id"),
    on_conflict=", ".join(f"{name} = excluded.{name}" for name in (*MESSAGE_FIELDS[1:], "session_id")),
)


def add_conversation(connection: sqlite3.Connection, conversation: Conversation) -> None:
    """Add a conversation. One that is there stays as it is, with its pin and draft; it only gets a missing title."""
    connection.execute(_ADD_CONVERSATION, conversation_row(conversation))


def set_field(connection: sqlite3.Connection, conversation_id: str, *, name: str, value: SqlValue) -> None:
    """Set one column of a conversation. Raises UNKNOWN_CONVERSATION."""
    kept = storable(value) if isinstance(value, str) else value
    done = connection.execute(
        f"UPDATE conversation SET {name} = ? WHERE conversation_id = ?",
        (kept, conversation_id),
    )
    if not done.rowcount:
        raise fail(ErrorCode.UNKNOWN_CONVERSATION, conversation=conversation_id)


def add_messages(connection: sqlite3.Connection, messages: Sequence[Message], *, leaf_id: str, session_id: str) -> None:
    """Add messages of any conversations and make `leaf_id` the one shown in each. Raises UNKNOWN_CONVERSATION."""
    for conversation_id in dict.fromkeys(message.conversation_id for message in messages):
        set_field(connection, conversation_id, name="leaf_id", value=leaf_id)
        newest = max(message.created_at for message in messages if message.conversation_id == conversation_id)
        connection.execute(
            "UPDATE conversation SET updated_at = max(updated_at, ?) WHERE conversation_id = ?",
            (newest, conversation_id),
        )
    for message in messages:
        put_message(connection, message, session_id=session_id)


def put_message(connection: sqlite3.Connection, message: Message, *, session_id: str) -> None:
    """Add a message, or bring it up to date. Raises UNKNOWN_CONVERSATION."""
    owner = session_id if message.status is MessageStatus.STREAMING else None
    try:
        connection.execute(_PUT_MESSAGE, (*message_row(message), owner))
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
            raise
        raise fail(ErrorCode.UNKNOWN_CONVERSATION, conversation=message.conversation_id) from error


def save_progress(connection: sqlite3.Connection, message_id: str, text: str, n_decoded: int, thinking: str) -> None:
    """The text and thinking so far of an answer that is being made; nothing happens to one that has ended."""
    connection.execute(
        "UPDATE message SET text = ?, thinking = ?, n_decoded = ? WHERE message_id = ? AND status = 'streaming'",
        (storable(text), storable(thinking), n_decoded, message_id),
    )


def save_route(connection: sqlite3.Connection, message_id: str, route: Route) -> None:
    """Keep the route and its expert with the answer, so that they are there also when its end is never written."""
    connection.execute(
        "UPDATE message SET route = ?, expert_id = ? WHERE message_id = ?", (as_json(route), route.expert, message_id)
    )


def save_correction(connection: sqlite3.Connection, message_id: str, correction: Correction | None) -> None:
    """Keep what the user says of a route, with its answer."""
    connection.execute(
        "UPDATE message SET correction = ? WHERE message_id = ?",
        (as_json(correction), message_id),
    )


def mark_interrupted(connection: sqlite3.Connection, lives: Callable[[str], bool]) -> int:
    """End the answers whose program died in the middle; the text so far stays. Returns how many there were."""
    writing = connection.execute("SELECT DISTINCT session_id FROM message WHERE status = 'streaming'").fetchall()
    n_marked = 0
    for (session_id,) in writing:
        if session_id is None or not lives(str(session_id)):
            n_marked += connection.execute(
                "UPDATE message SET status = ?, session_id = NULL WHERE status = 'streaming' AND session_id IS ?",
                (MessageStatus.INTERRUPTED.value, session_id),
            ).rowcount
    return n_marked


def purge_deleted(connection: sqlite3.Connection, *, deleted_before: float) -> int:
    """Remove conversations for good, with their messages, that were deleted before that time. Returns how many."""
    return connection.execute("DELETE FROM conversation WHERE deleted_at < ?", (deleted_before,)).rowcount


def erase(connection: sqlite3.Connection, conversation_id: str) -> None:
    """Remove one deleted conversation for good, with its messages."""
    connection.execute(
        "DELETE FROM conversation WHERE conversation_id = ? AND deleted_at IS NOT NULL", (conversation_id,)
    )
