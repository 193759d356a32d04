"""Conversations on disk, for the rest of the program: ask for anything from any thread, and get a future.

Writes are made by the thread "store" in the order they were asked for; reads by "store-read", each after all writes
that were asked for before it. Callbacks of futures and of `status_feed` run on these threads, so they must be short and
must not wait for another future of the store.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial

from layadesk.domain.chat import Conversation, Correction, DeletedConversation, Message
from layadesk.domain.corrections import JudgedAnswer
from layadesk.domain.machine_minutes import MachineMinute
from layadesk.domain.memory_fit.load_record import LoadRecord
from layadesk.domain.moe_experts import KeptMoe
from layadesk.domain.routing import Route
from layadesk.domain.search import SearchHit
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.store import changes, queries
from layadesk.store.backups import DAY_S
from layadesk.store.database import Tune
from layadesk.store.load_records import load_records, save_record
from layadesk.store.machine_minutes import load_minutes, save_minute
from layadesk.store.moe_use import load_moe_use, save_moe_use
from layadesk.store.opening import DiskDoor
from layadesk.store.schema import MIGRATIONS, Migration
from layadesk.store.search import search
from layadesk.store.session import Session
from layadesk.store.threads import StoreThreads

RETRY_EVERY_S = 30.0
KEPT_AFTER_DELETION_S = 30 * DAY_S


class Store:
    """One data directory's conversations. A refusing disk is never an error here: the store goes on in memory, says so
    in `status`, tries the disk again every 30 s, and then writes to it all it has missed.

    A future that has a result means: committed, so that the death of this program cannot undo it (or, while `status`
    says MEMORY_ONLY, kept in memory). Futures fail with UNKNOWN_CONVERSATION, or INTERNAL for our own mistakes and
    after `close`.
    """

    def __init__(self, threads: StoreThreads, session: Session, clock: Callable[[], float]) -> None:
        """Use `Store.open`."""
        self._threads = threads
        self._session = session
        self._clock = clock

    @classmethod
    def open(
        cls,
        paths: DataPaths,
        *,
        now: float,
        clock: Callable[[], float] = time.time,
        retry_every_s: float = RETRY_EVERY_S,
        migrations: Sequence[Migration] = MIGRATIONS,
        tune: Tune | None = None,
    ) -> "Store":
        """Open, or make, the database; checks, migrates and repairs it first. Never raises for a bad disk.

        `now` and `clock` are seconds since the epoch. Blocks for the time of a few file accesses, more only for a large
        file after a crash. Conversations deleted more than 30 days ago are removed; a copy a day is made behind.
        """
        session = Session(paths.run)
        threads = StoreThreads(
            DiskDoor(paths, migrations, tune), session, now=now, clock=clock, retry_every_s=retry_every_s
        )
        threads.start(lambda db: changes.purge_deleted(db, deleted_before=now - KEPT_AFTER_DELETION_S))
        return cls(threads, session, clock)

    @property
    def status(self) -> StorageStatus:
        """Where conversations are kept at this moment."""
        return self._threads.board.status

    @property
    def status_feed(self) -> Feed[StorageStatus]:
        """Each new status, on a thread of the store."""
        return self._threads.board.feed

    def retry(self) -> Future[StorageStatus]:
        """Try the disk now; the result is the status after it."""
        return self._threads.try_disk()

    def list_conversations(self) -> Future[tuple[Conversation, ...]]:
        """All that are not deleted, newest first."""
        return self._threads.read(queries.list_conversations)

    def load_conversation(self, conversation_id: str) -> Future[Conversation]:
        """One conversation, also a deleted one. Fails with UNKNOWN_CONVERSATION."""
        return self._threads.read(partial(queries.load_conversation, conversation_id=conversation_id))

    def load_messages(self, conversation_id: str) -> Future[dict[str, Message]]:
        """All messages of the tree by id, oldest first; empty for an unknown conversation.

        What cannot be read of a row is None, and counted in `status.n_unreadable`.
        """
        return self._threads.read(partial(queries.load_messages, conversation_id=conversation_id))

    def judged_answers(self) -> Future[tuple[JudgedAnswer, ...]]:
        """All answers that have a route, with what was said about it, oldest first."""
        return self._threads.read(queries.judged_answers)

    def add_conversation(self, conversation: Conversation) -> Future[None]:
        """Keep a new conversation. One with the same id stays as it is, and only gets the title it has not."""
        return self._threads.write(lambda db: changes.add_conversation(db, conversation))

    def rename(self, conversation_id: str, title: str) -> Future[None]:
        """Give a conversation another title."""
        return self._set(conversation_id, "title", title)

    def set_pin(self, conversation_id: str, expert_id: str | None) -> Future[None]:
        """Pin an expert to a conversation; None is Auto."""
        return self._set(conversation_id, "expert_id", expert_id)

    def set_draft(self, conversation_id: str, draft: str) -> Future[None]:
        """Keep what is typed but not sent; of several waiting drafts only the newest is written."""
        return self._set(conversation_id, "draft", draft, is_state=True)

    def set_leaf(self, conversation_id: str, leaf_id: str) -> Future[None]:
        """Remember which branch is shown."""
        return self._set(conversation_id, "leaf_id", leaf_id)

    def set_system_prompt(self, conversation_id: str, text: str) -> Future[None]:
        """Give a conversation a system prompt of its own; empty is that of the settings."""
        return self._set(conversation_id, "system_prompt", text)

    def set_preset(self, conversation_id: str, preset: str) -> Future[None]:
        """Give a conversation a sampling preset of its own; empty is the settings."""
        return self._set(conversation_id, "preset", preset)

    def set_pinned(self, conversation_id: str, is_pinned: bool) -> Future[None]:
        """Keep a conversation at the top of the list."""
        return self._set(conversation_id, "is_pinned", int(is_pinned))

    def set_folder(self, conversation_id: str, folder: str) -> Future[None]:
        """Put a conversation into a folder; empty takes it out."""
        return self._set(conversation_id, "folder", folder)

    def save_correction(self, message_id: str, correction: Correction | None) -> Future[None]:
        """Keep what the user says of a route, with its answer; None takes it back."""
        return self._threads.write(lambda db: changes.save_correction(db, message_id, correction))

    def search(self, query: str, *, limit: int = 200) -> Future[tuple[SearchHit, ...]]:
        """Finds in titles and messages of conversations that are not deleted."""
        return self._threads.read(partial(search, query=query, limit=limit))

    def load_routed(self, since: float) -> Future[tuple[Message, ...]]:
        """Answers with a kept route, of conversations that are not deleted, from that time on, oldest first; without
        their texts.
        """
        return self._threads.read(partial(queries.load_routed, since=since))

    def add_tree(self, conversation: Conversation, messages: Sequence[Message]) -> Future[None]:
        """Keep a whole conversation in one transaction."""
        session_id = self._session.session_id

        def add(db: sqlite3.Connection) -> None:
            changes.add_conversation(db, conversation)
            for message in messages:
                changes.put_message(db, message, session_id=session_id)

        return self._threads.write(add)

    def delete(self, conversation_id: str) -> Future[None]:
        """Hide a conversation; it can be restored for 30 days."""
        return self._set(conversation_id, "deleted_at", self._clock())

    def restore(self, conversation_id: str) -> Future[None]:
        """Bring a deleted conversation back, as it was."""
        return self._set(conversation_id, "deleted_at", None)

    def list_deleted(self) -> Future[tuple[DeletedConversation, ...]]:
        """Those that can still be restored, the last deleted first."""
        return self._threads.read(queries.list_deleted)

    def erase(self, conversation_id: str) -> Future[None]:
        """Remove a deleted conversation for good, with its messages; silent for one that is not deleted."""
        return self._threads.write(lambda db: changes.erase(db, conversation_id))

    def add_messages(self, messages: Sequence[Message], *, leaf_id: str) -> Future[None]:
        """Add messages to their conversation in one transaction, show the branch of `leaf_id`, and move the
        conversation up in the list.
        """
        session_id = self._session.session_id
        return self._threads.write(
            lambda db: changes.add_messages(db, messages, leaf_id=leaf_id, session_id=session_id)
        )

    def save_progress(self, message_id: str, text: str, n_decoded: int, thinking: str = "") -> Future[None]:
        """Keep the whole text and thinking so far of a running answer. Of several waiting states only the newest is
        written, and all their futures end with it. An answer that has ended is left alone.
        """
        return self._threads.write(
            lambda db: changes.save_progress(db, message_id, text, n_decoded, thinking),
            replaces=f"progress {message_id}",
            is_state=True,
        )

    def save_route(self, message_id: str, route: Route) -> Future[None]:
        """Keep a route with its answer."""
        return self._threads.write(lambda db: changes.save_route(db, message_id, route))

    def finish_message(self, message: Message) -> Future[None]:
        """Keep a message as it is in the end; adds it if it is not there."""
        session_id = self._session.session_id
        return self._threads.write(
            lambda db: changes.put_message(db, message, session_id=session_id),
            replaces=f"progress {message.message_id}",
        )

    def save_machine_minute(self, minute: MachineMinute) -> Future[None]:
        """Keep a minute of the machine, for a week. Nothing is kept while `status` says MEMORY_ONLY."""

        def save(db: sqlite3.Connection) -> None:
            if self.status.kind is StorageKind.SAVING:
                save_minute(db, minute)

        return self._threads.write(save)

    def machine_minutes(self, *, since: int, until: int) -> Future[tuple[MachineMinute, ...]]:
        """The minutes (since the epoch) from `since` to `until`, oldest first."""
        return self._threads.read(partial(load_minutes, since=since, until=until))

    def save_load_record(self, record: LoadRecord) -> Future[None]:
        """Keep what a load took. Nothing is kept while `status` says MEMORY_ONLY."""

        def save(db: sqlite3.Connection) -> None:
            if self.status.kind is StorageKind.SAVING:
                save_record(db, record)

        return self._threads.write(save)

    def load_records(self, *, limit: int = 200) -> Future[tuple[LoadRecord, ...]]:
        """What the last loads took, newest first."""
        return self._threads.read(lambda db: load_records(db, limit=limit))

    def save_moe_use(self, message_id: str, kept: KeptMoe) -> Future[None]:
        """Keep what gates chose for an answer. Nothing is kept while `status` says MEMORY_ONLY."""

        def save(db: sqlite3.Connection) -> None:
            if self.status.kind is StorageKind.SAVING:
                save_moe_use(db, message_id, kept)

        return self._threads.write(save)

    def moe_use(self, conversation_id: str) -> Future[Mapping[str, KeptMoe]]:
        """What gates chose for the answers of a conversation, by message id, oldest first."""
        return self._threads.read(lambda db: load_moe_use(db, conversation_id))

    def mark_interrupted(self) -> int:
        """End the answers that a program left unfinished when it died; their text stays. Returns how many.

        Call it once, at the start; waits for the store. Answers of another running program are not touched.
        """
        return self._threads.write(lambda db: changes.mark_interrupted(db, self._session.lives)).result()

    def close(self) -> None:
        """Write everything that was asked for, then close the files. Waits; may be called twice."""
        self._threads.close()

    def _set(
        self, conversation_id: str, name: str, value: str | float | None, *, is_state: bool = False
    ) -> Future[None]:
        return self._threads.write(
            lambda db: changes.set_field(db, conversation_id, name=name, value=value),
            replaces=f"{name} {conversation_id}" if is_state else "",
            is_state=is_state,
        )
