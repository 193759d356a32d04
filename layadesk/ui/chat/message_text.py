"""The text of one message: selectable, as high as it needs to be, cheap to append to.

One QTextDocument per message. An insertion at its end lays out the last paragraph only, so the cost of a token does
not grow with the length of the answer (reported faults F09, F11); a paragraph without end is broken in the view.
"""

from PySide6.QtCore import QSizeF, Qt, Slot
from PySide6.QtGui import QKeyEvent, QTextBlockFormat, QTextCursor, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from layadesk.ui.theme.fonts import transcript_font
from layadesk.ui.theme.tokens import LINE_HEIGHT, TRANSCRIPT_PX

MAX_LINE_CHARS = 4000


class MessageText(QTextEdit):
    """Plain text: no markup is read, nothing is fetched. Page and Home keys scroll the transcript around it."""

    def __init__(self, role: str, parent: QWidget | None = None, *, width: int = 0) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self._line_length = 0
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFont(transcript_font())
        document = self.document()
        document.setDocumentMargin(0)
        document.setDefaultFont(self.font())
        if width > 0:
            # The final width before the first layout, so that nothing is laid out twice.
            document.setTextWidth(width)
        document.documentLayout().documentSizeChanged.connect(self._on_document_size_changed)
        self._set_line_height()

    def set_text(self, text: str) -> None:
        """Show `text` in place of what is there."""
        self.clear()
        self._set_line_height()
        self._line_length = 0
        self.append_text(text)

    def append_text(self, text: str) -> None:
        """Add at the end; a selection and the scroll position stay."""
        if not text:
            return
        shown, self._line_length = broken_lines(text, self._line_length)
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(shown)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}:
            event.ignore()
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _set_line_height(self) -> None:
        block = QTextBlockFormat()
        block.setLineHeight(TRANSCRIPT_PX * LINE_HEIGHT, QTextBlockFormat.LineHeightTypes.MinimumHeight.value)
        QTextCursor(self.document()).setBlockFormat(block)

    @Slot(QSizeF)
    def _on_document_size_changed(self, size: QSizeF) -> None:
        height = max(int(size.height() + 0.99), int(TRANSCRIPT_PX * LINE_HEIGHT))
        if height != self.minimumHeight():
            self.setFixedHeight(height)


def broken_lines(text: str, line_length: int) -> tuple[str, int]:
    """`text` with a break after every MAX_LINE_CHARS characters of a line that began `line_length` characters ago.

    Returns the length of the last line as well. One line of a megabyte would otherwise be laid out whole each time;
    what is copied with the button is the message itself, without these breaks.
    """
    text = text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    pieces: list[str] = []
    for index, line in enumerate(text.split("\n")):
        if index:
            pieces.append("\n")
            line_length = 0
        while line_length + len(line) > MAX_LINE_CHARS:
            room = MAX_LINE_CHARS - line_length
            pieces.append(line[:room] + "\n")
            line = line[room:]  # noqa: PLW2901 - the rest of the same line
            line_length = 0
        pieces.append(line)
        line_length += len(line)
    return "".join(pieces), line_length
