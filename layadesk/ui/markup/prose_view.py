"""A few pieces of Markdown in one view. The last one may still change; it alone is written again."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from layadesk.ui.markup.blocks import Prose
from layadesk.ui.markup.formulas import FormulaSource
from layadesk.ui.markup.prose_document import ProseWriter
from layadesk.ui.markup.prose_formats import INDENT_PX, QUOTE_LEVEL
from layadesk.ui.markup.text_view import TextView
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import Ink


class ProseView(TextView):
    """Shows `pieces`; `show_last` replaces what is open, `close_last` makes it final."""

    def __init__(
        self,
        pieces: Sequence[Prose],
        formulas: FormulaSource,
        parent: QWidget | None = None,
        *,
        width: int = 0,
        meaning: Ink = Ink.TEXT,
    ) -> None:
        super().__init__("answer", parent, width=width)
        self._formulas = formulas
        self._meaning = meaning
        self._kept: list[Prose] = []  # final, in the document
        self._open: Prose | None = None
        self._mark = 0  # where the open piece begins
        self._writer = self._new_writer()
        self.write(pieces)

    def write(self, pieces: Sequence[Prose]) -> None:
        """The pieces of the view as they are now; only what differs at the end is written."""
        n_same = len(self._kept)
        if list(pieces[:n_same]) != self._kept:
            self._start_again()
            n_same = 0
        fresh = pieces[n_same:]
        if not fresh and self._open is None:
            return
        if len(fresh) == 1 and fresh[0] == self._open:
            return
        self._take_back()
        for piece in fresh:
            if piece.is_open:
                self._write_open(piece)
            else:
                self._writer.append(piece)
                self._kept.append(piece)

    def write_again(self) -> None:
        """Formulas have been drawn that may have been missing here."""
        if not self._writer.lacks_formulas:
            return
        pieces = [*self._kept, *([] if self._open is None else [self._open])]
        self._start_again()
        self.write(pieces)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._writer.has_quotes:
            self._paint_quote_bars(event)

    def _new_writer(self) -> ProseWriter:
        ratio = self.devicePixelRatioF()
        return ProseWriter(self.document(), self._formulas, meaning=self._meaning, ratio=ratio)

    def _start_again(self) -> None:
        self.clear()
        self._kept, self._open, self._mark = [], None, 0
        self._writer = self._new_writer()

    def _write_open(self, piece: Prose) -> None:
        """Nothing of it is kept: what it leaves behind in a list or table must not reach what follows."""
        self._mark = self.document().characterCount() - 1 if self._kept else 0
        self._open = piece
        self._writer.append(piece)

    def _take_back(self) -> None:
        if self._open is None:
            return
        self._open = None
        if not self._kept:
            self._start_again()
            return
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._mark)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._writer.forget_open()

    def _paint_quote_bars(self, event: QPaintEvent) -> None:
        layout = self.document().documentLayout()
        painter: QPainter | None = None
        block = self.cursorForPosition(event.rect().topLeft()).block()
        while block.isValid():
            level = block.blockFormat().intProperty(QUOTE_LEVEL.value)
            box: QRectF = layout.blockBoundingRect(block)
            if box.top() > event.rect().bottom():
                break
            if level:
                painter = painter or QPainter(self.viewport())
                for number in range(level):
                    bar = QRectF(number * INDENT_PX / 2, box.top(), 3, box.height())
                    painter.fillRect(bar, ink(Ink.BORDER))
            block = block.next()
        if painter is not None:
            painter.end()
