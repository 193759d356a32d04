"""The field people write in, as the composer and to edit a message. Enter sends, and respects input methods."""

from PySide6.QtCore import QEvent, QMimeData, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextEdit, QWidget

from layadesk.ui.theme.fonts import transcript_font

MAX_LINES = 8


class TextBox(QTextEdit):
    """Plain text, growing from one line to MAX_LINES, then scrolling.

    Signals:
        submitted: Enter without Shift, and without an unfinished word of an input method.
        escaped: Esc.
    """

    submitted = Signal()
    escaped = Signal()

    def __init__(self, parent: QWidget | None = None, *, max_lines: int = MAX_LINES) -> None:
        super().__init__(parent)
        self._max_lines = max_lines
        self._has_preedit = False
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setFont(transcript_font())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.document().setDocumentMargin(2)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._on_size_changed)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self.height())

    def event(self, event: QEvent) -> bool:
        # Esc belongs to this field while it has the focus, not to a shortcut of the window.
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _is_escape(event):
            self.escaped.emit()
            return
        if event.key() in {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown}:
            event.ignore()  # the transcript scrolls
            return
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and not _breaks_line(event):
            if self._has_preedit:
                # Reported faults J04, J06: this Enter belongs to the input method and only commits its word.
                QGuiApplication.inputMethod().commit()
            else:
                self.submitted.emit()
            return
        super().keyPressEvent(event)

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._has_preedit = bool(event.preeditString())
        super().inputMethodEvent(event)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.insertPlainText(source.text())

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText()

    def _fit(self) -> None:
        line = self.fontMetrics().lineSpacing()
        margins = 2 * int(self.document().documentMargin())
        wanted = max(int(self.document().size().height() + 0.99), line + margins)
        most = line * self._max_lines + margins
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded if wanted > most else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        height = min(wanted, most)
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.updateGeometry()

    @Slot()
    def _on_size_changed(self) -> None:
        self._fit()


def _breaks_line(event: QKeyEvent) -> bool:
    return bool(event.modifiers() & (Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.AltModifier))


def _is_escape(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Escape
