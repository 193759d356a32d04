"""Conversations and messages in few words, and a store whose disk can be made full and empty again."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from layadesk.domain.chat import Conversation, Message, MessageStatus
from layadesk.domain.inference import Role
from layadesk.domain.storage import StorageStatus
from layadesk.paths import DataPaths
from layadesk.store.store import Store

ResultT = TypeVar("ResultT")

NOW = 1_750_000_000.0  # 15 June 2025
WAIT_S = 20.0


def result_of(future: "Future[ResultT]") -> ResultT:
    """The result; a store that hangs fails the test instead of hanging it."""
    return future.result(WAIT_S)


def a_conversation(conversation_id: str = "c1", **fields: Any) -> Conversation:
    """A conversation made at NOW."""
    return replace(Conversation(conversation_id, "Quicksort", NOW, NOW), **fields)


def a_question(message_id: str = "q1", **fields: Any) -> Message:
    """A message of the user in `c1`, one second after NOW."""
    return replace(Message(message_id, "c1", None, Role.USER, "Sort this", NOW + 1), **fields)


def an_answer(message_id: str = "a1", **fields: Any) -> Message:
    """An empty answer to `q1` that is being made."""
    blank = Message(message_id, "c1", "q1", Role.ASSISTANT, "", NOW + 2, MessageStatus.STREAMING)
    return replace(blank, **fields)


@contextmanager
def opened(root: Path, **options: Any) -> Iterator[Store]:
    """A store on `root` that is closed at the end."""
    store = Store.open(DataPaths(root), now=options.pop("now", NOW), **options)
    try:
        yield store
    finally:
        store.close()


def fill(store: Store) -> None:
    """One conversation with a question and its running answer."""
    result_of(store.add_conversation(a_conversation()))
    result_of(store.add_messages([a_question(), an_answer()], leaf_id="a1"))


def database(root: Path) -> sqlite3.Connection:
    """The database file itself, past the store; the caller closes it."""
    return sqlite3.connect(DataPaths(root).database, isolation_level=None)


class SmallDisk:
    """A limit on the database's pages; SQLite then says SQLITE_FULL, as on a disk without space. Pass `tune`."""

    def __init__(self) -> None:
        self.is_full = False
        self._connections: list[sqlite3.Connection] = []

    def tune(self, connection: sqlite3.Connection) -> None:
        """Called by the store with each connection it opens."""
        self._connections.append(connection)
        self._limit(connection)

    def set_full(self, is_full: bool) -> None:
        """Fill the disk, or make room. Only while the store is idle."""
        self.is_full = is_full
        for connection in self._connections:
            try:
                self._limit(connection)
            except sqlite3.ProgrammingError:  # closed by now
                continue

    def _limit(self, connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0] if self.is_full else 2**30
        connection.execute(f"PRAGMA max_page_count = {max(1, pages)}")


class StatusLog:
    """Every status a store publishes, to be waited for."""

    def __init__(self, store: Store) -> None:
        self.seen: list[StorageStatus] = []
        self._changed = threading.Condition()
        store.status_feed.subscribe(self._keep)

    def _keep(self, status: StorageStatus) -> None:
        with self._changed:
            self.seen.append(status)
            self._changed.notify_all()

    def wait_for(self, **fields: object) -> StorageStatus:
        """The first published status with these fields."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._first(fields) is not None, WAIT_S), self.seen
            found = self._first(fields)
        assert found is not None
        return found

    def _first(self, fields: dict[str, object]) -> StorageStatus | None:
        return next(
            (one for one in self.seen if all(getattr(one, name) == value for name, value in fields.items())), None
        )
