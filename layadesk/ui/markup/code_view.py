"""A block of code: its language, a button that copies it, and the code itself, which scrolls sideways."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextLayout,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from layadesk.ui.markup.back_thread import Beside
from layadesk.ui.markup.code_colours import Spans, all_spans, lexer_for, line_spans
from layadesk.ui.theme.fonts import code_font, small_font
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_role

COPY_PX = 24
COPIED_MS = 1500
PAINTED_AT_ONCE = 150
_SCROLLING = {Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End}


class CodeText(QPlainTextEdit):
    """The code. Its height is that of its lines; the wheel goes to the transcript unless it moves sideways."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFont(code_font())
        self.document().setDocumentMargin(0)
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        set_role(self, "code")

    def createMimeDataFromSelection(self) -> QMimeData:
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _SCROLLING:
            event.ignore()
            return
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        is_sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        if is_sideways or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().wheelEvent(event)
        else:
            event.ignore()


class CodeView(QFrame):
    """Text comes with `show_code`, which appends where it can.

    Signals:
        height_changed: another line, or a bar to scroll with, needs room.
    """

    height_changed = Signal(int)

    def __init__(self, language: str, beside: Beside, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "code-frame")
        self._language = language
        self._beside = beside
        self._code = ""
        self._whole = ""
        self._n_painted = 0  # lines that have their own colours
        self._n_measured, self._extra_px = 0, 0.0  # complete lines, and by how much they are higher than the font's
        self._late: tuple[Spans, ...] = ()
        self._late_at = 0
        self._needed = 0
        self._is_done = False
        self.label = QLabel(language or "")
        self.label.setFont(small_font())
        self.label.setProperty("ink", "muted")
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.copy_button = IconButton("copy", size=COPY_PX)
        self.copy_button.setObjectName("copy-code")
        self.copy_button.clicked.connect(self._on_copy)
        self.text = CodeText()
        self.text.setObjectName("code")
        self.text.horizontalScrollBar().rangeChanged.connect(self._on_range_changed)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(COPIED_MS)
        self._copied.timeout.connect(self._on_time_up)
        self._slices = QTimer(self)
        self._slices.setInterval(0)
        self._slices.timeout.connect(self._paint_slice)
        self._lay_out()
        self._retranslate()
        beside.run(partial(lexer_for, language), self._on_lexer)

    @property
    def code(self) -> str:
        """The code that is shown."""
        return self._code

    def show_code(self, code: str, *, is_closed: bool, whole: str) -> None:
        """Bring it up to date; what is there already is not written again. `whole` is what Copy takes."""
        self._whole = whole
        is_same = code.startswith(self._code)
        if not is_same:
            self.text.clear()
            self._code, self._n_painted = "", 0
            self._n_measured, self._extra_px = 0, 0.0
        fresh = code[len(self._code) :]
        if fresh:
            is_at_once = not self._code and is_closed
            self._append(fresh)
            self._code = code
            if not is_at_once:
                self._paint_new_lines()
        if is_closed and code and not self._is_done:
            self._is_done = True
            self._beside.run(partial(all_spans, self.text.toPlainText(), self._language), self._on_spans)
        self._tell_height()

    def needed_height(self) -> int:
        """For all lines, the head, and the bar below where there is one."""
        bar = self.text.horizontalScrollBar()
        lines = max(self.text.blockCount(), 1) * self._line_px() + self._extra_of_lines()
        head = max(COPY_PX, self.label.sizeHint().height()) + GAP_XS
        return (
            int(lines + 0.99)
            + head
            + GAP_S
            + 2 * GAP_XS
            + (bar.sizeHint().height() if bar.maximum() > bar.minimum() else 0)
        )

    def _line_px(self) -> float:
        return QFontMetricsF(self.text.font()).lineSpacing()

    def _extra_of_lines(self) -> float:
        """What lines with letters of another font, such as Chinese, need beyond the usual; each is measured once."""
        document = self.text.document()
        block = document.findBlockByNumber(self._n_measured)
        while block.isValid() and block.next().isValid():
            self._extra_px += self._extra_of(block)
            self._n_measured += 1
            block = block.next()
        return self._extra_px + (self._extra_of(block) if block.isValid() else 0.0)

    def _extra_of(self, block: QTextBlock) -> float:
        if block.text().isascii():
            return 0.0
        return max(self.text.document().documentLayout().blockBoundingRect(block).height() - self._line_px(), 0.0)

    def focus_chain(self) -> tuple[QWidget, ...]:
        """Its stops for the Tab key."""
        return (self.copy_button, self.text)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(GAP_M, GAP_XS, GAP_XS, 0)
        head.addWidget(self.label, 1)
        head.addWidget(self.copy_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addLayout(head)
        layout.addWidget(self.text, 1)

    def _append(self, fresh: str) -> None:
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        shown = fresh
        if self._code.endswith("\n"):
            shown = "\n" + shown  # the last line break is not shown before there is something behind it
        shown = shown.removesuffix("\n")
        cursor.insertText(shown)

    def _paint_new_lines(self) -> None:
        """Each complete line by itself; what began further up is put right when the block is complete."""
        document = self.text.document()
        n_complete = document.blockCount() - 1
        while self._n_painted < n_complete:
            block = document.findBlockByNumber(self._n_painted)
            _colour(block, line_spans(block.text(), self._language))
            document.markContentsDirty(block.position(), block.length())
            self._n_painted += 1

    def _on_lexer(self, _: object) -> None:
        """Lines that came before it are coloured now."""
        self._n_painted = 0
        self._paint_new_lines()

    def _on_spans(self, spans: tuple[Spans, ...]) -> None:
        self._late, self._late_at = spans, 0
        self._slices.start()

    @Slot()
    def _paint_slice(self) -> None:
        """A long block gets its colours a few lines at a time."""
        document = self.text.document()
        end = min(self._late_at + PAINTED_AT_ONCE, len(self._late), document.blockCount())
        if self._late_at < end:
            first = document.findBlockByNumber(self._late_at)
            block = first
            for number in range(self._late_at, end):
                _colour(block, self._late[number])
                block = block.next()
            last = document.findBlockByNumber(end - 1)
            document.markContentsDirty(first.position(), last.position() + last.length() - first.position())
            self._late_at = end
        if self._late_at >= min(len(self._late), document.blockCount()):
            self._late = ()
            self._slices.stop()

    @Slot(int, int)
    def _on_range_changed(self, _: int, __: int) -> None:
        self._tell_height()

    def _tell_height(self) -> None:
        needed = self.needed_height()
        if needed != self._needed:
            self._needed = needed
            self.height_changed.emit(needed)

    def _retranslate(self) -> None:
        self.text.setAccessibleName(
            self.tr("Code in {language}").format(language=self._language) if self._language else self.tr("Code")
        )
        self.copy_button.set_name(self.tr("Copy the code"))

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._whole)
        self.copy_button.set_icon("check", Ink.OK)
        self.copy_button.set_name(self.tr("Copied"))
        self._copied.start()

    @Slot()
    def _on_time_up(self) -> None:
        self.copy_button.set_icon("copy")
        self._retranslate()


def _colour(block: QTextBlock, spans: Sequence[tuple[int, int, Ink]]) -> None:
    """Colours beside the text, so that they are no change of the document."""
    ranges = []
    for start, length, meaning in spans:
        one = QTextLayout.FormatRange()
        one.start, one.length = start, length
        one.format = QTextCharFormat()
        one.format.setForeground(ink(meaning))
        ranges.append(one)
    block.layout().setFormats(ranges)
