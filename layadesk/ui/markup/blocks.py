"""Markdown text, cut while it arrives into prose and code that can be shown on their own; pure, a line at a time.

Only the last piece of prose can still change, and no piece grows without bound: a long list, table or paragraph is
closed at an item, row or line and goes on in the next piece. So the cost of a token does not grow with the answer
(reported faults F09, F11).
"""

import re
from dataclasses import dataclass

PART_CHARS = 2_000
PART_ROWS = 30
LINE_CHARS = 4_000  # a longer line is cropped on screen; what is copied is the message itself

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^`]*)$")
_MAYBE_ITEM = re.compile(r"^[ \t]*(?:[*+-]|\d{1,9}[.)]?)$")
_MAYBE_FENCE = re.compile(r"^[ \t]*(`{1,2}|~{1,2}|(?:`{3,}|~{3,})[^`]*)$")
_ITEM = re.compile(r"^([ \t]*)(?:[*+-]|\d{1,9}[.)])(?:[ \t]+|$)")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_MATH = re.compile(r"^[ \t]*(\$\$|\\\[)")
_MATH_END = {"$$": re.compile(r"\$\$[ \t]*$"), "\\[": re.compile(r"\\\][ \t]*$")}


@dataclass(frozen=True, slots=True)
class Prose:
    """A piece of Markdown. An open one is shown in place of the open one before it.

    `indent` is the number of columns cut off in front of its lines, because it belongs to a list further up;
    `hides_header` marks the second part of a long table; `n_cropped` counts characters that are not in `source`.
    """

    source: str
    is_open: bool
    indent: int = 0
    hides_header: bool = False
    n_cropped: int = 0


@dataclass(frozen=True, slots=True)
class CodeStart:
    """A fenced block begins; `language` is what stood behind the fence, may be empty."""

    language: str
    indent: int = 0


@dataclass(frozen=True, slots=True)
class CodeText:
    """More text of the block. `rest` is what is left out on screen behind it."""

    text: str
    rest: str = ""


@dataclass(frozen=True, slots=True)
class CodeEnd:
    """The block is complete."""


Step = Prose | CodeStart | CodeText | CodeEnd


class BlockSplitter:
    """Feed it text; it returns what to show. Whatever way the text is cut, the pieces are the same."""

    def __init__(self) -> None:
        self._line = ""  # the last line, as far as it has come
        self._over: list[str] = []  # of a line of code: what lies beyond LINE_CHARS
        self._n_over = 0  # characters of it beyond LINE_CHARS
        self._prose = _OpenProse()
        self._fence = ""
        self._fence_indent = 0
        self._n_code_shown = 0  # characters of `_line` that are shown
        self._in_list = False

    def feed(self, text: str) -> list[Step]:
        """The steps that follow from more text; an open piece of prose comes last."""
        steps: list[Step] = []
        *lines, last = text.split("\n")
        for line in lines:
            self._extend(line)
            self._end_line(steps)
        self._extend(last)
        self._show_unfinished(steps)
        return steps

    def finish(self) -> list[Step]:
        """The text has ended: nothing stays open."""
        steps: list[Step] = []
        if self._line or self._n_over:
            self._end_line(steps)
        if self._fence:
            self._fence = ""
            steps.append(CodeEnd())
        self._close_prose(steps)
        return steps

    def _extend(self, text: str) -> None:
        room = LINE_CHARS - len(self._line)
        self._line += text[:room]
        if len(text) > room:
            self._n_over += len(text) - room
            if self._fence:
                self._over.append(text[room:])

    def _end_line(self, steps: list[Step]) -> None:
        line, n_over = self._line.removesuffix("\r"), self._n_over
        if self._fence:
            self._end_code_line(line, n_over, steps)
        else:
            self._end_prose_line(line, n_over, steps)
        self._line, self._n_over, self._n_code_shown, self._over = "", 0, 0, []

    def _end_code_line(self, line: str, n_over: int, steps: list[Step]) -> None:
        if _closes(line, self._fence):
            self._fence = ""
            steps.append(CodeEnd())
            return
        shown = _dedent(line, self._fence_indent)
        fresh = shown[self._n_code_shown :]
        if n_over:
            steps += [CodeText(fresh, "".join(self._over)), CodeText("\n")]
        else:
            steps.append(CodeText(fresh + "\n"))

    def _end_prose_line(self, line: str, n_over: int, steps: list[Step]) -> None:
        fence = None if self._prose.math else _FENCE.match(line)
        if fence is not None and (_width(fence.group(1)) <= 3 or self._in_list):
            self._close_prose(steps)
            self._fence, self._fence_indent = fence.group(2), _width(fence.group(1))
            steps.append(CodeStart((fence.group(3).split() or [""])[0], self._fence_indent))
            return
        if not line.strip() and not n_over:
            self._prose.n_blank += 1
            return
        header = self._prose.table_header if self._prose.is_full_table(line) else ()
        if header or self._prose.must_close_before(line):
            self._close_prose(steps)
        self._in_list = self._goes_on_in_list(line)
        self._prose.add(line, n_over, header=header, in_list=self._in_list)
        if n_over:
            self._close_prose(steps)

    def _close_prose(self, steps: list[Step]) -> None:
        if self._prose.has_lines:
            steps.append(self._prose.as_step(is_open=False))
        self._prose = _OpenProse()

    def _show_unfinished(self, steps: list[Step]) -> None:
        line = self._line
        if self._fence:
            shown = _dedent(line, self._fence_indent)
            if shown.strip() and shown.lstrip()[0] != self._fence[0] and not line.endswith("\r"):
                fresh = shown[self._n_code_shown :]
                if fresh:
                    steps.append(CodeText(fresh))
                self._n_code_shown = len(shown)
            return
        if self._is_unclear(line):
            if self._prose.has_lines:
                steps.append(self._prose.as_step(is_open=True))
            return
        header = self._prose.table_header if self._prose.is_full_table(line) else ()
        if header or self._prose.must_close_before(line):
            self._close_prose(steps)
            self._prose.table_next = header
        preview = self._prose.copy()
        preview.add(line, self._n_over, header=(), in_list=self._goes_on_in_list(line))
        steps.append(preview.as_step(is_open=True))

    def _is_unclear(self, line: str) -> bool:
        """Whether what is there of a line could still become the edge of a block; then it is not shown yet."""
        if not line.strip() or line.endswith("\r") or _MAYBE_FENCE.match(line) or _MAYBE_ITEM.match(line):
            return True
        return bool(self._prose.table_header) and not self._prose.n_blank and "|" not in line

    def _goes_on_in_list(self, line: str) -> bool:
        return (self._in_list and (self._prose.has_lines or line[:1] in " \t")) or bool(_ITEM.match(line))


class _OpenProse:
    """The piece of prose that may still change."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.n_chars = 0
        self.n_blank = 0
        self.n_cropped = 0
        self.indent = 0
        self.in_list = False
        self.math = ""
        self.hides_header = False
        self.table_next: tuple[str, ...] = ()

    def copy(self) -> "_OpenProse":
        other = _OpenProse()
        for name in ("n_chars", "n_blank", "n_cropped", "indent", "in_list", "math", "hides_header", "table_next"):
            setattr(other, name, getattr(self, name))
        other.lines = self.lines[:]
        return other

    @property
    def has_lines(self) -> bool:
        return bool(self.lines)

    @property
    def table_header(self) -> tuple[str, ...]:
        """The two lines that make this piece a table; empty for any other."""
        if len(self.lines) >= 2 and "|" in self.lines[0] and "-" in self.lines[1] and _TABLE_RULE.match(self.lines[1]):
            return (self.lines[0], self.lines[1])
        return ()

    def is_full_table(self, line: str) -> bool:
        """Whether this is a table that goes on in the next piece with `line`."""
        is_long = len(self.lines) >= PART_ROWS or self.n_chars > PART_CHARS
        return is_long and not self.n_blank and "|" in line and bool(self.table_header)

    def must_close_before(self, line: str) -> bool:
        """Whether `line` does not belong to this piece any more."""
        if not self.lines or self.math:
            return False
        item = _ITEM.match(line)
        is_item, is_inside = item is not None, line[:1] in " \t"
        if item is not None and _width(item.group(1)) < self.indent:
            return True  # the next item of the list this piece is only a paragraph of
        if self.n_blank and not (self.in_list and (is_item or is_inside)):
            return True
        if self.n_chars <= PART_CHARS:
            return False
        if self.in_list and self.n_chars <= 4 * PART_CHARS:
            return item is not None and _width(item.group(1)) <= 1
        return True

    def add(self, line: str, n_over: int, *, header: tuple[str, ...], in_list: bool) -> None:
        """One more line; blank ones before it count now."""
        header = header or self.table_next
        if not self.lines:
            self.in_list = in_list
            if in_list and not _ITEM.match(line[:2]):
                self.indent = _width(line[: len(line) - len(line.lstrip())])
            if header:
                self.lines += header
                self.hides_header = True
            self.table_next = ()
        elif self.n_blank:
            self.lines += [""] * min(self.n_blank, 2)
        self.n_blank = 0
        self.in_list = self.in_list or in_list
        text = _dedent(line, self.indent)
        self._follow_math(text)
        self.lines.append(text)
        self.n_chars += len(text) + 1
        self.n_cropped += n_over

    def _follow_math(self, line: str) -> None:
        rest = line
        if not self.math:
            start = _MATH.match(line)
            if start is None:
                return
            self.math, rest = start.group(1), line[start.end() :]
        if _MATH_END[self.math].search(rest) or self.n_chars > 2 * PART_CHARS:
            self.math = ""

    def as_step(self, *, is_open: bool) -> Prose:
        return Prose("\n".join(self.lines), is_open, self.indent, self.hides_header, self.n_cropped)


def _closes(line: str, fence: str) -> bool:
    text = line.strip()
    return len(text) >= len(fence) and not text.strip(fence[0])


def _width(space: str) -> int:
    return len(space.expandtabs(4))


def _dedent(line: str, n_columns: int) -> str:
    """`line` without up to that many columns of space in front."""
    if not n_columns:
        return line
    rest = line.lstrip(" \t")
    space = line[: len(line) - len(rest)].expandtabs(4)
    return space[n_columns:] + rest
