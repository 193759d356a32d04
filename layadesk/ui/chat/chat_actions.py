"""What is asked of the use cases from the chat page, and what comes back when it could not be done."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from layadesk.domain.chat import Attachment, Conversation, Correction, Rating
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.conversation_dialog import ConversationDialog

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class ChatActions(QObject):
    """Signals:
    not_sent: the Conversation, the text and the files of a message that could not be sent.
    attached: an Attachment that was read.
    conversation_set: id of a conversation whose own settings have been changed.
    failed: an ErrorReport of something that did not happen.
    """

    not_sent = Signal(object, str, object)
    attached = Signal(object)
    conversation_set = Signal(str)
    failed = Signal(object)

    def __init__(
        self, use_cases: "UseCases", *, bridge: Bridge, conversation: Callable[[], Conversation], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._window = parent
        self._use_cases = use_cases
        self._bridge = bridge
        self._conversation = conversation  # the one that is shown

    def send(self, text: str, files: tuple[Attachment, ...] = ()) -> None:
        """Send a message; what is not sent comes back."""
        conversation = self._conversation()
        future = self._use_cases.send_message(conversation, text, attachments=files)
        self._bridge.deliver(future, self._on_done, on_error=partial(self._on_not_sent, conversation, text, files))

    @Slot(str)
    def attach(self, path: str) -> None:
        """Read a file as text, for the next message."""
        self._bridge.deliver(
            self._use_cases.move_chats.read_attachment(path), self._on_attached, on_error=self._on_failed
        )

    @Slot(str, str)
    def edit(self, message_id: str, text: str) -> None:
        """Send a message again in other words, as a branch."""
        future = self._use_cases.send_message(self._conversation(), text, edit_of=message_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str)
    def again(self, answer_id: str) -> None:
        """Have another answer made."""
        future = self._use_cases.regenerate(self._conversation().conversation_id, answer_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str)
    def go_on(self, answer_id: str) -> None:
        """Have the expert write on where an answer ended."""
        future = self._use_cases.continue_answer(self._conversation().conversation_id, answer_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str, str)
    def again_with(self, answer_id: str, expert_id: str) -> None:
        """Have another expert answer; that is kept as a correction of the route."""
        future = self._use_cases.regenerate(self._conversation().conversation_id, answer_id, expert=expert_id)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str, str)
    def rate(self, answer_id: str, rating: str) -> None:
        """Keep what the user thinks of a route; "" takes it back."""
        correction = Correction(Rating(rating)) if rating else None
        conversation_id = self._conversation().conversation_id
        self._set(conversation_id, self._use_cases.conversations.correct(conversation_id, answer_id, correction))

    @Slot(str, str)
    def correct_task(self, answer_id: str, task: str) -> None:
        """Keep what was really asked for, so that the router can learn it; "" takes it back."""
        correction = Correction(Rating.WRONG, task=task) if task else None
        conversation_id = self._conversation().conversation_id
        self._set(conversation_id, self._use_cases.conversations.correct(conversation_id, answer_id, correction))

    @Slot(str)
    def pin(self, expert_id: str) -> None:
        """Have one expert answer in this conversation; "" is Auto."""
        conversation_id = self._conversation().conversation_id
        self._set(conversation_id, self._use_cases.conversations.pin_expert(conversation_id, expert_id or None))

    @Slot()
    def show_options(self) -> None:
        """What belongs to this conversation alone."""
        dialog = ConversationDialog(self._conversation(), self._window)
        dialog.chosen.connect(self.set_instructions)
        dialog.open()

    @Slot(str, str)
    def set_instructions(self, system_prompt: str, preset: str) -> None:
        """Give this conversation its own system prompt and sampling; "" is what the settings say."""
        conversation_id = self._conversation().conversation_id
        conversations = self._use_cases.conversations
        self._set(conversation_id, conversations.set_system_prompt(conversation_id, system_prompt))
        self._set(conversation_id, conversations.set_preset(conversation_id, preset))

    def _set(self, conversation_id: str, future: Future[None]) -> None:
        self._bridge.deliver(future, partial(self._on_set, conversation_id), on_error=self._on_failed)

    def _on_done(self, _: object) -> None:
        """The bubbles come with the turn event; here only the error would matter."""

    def _on_set(self, conversation_id: str, _: None) -> None:
        self.conversation_set.emit(conversation_id)

    def _on_attached(self, file: Attachment) -> None:
        self.attached.emit(file)

    def _on_not_sent(
        self, conversation: Conversation, text: str, files: tuple[Attachment, ...], report: ErrorReport
    ) -> None:
        self.not_sent.emit(conversation, text, files)
        self.failed.emit(report)

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)
