"""What is asked of the use cases from the chat page, and what comes back when it could not be done."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from layadesk.domain.chat import Conversation
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class ChatActions(QObject):
    """Signals:
    not_sent: the Conversation and the text of a message that could not be sent.
    conversation_set: id of a conversation whose own settings have been changed.
    failed: an ErrorReport of something that did not happen.
    """

    not_sent = Signal(object, str)
    conversation_set = Signal(str)
    failed = Signal(object)

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._use_cases = use_cases
        self._bridge = bridge

    def send(self, conversation: Conversation, text: str) -> None:
        """Send a message; what is not sent comes back."""
        future = self._use_cases.send_message(conversation, text)
        self._bridge.deliver(future, self._on_done, on_error=partial(self._on_not_sent, conversation, text))

    def edit(self, conversation: Conversation, message_id: str, text: str) -> None:
        """Send a message again in other words, as a branch."""
        future = self._use_cases.send_message(conversation, text, edit_of=message_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    def again(self, conversation_id: str, answer_id: str) -> None:
        """Have another answer made."""
        future = self._use_cases.regenerate(conversation_id, answer_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    def pin(self, conversation_id: str, expert_id: str | None) -> None:
        """Have one expert answer in a conversation; None is Auto."""
        future = self._use_cases.conversations.pin_expert(conversation_id, expert_id)
        self._bridge.deliver(future, partial(self._on_set, conversation_id), on_error=self._on_failed)

    def _on_done(self, _: object) -> None:
        """The bubbles come with the turn event; here only the error would matter."""

    def _on_set(self, conversation_id: str, _: None) -> None:
        self.conversation_set.emit(conversation_id)

    def _on_not_sent(self, conversation: Conversation, text: str, report: ErrorReport) -> None:
        self.not_sent.emit(conversation, text)
        self.failed.emit(report)

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)
