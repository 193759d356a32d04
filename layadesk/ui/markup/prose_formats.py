"""The formats of text on screen: line height, links, code, notes in place of what is not shown; and back to text."""

from markdown_it.token import Token
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextDocument,
    QTextFormat,
    QTextListFormat,
)

from layadesk.ui.markup.syntax import may_open
from layadesk.ui.theme.fonts import code_font
from layadesk.ui.theme.palette import ink
from layadesk.ui.theme.tokens import LINE_HEIGHT, TRANSCRIPT_PX, Ink

TEX = QTextFormat.Property.UserProperty + 1  # of a picture: the formula it shows
QUOTE_LEVEL = QTextFormat.Property.BlockQuoteLevel
BULLETS = (QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListCircle, QTextListFormat.Style.ListSquare)
COLUMN_PX = 6.0  # one column of indentation in the source
INDENT_PX = 24.0


def set_line_height(block: QTextBlockFormat, metrics: QFontMetricsF) -> None:
    """The line height of the design, as room below each line: room above would part text and list mark."""
    distance = max(TRANSCRIPT_PX * LINE_HEIGHT - metrics.lineSpacing(), 0.0)
    block.setLineHeight(distance, QTextBlockFormat.LineHeightTypes.LineDistanceHeight.value)


def picture_note(words: str) -> str:
    """What stands for a picture that is not fetched."""
    return QCoreApplication.translate("Prose", "[picture, not loaded: {words}]").format(words=words)


def cropped_note(n_cropped: int) -> str:
    """What stands for the rest of a line that is too long to be shown."""
    return QCoreApplication.translate("Prose", "… and {n} more characters; Copy takes all of them").format(
        n=f"{n_cropped:,}"
    )


def no_height() -> QTextBlockFormat:
    block = QTextBlockFormat()
    block.setLineHeight(1, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return block


def alignment(style: str) -> Qt.AlignmentFlag:
    if "right" in style:
        return Qt.AlignmentFlag.AlignRight
    return Qt.AlignmentFlag.AlignHCenter if "center" in style else Qt.AlignmentFlag.AlignLeft


def with_mark(char: QTextCharFormat, token: Token) -> QTextCharFormat:
    marked = QTextCharFormat(char)
    match token.type:
        case "em_open":
            marked.setFontItalic(True)
        case "strong_open":
            marked.setFontWeight(QFont.Weight.Bold)
        case "s_open":
            marked.setFontStrikeOut(True)
        case _:
            return as_link(char, str(token.attrs.get("href", "")))
    return marked


def as_link(char: QTextCharFormat, href: str) -> QTextCharFormat:
    if not may_open(href):
        return QTextCharFormat(char)
    link = QTextCharFormat(char)
    link.setAnchor(True)
    link.setAnchorHref(href)
    link.setToolTip(href)
    link.setForeground(ink(Ink.ACCENT))
    link.setFontUnderline(True)
    return link


def as_code(char: QTextCharFormat, *, has_ground: bool = True) -> QTextCharFormat:
    code = QTextCharFormat(char)
    font = code_font()
    code.setFontFamilies(font.families())
    code.setFontFixedPitch(True)
    code.setFontPointSize(font.pointSizeF())
    if has_ground:
        code.setBackground(ink(Ink.RAISED))
    return code


def visible_text(document: QTextDocument, start: int = 0, end: int | None = None) -> str:
    """What stands there from `start` to `end`, with the marks of lists, and formulas as they were written."""
    end = document.characterCount() if end is None else end
    lines = []
    block = document.findBlock(start)
    while block.isValid() and block.position() < end:
        list_ = block.textList()
        mark = ""
        if list_ is not None and block.position() >= start:
            is_bullet = list_.format().style() in BULLETS
            mark = "  " * (list_.format().indent() - 1) + ("• " if is_bullet else f"{list_.itemText(block)} ")
        parts = []
        iterator = block.begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            parts.append(_fragment_text(fragment.charFormat(), fragment.text(), fragment.position(), start, end))
            iterator += 1
        lines.append(mark + "".join(parts))
        block = block.next()
    return "\n".join(lines)


def _fragment_text(char: QTextCharFormat, text: str, position: int, start: int, end: int) -> str:
    shown = text[max(start - position, 0) : max(end - position, 0)]
    if shown and char.hasProperty(TEX):
        return str(char.property(TEX)) * len(shown)
    return shown.replace("\u2028", "\n").replace("\ufdd0", "").replace("\ufdd1", "")
