"""Markdown tokens as the contents of a QTextDocument, built with formats and never from HTML.

So nothing in a message can be markup to Qt, and nothing is fetched: a picture is shown as its words and its address.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token
from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QImage,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextImageFormat,
    QTextLength,
    QTextList,
    QTextListFormat,
    QTextTable,
    QTextTableFormat,
)

from layadesk.ui.markup.blocks import Prose
from layadesk.ui.markup.formulas import FormulaSource
from layadesk.ui.markup.prose_formats import (
    BULLETS,
    COLUMN_PX,
    INDENT_PX,
    QUOTE_LEVEL,
    TEX,
    alignment,
    as_code,
    as_link,
    cropped_note,
    no_height,
    picture_note,
    set_line_height,
    with_mark,
)
from layadesk.ui.markup.syntax import FORMULA, FORMULA_BLOCK, may_open, parse
from layadesk.ui.theme.fonts import transcript_font
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink

LONG_TABLE_ROWS = 28  # it may go on in the next piece, close below
_HEADINGS = (1.45, 1.25, 1.12, 1.0, 1.0, 1.0)
_URL = re.compile(r"https?://[^\s<>\"'`（）《》，。；、]+[^\s<>\"'`（）《》，。；、.,;:!?)\]}*_]")
_TASK = re.compile(r"^\[([ xX])\] ")


@dataclass
class _List:
    """A list that is open while the tokens are walked."""

    style: QTextListFormat.Style
    start: int
    made: QTextList | None = None
    is_item_new: bool = False


@dataclass
class _Table:
    rows: list[list[Sequence[Token]]] = field(default_factory=list)
    aligns: list[str] = field(default_factory=list)


class ProseWriter:
    """Appends pieces of Markdown to a document, and takes back the last one when it has changed."""

    def __init__(
        self, document: QTextDocument, formulas: FormulaSource, *, meaning: Ink = Ink.TEXT, ratio: float = 1.0
    ) -> None:
        self._document = document
        self._formulas = formulas
        self._ratio = ratio
        self._colour = ink(meaning)
        self._font = transcript_font()
        self._metrics = QFontMetricsF(self._font)
        self._cursor = QTextCursor(document)
        self.lacks_formulas = False
        self.has_quotes = False
        self._is_empty = True
        self._was_empty = True
        self._lists: list[_List] = []
        self._quotes = 0
        self._heading = 0  # its level, inside one
        self._table: _Table | None = None
        self._margin = 0.0
        self._piece: Prose | None = None

    def forget_open(self) -> None:
        """What `append` wrote last has been removed from the document; its first block may be left, empty."""
        self._cursor = QTextCursor(self._document)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._is_empty = self._was_empty

    def append(self, piece: Prose) -> None:
        """Show one more piece at the end."""
        self._was_empty = self._is_empty
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._cursor.beginEditBlock()
        self._lists, self._quotes, self._table = [], 0, None
        self._margin = piece.indent * COLUMN_PX
        self._piece = piece
        for token in parse(piece.source):
            self._take(token)
        if piece.n_cropped:
            self._new_block(self._block_format())
            self._cursor.insertText(cropped_note(piece.n_cropped), self._char_format(Ink.MUTED))
        self._cursor.endEditBlock()

    def _take(self, token: Token) -> None:  # noqa: C901, PLR0912 - one arm for each kind of token
        match token.type:
            case "bullet_list_open":
                self._lists.append(_List(BULLETS[min(len(self._lists), 2)], 1))
            case "ordered_list_open":
                start = token.attrs.get("start", 1)
                self._lists.append(_List(QTextListFormat.Style.ListDecimal, int(start)))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._lists[-1].is_item_new = True
            case "blockquote_open":
                self._quotes += 1
                self.has_quotes = True
            case "blockquote_close":
                self._quotes -= 1
            case "heading_open":
                self._heading = int(token.tag[1])
            case "heading_close":
                self._heading = 0
            case "inline":
                self._take_inline(token)
            case "fence" | "code_block":
                self._write_code(token.content)
            case "hr":
                self._write_rule()
            case "table_open":
                self._table = _Table()
            case "tr_open" if self._table is not None:
                self._table.rows.append([])
            case "th_open" if self._table is not None:
                self._table.aligns.append(str(token.attrs.get("style", "")))
            case "table_close" if self._table is not None:
                self._write_table(self._table)
                self._table = None
            case name if name == FORMULA_BLOCK:
                self._write_formula_block(token)
            case _:
                pass

    def _take_inline(self, token: Token) -> None:
        children = token.children or []
        if self._table is not None and self._table.rows:
            self._table.rows[-1].append(children)
            return
        block, char = self._block_format(), self._char_format()
        if self._heading:
            block.setTopMargin(GAP_S if not self._is_empty else 0)
            block.setHeadingLevel(self._heading)
            font = QFont(self._font)
            font.setPointSizeF(font.pointSizeF() * _HEADINGS[self._heading - 1])
            font.setWeight(QFont.Weight.DemiBold)
            char.setFont(font)
        self._new_block(block)
        self._write_runs(children, char)

    def _block_format(self) -> QTextBlockFormat:
        block = QTextBlockFormat()
        set_line_height(block, self._metrics)
        block.setBottomMargin(GAP_XS if self._lists else GAP_S)
        margin = self._margin + self._quotes * INDENT_PX / 2
        if self._lists and not self._lists[-1].is_item_new:
            margin += len(self._lists) * INDENT_PX
        block.setLeftMargin(margin)
        if self._quotes:
            block.setProperty(QUOTE_LEVEL.value, self._quotes)
        return block

    def _char_format(self, meaning: Ink | None = None) -> QTextCharFormat:
        char = QTextCharFormat()
        char.setFont(self._font)
        muted = meaning or (Ink.MUTED if self._quotes else None)
        char.setForeground(self._colour if muted is None else ink(muted))
        return char

    def _new_block(self, block: QTextBlockFormat) -> None:
        if self._is_empty:
            self._cursor.setBlockFormat(block)
            self._is_empty = False
        else:
            self._cursor.insertBlock(block)
        if self._lists and self._lists[-1].is_item_new:
            self._begin_item(self._lists[-1])
        elif self._cursor.currentList() is not None:
            self._cursor.currentList().remove(self._cursor.block())
            self._cursor.setBlockFormat(block)

    def _begin_item(self, which: _List) -> None:
        which.is_item_new = False
        if which.made is None:
            made = QTextListFormat()
            made.setStyle(which.style)
            made.setIndent(len(self._lists))
            made.setStart(which.start)
            which.made = self._cursor.createList(made)
        else:
            which.made.add(self._cursor.block())

    def _write_runs(self, children: Sequence[Token], char: QTextCharFormat) -> None:
        stack = [char]
        for index, child in enumerate(children):
            match child.type:
                case "em_open" | "strong_open" | "s_open" | "link_open":
                    stack.append(with_mark(stack[-1], child))
                case "em_close" | "strong_close" | "s_close" | "link_close":
                    stack.pop()
                case "softbreak" | "hardbreak":
                    self._cursor.insertText("\u2028", stack[-1])
                case "code_inline":
                    self._cursor.insertText(child.content, as_code(stack[-1]))
                case "image":
                    self._write_picture(child, stack[-1])
                case name if name == FORMULA:
                    self._write_formula(child.content, stack[-1], is_display=child.info == "display")
                case _:
                    text = child.content
                    if index == 0 and self._lists and (task := _TASK.match(text)):
                        text = ("☐ " if task.group(1) == " " else "☑ ") + text[task.end() :]
                    self._write_text(text, stack[-1])

    def _write_text(self, text: str, char: QTextCharFormat) -> None:
        """Plain text; an address in it can be opened."""
        at = 0
        if not char.isAnchor():
            for found in _URL.finditer(text):
                self._cursor.insertText(text[at : found.start()], char)
                self._cursor.insertText(found.group(), as_link(char, found.group()))
                at = found.end()
        self._cursor.insertText(text[at:], char)

    def _write_picture(self, token: Token, char: QTextCharFormat) -> None:
        """Never fetched: its words, and where it would come from."""
        source = str(token.attrs.get("src", ""))
        words = picture_note(token.content or source)
        self._cursor.insertText(words, as_link(char, source) if may_open(source) else char)

    def _write_formula(self, tex: str, char: QTextCharFormat, *, is_display: bool) -> None:
        drawn = self._formulas.find(tex, is_display=is_display)
        if drawn is None:
            self.lacks_formulas = True
            self._cursor.insertText(tex, as_code(char))
            return
        picture = QTextImageFormat()
        descent = self._metrics.descent()
        is_flat = drawn.depth <= descent
        padding = descent - drawn.depth if is_flat else 0.0
        name = f"formula:{'d' if is_display else 'i'}:{tex}"
        image: QImage = drawn.image(char.foreground().color(), self._ratio, padding=padding)
        self._document.addResource(QTextDocument.ResourceType.ImageResource.value, QUrl(name), image)
        picture.setName(QUrl(name).toString())
        picture.setWidth(drawn.width)
        picture.setHeight(drawn.height + padding)
        picture.setProperty(TEX, tex)
        picture.setFont(self._font)
        align = QTextCharFormat.VerticalAlignment
        picture.setVerticalAlignment(align.AlignBaseline if is_flat else align.AlignMiddle)
        self._cursor.insertImage(picture)

    def _write_formula_block(self, token: Token) -> None:
        block = self._block_format()
        block.setTopMargin(GAP_XS)
        block.setLeftMargin(block.leftMargin() + INDENT_PX)
        self._new_block(block)
        char = self._char_format()
        self._write_formula(token.content, char, is_display=True)
        if token.info:
            self._cursor.insertText(token.info, char)

    def _write_code(self, code: str) -> None:
        block = self._block_format()
        block.setBottomMargin(0)
        block.setBackground(ink(Ink.RAISED))
        block.setNonBreakableLines(False)
        for line in code.rstrip("\n").split("\n"):
            self._new_block(block)
            self._cursor.insertText(line, as_code(self._char_format(), has_ground=False))

    def _write_rule(self) -> None:
        block = self._block_format()
        whole = QTextLength(QTextLength.Type.PercentageLength, 100)
        block.setProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth.value, whole)
        self._new_block(block)

    def _write_table(self, table: _Table) -> None:
        hides_header = self._piece is not None and self._piece.hides_header
        rows = table.rows[1:] if hides_header else table.rows
        n_columns = max((len(row) for row in table.rows), default=0)
        if not rows or not n_columns:
            return
        made = self._insert_table(len(rows), n_columns, hides_header)
        for y, row in enumerate(rows):
            is_header = y == 0 and not hides_header
            for x, children in enumerate(row[:n_columns]):
                cell = made.cellAt(y, x)
                self._cursor = cell.firstCursorPosition()
                block = QTextBlockFormat()
                block.setAlignment(alignment(table.aligns[x] if x < len(table.aligns) else ""))
                self._cursor.setBlockFormat(block)
                char = self._char_format()
                if is_header:
                    char.setFontWeight(QFont.Weight.DemiBold)
                self._write_runs(children, char)
        self._cursor = QTextCursor(self._document)
        self._cursor.movePosition(QTextCursor.MoveOperation.End)
        self._is_empty = True  # the block behind a table is there already
        if hides_header or len(table.rows) >= LONG_TABLE_ROWS:
            self._cursor.setBlockFormat(no_height())

    def _insert_table(self, n_rows: int, n_columns: int, hides_header: bool) -> QTextTable:
        look = QTextTableFormat()
        look.setBorder(1)
        look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        look.setBorderBrush(ink(Ink.BORDER))
        look.setBorderCollapse(True)
        look.setCellPadding(5)
        look.setCellSpacing(0)
        look.setTopMargin(0 if hides_header else GAP_XS)
        look.setBottomMargin(GAP_S)
        look.setHeaderRowCount(0 if hides_header else 1)
        if not self._is_empty:
            self._cursor.insertBlock(no_height())
        else:
            self._cursor.setBlockFormat(no_height())
        self._cursor.setCharFormat(self._char_format())
        self._is_empty = False
        made = self._cursor.insertTable(n_rows, n_columns, look)
        if not hides_header:
            for x in range(n_columns):
                cell = made.cellAt(0, x).format().toTableCellFormat()
                cell.setBackground(ink(Ink.RAISED))
                made.cellAt(0, x).setFormat(cell)
        return made
