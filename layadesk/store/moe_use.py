"""What gates inside models chose, coarsely: a row an answer. Not in `schema.TABLES`, as the ledger of loads."""

import sqlite3
from collections.abc import Mapping
from typing import Final

import msgspec

from layadesk.domain.moe_experts import KeptMoe
from layadesk.store.queries import Found

TABLE: Final = """
    CREATE TABLE moe_use (
        message_id TEXT NOT NULL PRIMARY KEY REFERENCES message (message_id) ON DELETE CASCADE,
        kept TEXT NOT NULL
    )
"""
_KEPT: Final = msgspec.json.Decoder(KeptMoe)


def save_moe_use(connection: sqlite3.Connection, message_id: str, kept: KeptMoe) -> None:
    """Keep it with its message; silent where that is gone."""
    connection.execute(
        "INSERT OR REPLACE INTO moe_use (message_id, kept) SELECT message_id, ? FROM message WHERE message_id = ?",
        (msgspec.json.encode(kept).decode(), message_id),
    )


def load_moe_use(connection: sqlite3.Connection, conversation_id: str) -> Found[Mapping[str, KeptMoe]]:
    """By message id, oldest first; a row that makes no sense is left out."""
    rows = connection.execute(
        "SELECT message_id, kept FROM moe_use JOIN message USING (message_id) WHERE conversation_id = ?"
        " ORDER BY created_at, message_id",
        (conversation_id,),
    )
    found: dict[str, KeptMoe] = {}
    for message_id, text in rows:
        try:
            found[message_id] = _KEPT.decode(text)
        except (msgspec.MsgspecError, TypeError, UnicodeError):
            continue
    return Found(found, frozenset())
