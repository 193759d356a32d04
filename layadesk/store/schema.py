"""The tables, as numbered migrations that only go forward. `PRAGMA user_version` says which one a file has had last.

A released migration is never edited: a new one is added, and the tests keep a database of each version.
"""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, fail
from layadesk.store.database import transaction, user_version
from layadesk.store.load_records import TABLE as LOAD_RECORD
from layadesk.store.machine_minutes import TABLE as MACHINE_MINUTE
from layadesk.store.moe_use import TABLE as MOE_USE
from layadesk.store.search_index import make_index

log = logging.getLogger(__name__)

CONVERSATION_COLUMNS = (
    "conversation_id", "title", "created_at", "updated_at", "leaf_id", "expert_id", "draft", "deleted_at",
    "system_prompt", "preset", "is_pinned", "folder",
)  # fmt: skip
MESSAGE_COLUMNS = (
    "message_id", "conversation_id", "parent_id", "role", "text", "created_at", "status", "expert_id", "route",
    "finish_reason", "timings", "memory", "n_dropped", "error", "n_decoded", "session_id", "thinking",
    "attachments", "correction",
)  # fmt: skip
TABLES = {"conversation": CONVERSATION_COLUMNS, "message": MESSAGE_COLUMNS}  # parents before children


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. `apply` changes tables only; transaction, counts, `user_version` and backup are `migrate`'s."""

    version: int
    name: str
    apply: Callable[[sqlite3.Connection], None]


# `parent_id` has no foreign key: a lost parent must not keep its children from being saved or restored.
# `session_id` names the running program that writes an answer (`session.py`); `route`, `timings`, `memory` and `error`
# are JSON. `n_decoded` counts the tokens of an answer that is not finished.
_VERSION_1 = (
    """
    CREATE TABLE conversation (
        conversation_id TEXT NOT NULL PRIMARY KEY,
        title TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        leaf_id TEXT,
        expert_id TEXT,
        draft TEXT NOT NULL DEFAULT '',
        deleted_at REAL
    )
    """,
    """
    CREATE TABLE message (
        message_id TEXT NOT NULL PRIMARY KEY,
        conversation_id TEXT NOT NULL REFERENCES conversation (conversation_id) ON DELETE CASCADE,
        parent_id TEXT,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        created_at REAL NOT NULL,
        status TEXT NOT NULL,
        expert_id TEXT,
        route TEXT,
        finish_reason TEXT,
        timings TEXT,
        memory TEXT,
        n_dropped INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        n_decoded INTEGER NOT NULL DEFAULT 0,
        session_id TEXT
    )
    """,
    "CREATE INDEX message_conversation ON message (conversation_id)",
    "CREATE INDEX message_streaming ON message (status) WHERE status = 'streaming'",
)


def _first_tables(connection: sqlite3.Connection) -> None:
    for statement in _VERSION_1:
        connection.execute(statement)


def _thinking(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE message ADD COLUMN thinking TEXT NOT NULL DEFAULT ''")


def _living(connection: sqlite3.Connection) -> None:
    for column in (
        "system_prompt TEXT NOT NULL DEFAULT ''",
        "preset TEXT NOT NULL DEFAULT ''",
        "is_pinned INTEGER NOT NULL DEFAULT 0",
        "folder TEXT NOT NULL DEFAULT ''",
    ):
        connection.execute(f"ALTER TABLE conversation ADD COLUMN {column}")
    for column in ("attachments TEXT", "correction TEXT"):
        connection.execute(f"ALTER TABLE message ADD COLUMN {column}")
    make_index(connection)


def _machine(connection: sqlite3.Connection) -> None:
    connection.execute(MACHINE_MINUTE)


def _loads(connection: sqlite3.Connection) -> None:
    connection.execute(LOAD_RECORD)


def _moe(connection: sqlite3.Connection) -> None:
    connection.execute(MOE_USE)


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "first tables", _first_tables),
    Migration(2, "thinking", _thinking),
    Migration(3, "folders, files, corrections, search", _living),
    Migration(4, "history of the machine", _machine),
    Migration(5, "what loads took", _loads),
    Migration(6, "what gates chose", _moe),
)


def newest_version(migrations: Sequence[Migration] = MIGRATIONS) -> int:
    """The version this program writes."""
    return migrations[-1].version


def migrate(
    connection: sqlite3.Connection,
    migrations: Sequence[Migration] = MIGRATIONS,
    *,
    before: Callable[[Migration], object] = lambda _: None,
) -> None:
    """Bring a database to the newest version; each step is one transaction, and `before` is called ahead of it.

    `before` is not called for a database without tables: there is nothing to back up. Raises
    DATABASE_MIGRATION_FAILED with the step undone, sqlite3 errors, and what `before` raises.
    """
    is_new = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None
    for migration in migrations:
        if migration.version <= user_version(connection):
            continue
        if not is_new:
            before(migration)
        _apply(connection, migration)
        log.info("database migrated to version %d (%s)", migration.version, migration.name)


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    connection.execute("PRAGMA foreign_keys = OFF")  # tables may be rebuilt; has no effect inside a transaction
    try:
        with transaction(connection):
            if migration.version <= user_version(connection):
                return  # another process was faster; its lock is gone only now
            _apply_counted(connection, migration)
    finally:
        connection.execute("PRAGMA foreign_keys = ON")


def _apply_counted(connection: sqlite3.Connection, migration: Migration) -> None:
    before, broken_before = _counts(connection), _n_broken_references(connection)
    try:
        migration.apply(connection)
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:
        raise fail(ErrorCode.DATABASE_MIGRATION_FAILED, version=migration.version, detail=str(error)) from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:
            raise  # the disk's fault, not the step's
        raise fail(ErrorCode.DATABASE_MIGRATION_FAILED, version=migration.version, detail=str(error)) from error
    after = _counts(connection)
    lost = {table: n for table, n in before.items() if after.get(table) != n}
    if lost or _n_broken_references(connection) > broken_before:
        facts = {f"n_{table}_before": n for table, n in before.items()}
        facts |= {f"n_{table}_after": after.get(table, 0) for table in before}
        raise fail(ErrorCode.DATABASE_MIGRATION_FAILED, version=migration.version, detail="rows differ", **facts)
    connection.execute(f"PRAGMA user_version = {migration.version:d}")


def missing_columns(connection: sqlite3.Connection) -> tuple[str, ...]:
    """What this program needs and a database of the right version does not have; empty for a sound one."""
    return tuple(
        f"{table}.{column}"
        for table, columns in TABLES.items()
        for column in columns
        if column not in columns_of(connection, table)
    )


def missing_tables(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The tables that every version has and this database lacks, although it calls itself one of ours."""
    if user_version(connection) == 0:
        return ()
    return tuple(table for table in ("conversation", "message") if not columns_of(connection, table))


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """The columns a table really has; empty when there is no such table."""
    return tuple(row[1] for row in connection.execute(f"PRAGMA table_info({table})"))


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    present = [table for table in TABLES if columns_of(connection, table)]
    return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in present}


def _n_broken_references(connection: sqlite3.Connection) -> int:
    return len(connection.execute("PRAGMA foreign_key_check").fetchall())
