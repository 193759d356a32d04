"""Which parts of code have which colour. Pure but for the lexers; any thread."""

from collections.abc import Iterator
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from layadesk.ui.theme.tokens import Ink

MAX_CHARS = 200_000

Span = tuple[int, int, Ink]  # start in its line, length, meaning of the colour
Spans = tuple[Span, ...]

_INKS = (
    (Comment, Ink.MUTED),
    (String, Ink.OK),
    (Number, Ink.WARN),
    (Literal, Ink.WARN),
    (Keyword, Ink.ACCENT),
    (Operator.Word, Ink.ACCENT),
    (Name.Builtin, Ink.ACCENT),
    (Name.Tag, Ink.ACCENT),
    (Name.Decorator, Ink.WARN),
    (Name.Attribute, Ink.WARN),
    (Name.Exception, Ink.DANGER),
)


def line_spans(line: str, language: str) -> Spans:
    """The colours of one line taken alone; what began in an earlier line is not known."""
    lexer = lexer_for(language)
    return () if lexer is None else _spans_of(lexer, line)[0]


def all_spans(code: str, language: str) -> tuple[Spans, ...]:
    """The colours of each line of a whole block; nothing for a language nobody knows, or for too much code."""
    lexer = lexer_for(language)
    return () if lexer is None or len(code) > MAX_CHARS else _spans_of(lexer, code)


@lru_cache(maxsize=64)
def lexer_for(language: str) -> Lexer | None:
    """The lexer of a language by its usual names."""
    if not language:
        return None
    try:
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _spans_of(lexer: Lexer, code: str) -> tuple[Spans, ...]:
    lines: list[list[Span]] = [[]]
    column = 0
    for kind, text in _tokens(lexer, code):
        meaning = _ink(kind)
        for index, part in enumerate(text.split("\n")):
            if index:
                lines.append([])
                column = 0
            if meaning is not None and part.strip():
                lines[-1].append((column, len(part), meaning))
            column += len(part)
    return tuple(tuple(line) for line in lines)


def _tokens(lexer: Lexer, code: str) -> Iterator[tuple[_TokenType, str]]:
    for _, kind, text in lexer.get_tokens_unprocessed(code):
        yield kind, text


@lru_cache(maxsize=512)
def _ink(kind: _TokenType) -> Ink | None:
    return next((meaning for group, meaning in _INKS if kind in group), None)
