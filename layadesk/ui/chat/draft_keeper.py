"""Unsent text, kept for each conversation: at once in memory, a moment later in the store."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot

from layadesk.domain.chat import Conversation
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge

if TYPE_CHECKING:
    from layadesk.usecases.manage_conversations import Conversations


SAVE_AFTER_MS = 400


class DraftKeeper(QObject):
    """What is typed is in the store at most SAVE_AFTER_MS after the last key, and on `flush`."""

    def __init__(self, conversations: "Conversations", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self._bridge = bridge
        self._drafts: dict[str, str] = {}
        self._unsaved: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SAVE_AFTER_MS)
        self._timer.timeout.connect(self.flush)

    def draft_of(self, conversation: Conversation) -> str:
        """The newest unsent text."""
        return self._drafts.get(conversation.conversation_id, conversation.draft)

    def note(self, conversation: Conversation, text: str) -> None:
        """The text has changed."""
        if self.draft_of(conversation) == text:
            return
        self._drafts[conversation.conversation_id] = text
        self._unsaved.add(conversation.conversation_id)
        self._timer.start()

    @Slot()
    def flush(self) -> None:
        """Save what is not saved yet."""
        self._timer.stop()
        for conversation_id in sorted(self._unsaved):
            future = self._conversations.save_draft(conversation_id, self._drafts[conversation_id])
            self._bridge.deliver(future, self._on_saved, on_error=self._on_not_saved)
        self._unsaved.clear()

    @Slot(object)
    def _on_saved(self, _: object) -> None:
        pass

    @Slot(object)
    def _on_not_saved(self, report: ErrorReport) -> None:
        """The banner about storage says what is wrong; the text stays in memory."""
