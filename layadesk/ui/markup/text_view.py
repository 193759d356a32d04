"""A read-only text as high as it needs to be; the transcript around it scrolls."""

from PySide6.QtCore import QMimeData, QSizeF, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from layadesk.ui.markup.prose_formats import visible_text
from layadesk.ui.theme.fonts import transcript_font
from layadesk.ui.theme.tokens import LINE_HEIGHT, TRANSCRIPT_PX

_SCROLLING = {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}


class TextView(QTextEdit):
    """Selectable by mouse and keyboard. Page and Home keys and the wheel go to the transcript.

    Signals:
        height_changed: the text needs another height now.
        link_chosen: the address of a link the user wants opened.
    """

    height_changed = Signal(int)
    link_chosen = Signal(str)

    def __init__(self, role: str, parent: QWidget | None = None, *, width: int = 0) -> None:
        super().__init__(parent)
        self.setProperty("role", role)
        self._needed = 0
        self._pressed_link = ""
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
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
            self.resize(width, int(TRANSCRIPT_PX * LINE_HEIGHT))
            document.setTextWidth(width)
        document.documentLayout().documentSizeChanged.connect(self._on_document_size_changed)
        self.viewport().setMouseTracking(True)

    def needed_height(self) -> int:
        """For the whole text at its present width."""
        return max(int(self.document().size().height() + 0.99), int(TRANSCRIPT_PX * LINE_HEIGHT))

    def shown_text(self) -> str:
        """What can be read, with the marks of lists, and formulas as they were written."""
        return visible_text(self.document())

    def createMimeDataFromSelection(self) -> QMimeData:
        cursor = self.textCursor()
        data = QMimeData()
        data.setText(visible_text(self.document(), cursor.selectionStart(), cursor.selectionEnd()))
        return data

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _SCROLLING:
            event.ignore()
            return
        href = self.textCursor().charFormat().anchorHref()
        if href and event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.link_chosen.emit(href)
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed_link = self.anchorAt(event.position().toPoint())
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        link = self.anchorAt(event.position().toPoint())
        if link and link == self._pressed_link and not self.textCursor().hasSelection():
            self.link_chosen.emit(link)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        link = self.anchorAt(event.position().toPoint())
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.IBeamCursor)
        self.viewport().setToolTip(link)

    @Slot(QSizeF)
    def _on_document_size_changed(self, _: QSizeF) -> None:
        needed = self.needed_height()
        if needed != self._needed:
            self._needed = needed
            self.height_changed.emit(needed)
