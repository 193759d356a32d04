"""Grammars that bind an answer: from a JSON schema, or the request's own; and what would end the process in either.

The library converts schemas, and reads grammars by recursion: 30,000 brackets overflow its stack. A schema of three
lines may ask it for gigabytes.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail

MAX_DEPTH = 64
MAX_COUNT = 2000  # llama.cpp refuses more repetitions
MAX_GRAMMAR_CHARS = 1024 * 1024
MAX_REASON_CHARS = 200  # it may quote the schema
MAX_BRACKETS = 250  # within each other; a stack of 1 MiB, as on Windows, holds some thousand

_COUNTS = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})
_LARGE_REPETITION = re.compile(r"\{\s*\d*\s*,?\s*\d{5,}|\{\s*\d{5,}")
_TERMINALS = re.compile(r'"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\]|#[^\n]*')  # texts, classes, comments


def grammar_of(schema: str, convert: Callable[[str], str]) -> str:
    """The grammar of a JSON schema by `convert`. Raises BAD_GRAMMAR for what is no schema, or an absurd one."""
    try:
        _check(json.loads(schema), 0)
        grammar = convert(schema)
    except LayaDeskError:
        raise
    except Exception as error:  # it raises whatever a strange schema brings about
        raise _refuse(_reason(error)) from error
    if len(grammar) > MAX_GRAMMAR_CHARS:
        raise _refuse("it is too large")
    return grammar


def checked_grammar(grammar: str) -> str:
    """`grammar`, where reading it is safe. Raises BAD_GRAMMAR."""
    depth = deepest = 0
    for sign in re.findall(r"[()]", _TERMINALS.sub("", grammar)):
        depth += 1 if sign == "(" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_BRACKETS:
        raise fail(ErrorCode.BAD_GRAMMAR, kind="grammar", detail="its brackets are nested too deeply")
    if not grammar.strip():  # the library takes that for "no grammar"
        raise fail(ErrorCode.BAD_GRAMMAR, kind="grammar", detail="it is empty")
    if "\x00" in grammar:
        raise fail(ErrorCode.BAD_GRAMMAR, kind="grammar", detail="it contains a NUL")
    return grammar


def _check(value: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _refuse("it is nested too deeply")
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _COUNTS and isinstance(inner, int | float) and not 0 <= inner <= MAX_COUNT:
                raise _refuse(f"{name} is {inner}, and at most {MAX_COUNT} is possible")
            if name == "pattern" and isinstance(inner, str) and _LARGE_REPETITION.search(inner):
                raise _refuse("a pattern repeats too often")
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _reason(error: Exception) -> str:
    """What is wrong with a schema, in words, from what reading it or converting it raised."""
    said = str(error).strip().rstrip(".")[:MAX_REASON_CHARS]
    match error:
        case json.JSONDecodeError():
            return f"it is no JSON: {said}"
        case RecursionError():
            return "it is nested too deeply"
        case KeyError():
            return f"it refers to {said}, which is not in it"
        case AssertionError() | ValueError() if said:
            return said[0].lower() + said[1:]
        case AssertionError() | ValueError() | IndexError():
            return "a pattern in it repeats what cannot be repeated"
        case _:
            return "a part of it is no schema"


def _refuse(detail: str) -> LayaDeskError:
    return fail(ErrorCode.BAD_GRAMMAR, kind="JSON schema", detail=detail)
