"""Take conversations out of the program as files, and bring them in."""

import logging
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from layadesk.chat_files import ours
from layadesk.chat_files.attachments import read_attachment
from layadesk.chat_files.reading import read_trees
from layadesk.chat_files.tree import Tree
from layadesk.domain.chat import Attachment
from layadesk.domain.errors import ErrorCode, fail
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.usecases.manage_conversations import LIST_CHANGED

log = logging.getLogger(__name__)


class ChatFormat(StrEnum):
    """What can be written."""

    JSON = "json"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class Imported:
    """What came in. `n_skipped` records could not be read; `first_id` is the newest conversation of the file."""

    n_conversations: int
    n_messages: int
    n_skipped: int
    first_id: str


class MoveChats:
    """Any thread; the work is done on a thread of its own, which is started by the first piece of it."""

    def __init__(self, store: Store, changed: Feed[str]) -> None:
        self._store = store
        self._changed = changed
        self._thread: ThreadPoolExecutor | None = None

    def export(self, conversation_ids: Sequence[str], path: str, form: ChatFormat) -> Future[int]:
        """Write these conversations, or all for none, to one file; gives their number. Fails with EXPORT_FAILED.

        The file is whole or not there: it is written beside and moved.
        """
        return self._run().submit(self._export, tuple(conversation_ids), Path(path), form)

    def import_file(self, path: str) -> Future[Imported]:
        """Add the conversations of a file to those that are there. Fails with CHAT_FILE_UNREADABLE."""
        return self._run().submit(self._import, Path(path))

    def read_attachment(self, path: str) -> Future[Attachment]:
        """A file as text. Fails with ATTACHMENT_UNREADABLE."""
        return self._run().submit(read_attachment, Path(path))

    def close(self) -> None:
        """End the thread when its work is done."""
        if self._thread is not None:
            self._thread.shutdown(wait=True, cancel_futures=True)

    def _run(self) -> ThreadPoolExecutor:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "chat-files")
        return self._thread

    def _export(self, conversation_ids: tuple[str, ...], path: Path, form: ChatFormat) -> int:
        wanted = conversation_ids or tuple(c.conversation_id for c in self._store.list_conversations().result())
        trees = []
        for conversation_id in wanted:
            conversation = self._store.load_conversation(conversation_id).result()
            messages = self._store.load_messages(conversation_id).result()
            trees.append(Tree(conversation, tuple(messages.values())))
        if form is ChatFormat.JSON:
            content = ours.as_json(trees)
        else:
            content = "\n\n---\n\n".join(ours.as_markdown(tree) for tree in trees).encode()
        beside = path.with_name(path.name + ".part")
        try:
            beside.write_bytes(content)
            os.replace(beside, path)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise fail(ErrorCode.EXPORT_FAILED, path=str(path), detail=error.strerror or str(error)) from error
        return len(trees)

    def _import(self, path: Path) -> Imported:
        trees = read_trees(path)
        for tree in trees:
            self._store.add_tree(tree.conversation, tree.messages).result()
        self._changed.publish(LIST_CHANGED)
        newest = max(trees, key=lambda tree: tree.conversation.updated_at)
        log.info("%d conversations were imported", len(trees))
        return Imported(
            len(trees),
            sum(len(tree.messages) for tree in trees),
            sum(tree.n_skipped for tree in trees),
            newest.conversation.conversation_id,
        )
