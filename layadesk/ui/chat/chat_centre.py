"""The middle of the chat page: the transcript; before there is one, a guest or one sentence."""

from typing import Protocol

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QWidget

from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.transcript_view import TranscriptView
from layadesk.ui.widgets.empty_state import EmptyState


class Guest(Protocol):
    """What may stand where a new chat is empty; a QWidget."""

    @property
    def is_wanted(self) -> bool:
        """Whether it should be there now."""

    def ask_once(self) -> None:
        """It is about to be seen for the first time."""

    def focus_chain(self) -> list[QWidget]:
        """Its controls in the order of the Tab key."""


class ChatCentre(QStackedWidget):
    """Signals:
    write_requested: the user wants to write the first message.
    add_model_requested: there is no expert, and the user has a file of one.
    """

    write_requested = Signal()
    add_model_requested = Signal()

    def __init__(self, transcript: TranscriptView, experts: ExpertList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._transcript = transcript
        self._experts = experts
        self._guest: Guest | None = None
        self.empty = EmptyState()
        self.empty.accepted.connect(self._on_accepted)
        self.addWidget(self.empty)
        self.addWidget(transcript)
        experts.changed.connect(self._retranslate)
        self._retranslate()

    def receive(self, guest: Guest) -> None:
        """Show `guest`, which is a QWidget, in empty chats as long as it wants to be there."""
        assert isinstance(guest, QWidget)
        self._guest = guest
        self.addWidget(guest)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """The transcript has begun or is another one, or the guest comes or goes."""
        centre: QWidget = self._transcript if self._transcript.branch else self.empty
        guest = self._guest
        if centre is self.empty and guest is not None and guest.is_wanted:
            assert isinstance(guest, QWidget)
            guest.ask_once()
            centre = guest
        self.setCurrentWidget(centre)

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        guest = [] if self._guest is None else self._guest.focus_chain()
        return [self.empty.button, *guest, *self._transcript.focus_chain()]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    @Slot()
    def _retranslate(self) -> None:
        if self._experts.remotes:
            self.empty.set_texts(
                self.tr("Ask anything: the line below says who will answer, and where your words go."),
                self.tr("Write a message"),
            )
        elif self._experts.usable:
            self.empty.set_texts(
                self.tr("Ask anything: the answer is made on this machine, and nothing leaves it."),
                self.tr("Write a message"),
            )
        else:
            self.empty.set_texts(
                self.tr("There is no expert yet that could answer. Add a chat model in a GGUF file."),
                self.tr("Add a model file…"),
            )

    @Slot()
    def _on_accepted(self) -> None:
        (self.write_requested if self._experts.can_answer else self.add_model_requested).emit()
