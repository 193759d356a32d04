"""Keeps what a user types from becoming a control token: `<|im_end|>` in a message is text, and stays text.

Marked before the template sees the messages, found again in what it rendered, and tokenised as plain text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from layadesk.domain.inference import PromptMessage, Role
from layadesk.engine.backend import ExpertFacts

_PRIVATE_USE = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE))  # Unicode's areas for what nobody else means


class Literals:
    """The reserved texts of one expert. Prompt thread.

    Control tokens are reserved in every role (what an assistant wrote as text was no token either), apart from those of
    thinking, which templates look for in an assistant's text. Added tokens such as `<tool_call>` are reserved in what
    users and system say, where the template gives them a meaning.
    """

    def __init__(self, facts: ExpertFacts, template_source: str) -> None:
        control = {text: token for text, token in facts.control_texts.items() if text}
        added = {text: token for text, token in facts.added_texts.items() if text.strip() and text in template_source}
        self._ids = frozenset(control.values()) | frozenset(added.values())
        self._in_user = _Finder((*control, *added))
        self._in_assistant = _Finder(text for text in control if "think" not in text.lower())
        self._template_source = template_source

    def mark(self, messages: Sequence[PromptMessage]) -> tuple[list[PromptMessage], "Marks | None"]:
        """`messages` with a private mark for each reserved text, and what the marks stand for; None without any."""
        marks: Marks | None = None
        everything = [text for one in messages for text in (one.text, *(call.arguments for call in one.tool_calls))]

        def mark(text: str, finder: _Finder) -> str:
            nonlocal marks
            found = finder.find(text)
            if not found:
                return text
            marks = marks or Marks("".join(everything) + self._template_source)
            parts: list[str] = []
            last = 0
            for start, end in found:
                parts += [text[last:start], marks.mark_of(text[start:end])]
                last = end
            return "".join(parts) + text[last:]

        marked: list[PromptMessage] = []
        for one in messages:
            text = mark(one.text, self._in_assistant if one.role is Role.ASSISTANT else self._in_user)
            calls = tuple(replace(call, arguments=mark(call.arguments, self._in_user)) for call in one.tool_calls)
            marked.append(replace(one, text=text, tool_calls=calls))
        return marked, marks

    def tokenize(self, rendered: str, marks: "Marks | None", tokenize: "Tokenize") -> list[int]:
        """Tokens of a rendered prompt, the texts behind `marks` as plain text."""
        if marks is None:
            return tokenize(rendered, parse_special=True)
        tokens: list[int] = []
        for part, is_marked in marks.split(rendered):
            tokens += self._plain(part, tokenize) if is_marked else tokenize(part, parse_special=True)
        return tokens

    def _plain(self, text: str, tokenize: "Tokenize") -> list[int]:
        tokens = tokenize(text, parse_special=False)
        if self._ids.isdisjoint(tokens):
            return tokens
        # Added tokens are recognised in plain text too, but never in two halves.
        return tokenize(text[:1], parse_special=False) + tokenize(text[1:], parse_special=False)


class Marks:
    """Private stand-ins for texts: two characters that occur nowhere in `texts`, and a number between them."""

    def __init__(self, texts: str) -> None:
        used = set(texts)
        free = (chr(code) for area in _PRIVATE_USE for code in area if chr(code) not in used)
        self._opening, self._closing = next(free), next(free)
        self._numbers: dict[str, int] = {}

    def mark_of(self, text: str) -> str:
        """The mark of `text`, always the same."""
        return f"{self._opening}{self._numbers.setdefault(text, len(self._numbers))}{self._closing}"

    def split(self, rendered: str) -> list[tuple[str, bool]]:
        """The non-empty parts of `rendered`, marks replaced by their texts, and whether each was a mark."""
        texts = {str(number): text for text, number in self._numbers.items()}
        parts = re.split(f"{self._opening}([0-9]+){self._closing}", rendered)
        split = [(texts.get(part, ""), True) if i % 2 else (part, False) for i, part in enumerate(parts)]
        return [(part, is_marked) for part, is_marked in split if part]


class _Finder:
    """Finds any of many texts, the longest at each place. A regular expression of 6,000 choices would crawl."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(texts)
        self._lengths = sorted({len(text) for text in self._texts}, reverse=True)
        first = sorted({text[0] for text in self._texts})
        self._first = re.compile("[" + "".join(map(re.escape, first)) + "]") if first else None

    def find(self, text: str) -> list[tuple[int, int]]:
        """Beginnings and ends, in order, not overlapping."""
        found: list[tuple[int, int]] = []
        if self._first is None:
            return found
        last = 0
        for candidate in self._first.finditer(text):
            start = candidate.start()
            if start < last:
                continue
            for length in self._lengths:
                if text[start : start + length] in self._texts:
                    last = start + length
                    found.append((start, last))
                    break
        return found


Tokenize = Callable[..., list[int]]  # Expert.tokenize
