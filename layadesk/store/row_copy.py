"""Rows from one database into another: out of a damaged file, into memory and back. What can be read is kept."""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress

from layadesk.store.schema import TABLES, columns_of

log = logging.getLogger(__name__)

# A row that both sides have is replaced only where the source is known to be the newer one.
_SOURCE_IS_NEWER = {
    "conversation": "excluded.updated_at > conversation.updated_at",
    "message": (
        "message.status = 'streaming' AND length(excluded.text) + length(excluded.thinking)"
        " >= length(message.text) + length(message.thinking)"
    ),
}


def copy_all(source: sqlite3.Connection, target: sqlite3.Connection) -> int:
    """Copy every row that can be read; returns how many could not be taken. The caller holds a transaction on `target`.

    Columns are matched by name, so that the source may have another version or be broken in places. A message whose
    conversation is lost gets one without a title.
    """
    n_refused = 0
    for table in TABLES:
        columns = _shared_columns(source, target, table)
        insert = _insert(table, columns, where=_SOURCE_IS_NEWER[table]) if columns else ""
        known = {row[0] for row in target.execute("SELECT conversation_id FROM conversation")}
        made: set[object] = set()
        for row in _rows(source, table, columns):
            try:
                if table == "message":
                    _adopt(target, dict(zip(columns, row, strict=True)), known, made)
                target.execute(insert, row)
            except (sqlite3.IntegrityError, KeyError):  # a required value is missing: nothing to show
                n_refused += 1
    return n_refused


def copy_rows(source: sqlite3.Connection, target: sqlite3.Connection, unsaved: Sequence[tuple[str, str]]) -> None:
    """Copy the named rows (table, id) over whatever the target has. Same transaction rule as `copy_all`."""
    for table, columns in TABLES.items():
        insert = _insert(table, columns, where="TRUE")
        select = f"SELECT {', '.join(columns)} FROM {table} WHERE {columns[0]} = ?"
        for name, row_id in unsaved:
            if name == table:
                for row in source.execute(select, (row_id,)):
                    target.execute(insert, row)


def _shared_columns(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> tuple[str, ...]:
    with suppress(sqlite3.Error):
        present = columns_of(source, table)
        wanted = columns_of(target, table)
        if TABLES[table][0] in present:
            return tuple(column for column in wanted if column in present)
    return ()


def _rows(source: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> Iterator[tuple[object, ...]]:
    """All rows, from both ends where a damaged page lies in between; some come twice then."""
    listed = ", ".join(columns)
    for order in ("", " ORDER BY rowid DESC") if columns else ():
        try:
            yield from source.execute(f"SELECT {listed} FROM {table}{order}")
        except sqlite3.DatabaseError as error:
            log.info("table %s cannot be read to its end: %s", table, error)
        else:
            return


def _adopt(target: sqlite3.Connection, message: dict[str, object], known: set[object], made: set[object]) -> None:
    """Make a conversation for a message that has lost its own; one that was made here shows its newest message."""
    conversation_id, created_at = message["conversation_id"], message["created_at"]
    if conversation_id not in known:
        target.execute(
            "INSERT INTO conversation (conversation_id, title, created_at, updated_at, leaf_id) "
            "VALUES (?, '', ?, ?, ?)",
            (conversation_id, created_at, created_at, message["message_id"]),
        )
        known.add(conversation_id)
        made.add(conversation_id)
    elif conversation_id in made:
        target.execute(
            "UPDATE conversation SET leaf_id = ?, updated_at = ? WHERE conversation_id = ? AND updated_at < ?",
            (message["message_id"], created_at, conversation_id, created_at),
        )


def _insert(table: str, columns: tuple[str, ...], *, where: str) -> str:
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns[1:])
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT ({columns[0]}) DO UPDATE SET {changes} WHERE {where}"
    )
