"""Which parts of code have which colour. Pure but for the lexers; any thread."""

from collections.abc import Iterator
from functools import lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, _TokenType
from pygments.util import ClassNotFound

from layadesk.ui.theme.tokens import Ink

MAX_CHARS = 200_000
MAX_LEXERS = 256
_LEXERS: "dict[str, Lexer | None]" = {}  # written by one thread at a time, the one beside the window's

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
    """The colours of one line taken alone; what began in an earlier line is not known.

    Nothing before `lexer_for` has been called for that language: making a lexer takes 0.1 s, so that is done elsewhere.
    """
    lexer = _LEXERS.get(language)
    return () if lexer is None else _spans_of(lexer, line)[0]


def all_spans(code: str, language: str) -> tuple[Spans, ...]:
    """The colours of each line of a whole block; nothing for a language nobody knows, or for too much code."""
    lexer = lexer_for(language)
    return () if lexer is None or len(code) > MAX_CHARS else _spans_of(lexer, code)


def lexer_for(language: str) -> Lexer | None:
    """The lexer of a language by its usual names; made once."""
    if language not in _LEXERS and len(_LEXERS) < MAX_LEXERS:
        try:
            lexer = get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False) if language else None
        except ClassNotFound:
            lexer = None
        if lexer is not None:
            next(iter(lexer.get_tokens_unprocessed("x")), None)  # its tables are made at the first use
        _LEXERS[language] = lexer
    return _LEXERS.get(language)


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
