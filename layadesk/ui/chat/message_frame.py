"""What a question and an answer have in common on screen: a message, its text, and where that stands."""

from PySide6.QtWidgets import QWidget

from layadesk.domain.chat import Message
from layadesk.ui.markup.message_body import MessageBody


class MessageFrame(QWidget):
    """An item of the transcript (`near_column.ItemView`) around the `body` of one message. Coordinates are its own."""

    def __init__(self, message: Message, body: MessageBody) -> None:
        super().__init__()
        self._message = message
        self._is_busy = False
        self.body = body

    @property
    def message(self) -> Message:
        """What is shown."""
        return self._message

    def needed_height(self, width: int) -> int:
        """At that width."""
        layout = self.layout()
        assert layout is not None
        layout.activate()
        return layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else layout.totalSizeHint().height()

    def show_range(self, top: int, bottom: int) -> None:
        """What is seen of it."""
        self.body.show_range(top - self.body.y(), bottom - self.body.y())

    def place_of(self, y: int) -> tuple[int, int]:
        """A place that stays when heights above it change; see `y_of`."""
        return self.body.place_of(y - self.body.y())

    def y_of(self, place: tuple[int, int]) -> int:
        """Where a place is now."""
        return self.body.y() + self.body.y_of(place)

    def is_in_use(self) -> bool:
        """Whether it must stay: it has the focus, or a selection."""
        focus = self.focusWidget()
        return (focus is not None and focus.hasFocus()) or self.body.has_selection()
