"""Markdown as it is understood here: CommonMark with tables, strikethrough and formulas. HTML is text. Pure.

A formula is `$$…$$`, `\\[…\\]`, `\\(…\\)` or `$…$`. A single dollar is money unless what it encloses looks like
mathematics (reported faults G39, G40).
"""

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

FORMULA, FORMULA_BLOCK = "formula", "formula_block"

_BLOCK_OPEN = re.compile(r"^(\$\$|\\\[)")
_CLOSE = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}
_SIGNS = re.compile(r"[\\^_={}<>]")
_WORD_PAIR = re.compile(r"[A-Za-z]{2,}")
_LINK_SCHEME = re.compile(r"^(?:https?|mailto):", re.IGNORECASE)


def parse(source: str) -> list[Token]:
    """The tokens of a piece of Markdown."""
    return _parser().parse(source)


def may_open(href: str) -> bool:
    """Whether a link is of a kind that may be opened at all, after asking."""
    return bool(_LINK_SCHEME.match(href))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
    parser.block.ruler.before("fence", FORMULA_BLOCK, _block_formula, {"alt": ["paragraph", "blockquote", "list"]})
    parser.inline.ruler.before("escape", FORMULA, _inline_formula)
    return parser


def _block_formula(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    opened = _BLOCK_OPEN.match(line)
    if opened is None or state.is_code_block(start):
        return False
    close = _CLOSE[opened.group()]
    rows = [line[2:]]
    at = start
    while close not in rows[-1]:
        at += 1
        if at >= end:
            return False
        rows.append(state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]])
    last, _, behind = rows[-1].partition(close)
    tex = "\n".join([*rows[:-1], last]).strip()
    if behind.strip(" \t.,;") or not tex:
        return False
    if not silent:
        token = state.push(FORMULA_BLOCK, "math", 0)
        token.content, token.map = tex, [start, at + 1]
        token.info = behind.strip()
        state.line = at + 1
    return True


def _inline_formula(state: StateInline, silent: bool) -> bool:
    src, pos = state.src, state.pos
    opened = src[pos : pos + 2]
    if opened in _CLOSE:
        end = src.find(_CLOSE[opened], pos + 2, state.posMax)
        tex, after, is_display = src[pos + 2 : end].strip(), end + 2, opened != "\\("
        if end < 0 or not tex:
            return False
    elif src[pos] == "$":
        end = _closing_dollar(src, pos + 1, state.posMax)
        tex, after, is_display = src[pos + 1 : end], end + 1, False
        if end < 0 or not _looks_like_mathematics(tex):
            return False
    else:
        return False
    if not silent:
        token = state.push(FORMULA, "math", 0)
        token.content = tex
        token.info = "display" if is_display else ""
    state.pos = after
    return True


def _closing_dollar(src: str, start: int, limit: int) -> int:
    """Where a formula that begins at `start` ends; -1 where it does not. A backslash hides the sign behind it."""
    if start >= limit or src[start].isspace() or src[start] == "$":
        return -1
    at = start
    while at < limit and src[at] != "$":
        if src[at] == "\n" and src[at : at + 2] == "\n\n":
            return -1
        at += 2 if src[at] == "\\" else 1
    if at >= limit or src[at - 1].isspace() or src[at + 1 : at + 2].isdigit():
        return -1
    return at


def _looks_like_mathematics(tex: str) -> bool:
    if _SIGNS.search(tex):
        return True
    return not (" " in tex and _WORD_PAIR.search(tex)) and len(tex) <= 60
