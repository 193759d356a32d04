"""Asks the store what should be on screen; of several questions only the newest one's answer counts."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from layadesk.domain.chat import OpenConversation
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge

if TYPE_CHECKING:
    from layadesk.usecases.manage_conversations import Conversations


class BranchReader(QObject):
    """Signals:
    read: an OpenConversation that is still wanted.
    failed: an ErrorReport.
    """

    read = Signal(object)
    failed = Signal(object)

    def __init__(self, conversations: "Conversations", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self._bridge = bridge
        self._n_asked = 0
        self._is_switching = False
        self._must_ask_again = False
        self.wanted_id: str | None = None

    def forget(self) -> None:
        """Nothing of the store is wanted: what is shown next is not in it yet."""
        self._n_asked += 1
        self._is_switching = False
        self.wanted_id = None

    def ask(self, conversation_id: str) -> None:
        """Read a conversation."""
        self._n_asked += 1
        self._is_switching = False
        self.wanted_id = conversation_id
        future = self._conversations.open(conversation_id)
        self._bridge.deliver(future, partial(self._on_read, self._n_asked), on_error=self._on_failed)

    def ask_at(self, conversation_id: str, message_id: str) -> None:
        """Read a conversation on the branch with that message."""
        self._n_asked += 1
        self._is_switching = False
        self.wanted_id = conversation_id
        future = self._conversations.open_at(conversation_id, message_id)
        self._bridge.deliver(future, partial(self._on_read, self._n_asked), on_error=self._on_failed)

    def ask_again(self) -> None:
        """What is wanted may have changed in the store."""
        if self._is_switching:
            self._must_ask_again = True  # asked now, the answer might still be the branch before the switch
        elif self.wanted_id is not None:
            self.ask(self.wanted_id)

    def switch_to(self, conversation_id: str, message_id: str) -> None:
        """Have another sibling shown, and read the branch through it."""
        self._n_asked += 1
        self._is_switching = True
        self._must_ask_again = False
        self.wanted_id = conversation_id
        future = self._conversations.switch_to(conversation_id, message_id)
        self._bridge.deliver(future, partial(self._on_switched, self._n_asked), on_error=self._on_not_switched)

    def _on_read(self, n_asked: int, opened: OpenConversation) -> None:
        if n_asked == self._n_asked:
            self.read.emit(opened)

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)

    def _on_switched(self, n_asked: int, opened: OpenConversation) -> None:
        self._on_read(n_asked, opened)
        if n_asked == self._n_asked:
            self._end_switch()

    def _on_not_switched(self, report: ErrorReport) -> None:
        self._end_switch()
        self.failed.emit(report)

    def _end_switch(self) -> None:
        self._is_switching = False
        if self._must_ask_again:
            self._must_ask_again = False
            self.ask_again()
