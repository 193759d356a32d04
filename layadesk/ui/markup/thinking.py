"""Which part of a stream is thinking and which is the answer, told by tags that may be cut anywhere.

Rules, each from a reported fault (G28, G29, G31, G33):
- A tag opens thinking only at the start of a line and outside code; anywhere else it is text somebody writes about.
- The first closing tag closes; a nested opening tag is dropped. Inside inline code it does not count.
- A closing tag that nothing opened means that the prompt had opened thinking: all text before it was thinking.
- What could still become a tag is held back until it is clear.
- Thinking that is still open at the end is shown unfolded, because it may be the answer.
"""

import re
from dataclasses import dataclass

_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>")
_OPEN = frozenset(tag for tag in _TAGS if not tag.startswith("</"))
_TAG = re.compile("|".join(re.escape(tag) for tag in _TAGS))
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of one kind."""

    text: str
    is_thinking: bool


@dataclass(frozen=True, slots=True)
class AllWasThinking:
    """Everything before this was thinking after all."""


class ThinkingSplitter:
    """Feed it the stream; it returns pieces in order. `is_open`: thinking has begun and not ended."""

    def __init__(self) -> None:
        self.is_open = False
        self._had_thinking = False
        self._held = ""
        self._line = ""  # the line so far, to know what stands before a tag
        self._fence = ""

    def feed(self, text: str) -> list[Piece | AllWasThinking]:
        """The pieces that are certain now."""
        text = self._held + text
        found: list[Piece | AllWasThinking] = []
        at = 0
        while (tag := _TAG.search(text, at)) is not None:
            self._pass(text[at : tag.start()], found)
            self._take_tag(tag.group(), found)
            at = tag.end()
        rest = text[at:]
        n_held = _n_possible_tag(rest)
        self._held = rest[len(rest) - n_held :]
        self._pass(rest[: len(rest) - n_held], found)
        return found

    def finish(self) -> list[Piece | AllWasThinking]:
        """The stream has ended: what was held back is text."""
        held, self._held = self._held, ""
        found: list[Piece | AllWasThinking] = []
        self._pass(held, found)
        return found

    def expect_no_more(self) -> None:
        """Thinking has come in another way: a closing tag from here on is one too many, and dropped."""
        self._had_thinking = True

    def _pass(self, text: str, found: list[Piece | AllWasThinking]) -> None:
        if not text:
            return
        found.append(Piece(text, self.is_open))
        *lines, last = text.split("\n")
        for line in lines:
            self._end_line(self._line + line)
            self._line = ""
        self._line = (self._line + last)[:4000]

    def _end_line(self, line: str) -> None:
        fence = _FENCE.match(line)
        if fence is None:
            return
        mark = fence.group(1)
        if not self._fence:
            self._fence = mark
        elif mark[0] == self._fence[0] and len(mark) >= len(self._fence) and not line.strip().strip(mark[0]):
            self._fence = ""

    def _take_tag(self, tag: str, found: list[Piece | AllWasThinking]) -> None:
        starts_line = not self._line.strip()
        in_code = bool(self._fence) or self._line.count("`") % 2 == 1
        if self.is_open:
            if tag in _OPEN:
                return  # nested: the first closing tag closes
            if in_code and not starts_line:
                self._pass(tag, found)
                return
            self._switch(is_open=False)
        elif in_code:
            self._pass(tag, found)
        elif tag in _OPEN:
            if starts_line:
                self._switch(is_open=True)
            else:
                self._pass(tag, found)
        elif not self._had_thinking:
            found.append(AllWasThinking())
            self._switch(is_open=False)

    def _switch(self, *, is_open: bool) -> None:
        self.is_open = is_open
        self._had_thinking = True
        self._line = ""
        self._fence = ""


def _n_possible_tag(text: str) -> int:
    """How many characters at the end could be the beginning of a tag."""
    at = text.rfind("<", max(len(text) - max(map(len, _TAGS)), 0))
    tail = text[at:] if at >= 0 else ""
    return len(tail) if tail and any(tag.startswith(tail) for tag in _TAGS) else 0
