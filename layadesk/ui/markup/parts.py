"""What a message consists of on screen: prose, code, the head of its thinking. Each knows its text and, when it is
near what is seen, has a view. No layout here; `message_body.py` puts them in a column.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from layadesk.ui.markup.back_thread import Beside
from layadesk.ui.markup.blocks import Prose
from layadesk.ui.markup.code_view import CodeView
from layadesk.ui.markup.formulas import FormulaSource
from layadesk.ui.markup.plain_view import PlainView
from layadesk.ui.markup.prose_formats import COLUMN_PX, cropped_note
from layadesk.ui.markup.prose_view import ProseView
from layadesk.ui.markup.thinking_head import ThinkingHead
from layadesk.ui.theme.tokens import Ink

VIEW_CHARS = 2_500
LINE_PX = 23
CHARS_PER_LINE = 95
PartView = ProseView | CodeView | ThinkingHead | PlainView


@dataclass(frozen=True, slots=True)
class Kit:
    """What views of messages need from outside."""

    formulas: FormulaSource
    beside: Beside


@dataclass(slots=True, eq=False)
class ProsePart:
    """Some pieces of Markdown, the last one perhaps still open."""

    is_thinking: bool = False
    pieces: list[Prose] = field(default_factory=list)
    view: ProseView | None = None

    @property
    def n_chars(self) -> int:
        return sum(len(piece.source) for piece in self.pieces)

    @property
    def is_open(self) -> bool:
        return bool(self.pieces) and self.pieces[-1].is_open

    def take(self, piece: Prose) -> None:
        if self.is_open:
            self.pieces.pop()
        self.pieces.append(piece)

    def estimate(self) -> int:
        return sum(_lines(piece.source) for piece in self.pieces) * LINE_PX

    def make(self, kit: Kit, width: int) -> ProseView:
        meaning = Ink.MUTED if self.is_thinking else Ink.TEXT
        self.view = ProseView(self.pieces, kit.formulas, width=width, meaning=meaning)
        return self.view

    def refresh(self) -> None:
        if self.view is not None:
            self.view.write(self.pieces)

    def text(self) -> str:
        return self.view.shown_text() if self.view is not None else "\n\n".join(p.source for p in self.pieces)

    @property
    def indent(self) -> int:
        return 0


@dataclass(slots=True, eq=False)
class CodePart:
    """A block of code. `shown` has notes in place of what is too long to be shown, `whole` has everything."""

    language: str
    columns: int = 0
    is_thinking: bool = False
    shown: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    is_closed: bool = False
    view: CodeView | None = None

    def add(self, text: str, rest: str) -> None:
        self.shown.append(text if not rest else f"{text} {cropped_note(len(rest))}")
        self.whole.append(text + rest)

    def estimate(self) -> int:
        self._join()
        return (self.shown[0].count("\n") + 1 if self.shown else 1) * 17 + 50

    def make(self, kit: Kit, width: int) -> CodeView:
        self.view = CodeView(self.language, kit.beside)
        self.view.resize(width, 40)
        self.refresh()
        return self.view

    def refresh(self) -> None:
        if self.view is not None:
            self._join()
            shown, whole = ("".join(parts) for parts in (self.shown, self.whole))
            self.view.show_code(shown, is_closed=self.is_closed, whole=whole)

    def text(self) -> str:
        return "".join(self.shown).removesuffix("\n")

    def _join(self) -> None:
        for parts in (self.shown, self.whole):
            if len(parts) > 1:
                parts[:] = ["".join(parts)]

    @property
    def indent(self) -> int:
        return int(self.columns * COLUMN_PX)


@dataclass(slots=True, eq=False)
class PlainPart:
    """Some lines of a text without markup."""

    lines: list[str] = field(default_factory=list)
    is_thinking: bool = False
    view: PlainView | None = None

    def estimate(self) -> int:
        return _lines("\n".join(self.lines)) * LINE_PX

    def make(self, kit: Kit, width: int) -> PlainView:
        self.view = PlainView(self.text(), width=width)
        return self.view

    def refresh(self) -> None:
        """It never changes."""

    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def indent(self) -> int:
        return 0


@dataclass(slots=True, eq=False)
class HeadPart:
    """The head of the thinking that follows it."""

    is_thinking: bool = False
    n_chars: int = 0
    is_running: bool = True
    is_unfolded: bool = False
    view: ThinkingHead | None = None

    def estimate(self) -> int:
        return 26

    def make(self, kit: Kit, width: int) -> ThinkingHead:
        self.view = ThinkingHead()
        self.view.setChecked(self.is_unfolded)
        self.refresh()
        return self.view

    def refresh(self) -> None:
        if self.view is not None:
            self.view.show_state(is_running=self.is_running, n_chars=self.n_chars)

    def text(self) -> str:
        return ""

    @property
    def indent(self) -> int:
        return 0


Part = ProsePart | CodePart | PlainPart | HeadPart


def plain_parts(text: str) -> list[PlainPart]:
    """A text without markup in parts of bounded length; a line without end is cropped, with a note."""
    parts: list[PlainPart] = []
    n_chars = VIEW_CHARS + 1
    for whole in text.replace("\r\n", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}").split("\n"):
        line = whole if len(whole) <= MAX_PLAIN else f"{whole[:MAX_PLAIN]} {cropped_note(len(whole) - MAX_PLAIN)}"
        if n_chars > VIEW_CHARS:
            parts.append(PlainPart())
            n_chars = 0
        parts[-1].lines.append(line)
        n_chars += len(line) + 1
    return parts


MAX_PLAIN = 4_000


def _lines(source: str) -> int:
    return sum(max(-(-_cells(line) // CHARS_PER_LINE), 1) for line in source.split("\n"))


def _cells(line: str) -> int:
    return len(line) if line.isascii() else len(line.encode()) * 2 // 3


def shown_text(parts: Sequence[Part]) -> str:
    """All of it, as it can be read."""
    return "\n".join(part.text() for part in parts if not isinstance(part, HeadPart))
