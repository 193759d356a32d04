"""Text as it was written, without any markup."""

from PySide6.QtGui import QFontMetricsF, QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QWidget

from layadesk.ui.markup.prose_formats import set_line_height
from layadesk.ui.markup.text_view import TextView


class PlainView(TextView):
    """A few lines of a message of the user."""

    def __init__(self, text: str, parent: QWidget | None = None, *, width: int = 0) -> None:
        super().__init__("question-text", parent, width=width)
        block = QTextBlockFormat()
        set_line_height(block, QFontMetricsF(self.font()))
        cursor = QTextCursor(self.document())
        cursor.setBlockFormat(block)
        cursor.insertText(text)
