"""The database in memory that the program goes on with while the disk refuses, and the way back to the disk."""

import logging
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from layadesk.domain.errors import LayaDeskError
from layadesk.store.database import connect_memory, connect_untouched, fault_of, transaction, user_version
from layadesk.store.row_copy import copy_all, copy_rows
from layadesk.store.schema import TABLES, Migration, migrate, missing_columns, newest_version

log = logging.getLogger(__name__)


def shelter_of_file(path: Path, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """A shelter with what a file on disk still gives up; an empty one if there is nothing. Never changes the file."""
    with suppress(sqlite3.Error, OSError):
        if path.is_file():
            with closing(connect_untouched(path)) as disk:
                return shelter_of(disk, migrations)
    return _watched(_empty(migrations))


def shelter_of(disk: sqlite3.Connection, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """A shelter with the rows of an open database: a whole copy where that works, else row by row."""
    memory = _whole_copy(disk, migrations)
    if memory is None:
        memory = _empty(migrations)
        with transaction(memory):
            n_refused = copy_all(disk, memory)
        log.info("rows were read one by one; %d could not be taken", n_refused)
    return _watched(memory)


def n_unsaved(memory: sqlite3.Connection) -> int:
    """How many conversations and messages are newer here than on the disk."""
    count: int = memory.execute("SELECT count(*) FROM unsaved").fetchone()[0]
    return count


def write_back(memory: sqlite3.Connection, disk: sqlite3.Connection) -> None:
    """Everything that was changed in the shelter, and everything the disk has lost, in one transaction.

    Raises sqlite3.Error with the disk unchanged; the shelter is never changed.
    """
    changed = memory.execute("SELECT table_name, row_id FROM unsaved").fetchall()
    with transaction(disk):
        copy_all(memory, disk)
        copy_rows(memory, disk, changed)


def _whole_copy(disk: sqlite3.Connection, migrations: Sequence[Migration]) -> sqlite3.Connection | None:
    memory = connect_memory()
    try:
        if user_version(disk) <= newest_version(migrations):
            disk.backup(memory)
            migrate(memory, migrations)
            if not missing_columns(memory) and fault_of(memory) is None:
                return memory
    except (sqlite3.Error, LayaDeskError) as error:
        log.info("the database cannot be copied whole: %s", error)
    memory.close()
    return None


def _empty(migrations: Sequence[Migration]) -> sqlite3.Connection:
    memory = connect_memory()
    migrate(memory, migrations)
    return memory


def _watched(memory: sqlite3.Connection) -> sqlite3.Connection:
    """From now on the table `unsaved` names every row that is changed; no writer can forget to do it."""
    memory.execute("CREATE TABLE unsaved (table_name TEXT, row_id TEXT, PRIMARY KEY (table_name, row_id))")
    for table, columns in TABLES.items():
        for event in ("INSERT", "UPDATE"):
            memory.execute(
                f"CREATE TRIGGER unsaved_{table}_{event.lower()} AFTER {event} ON {table} BEGIN "
                f"INSERT INTO unsaved VALUES ('{table}', new.{columns[0]}) ON CONFLICT DO NOTHING; END"
            )
    return memory
