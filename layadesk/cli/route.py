"""`layadesk route`: what the router makes of texts, and whom the policy chooses; JSON Lines, no expert loaded."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from layadesk.cli.printing import EXIT_FAILED, EXIT_OK, print_json, running_core
from layadesk.domain.errors import ErrorCode, fail

if TYPE_CHECKING:
    from layadesk.usecases.route_texts import RoutedText


def route(options: argparse.Namespace) -> int:
    """Route `options.text`, or every line of `options.file`."""
    flawed: list[int] = []
    texts = [("0", _given(options.text))] if options.file is None else _lines(options.file, flawed)
    n_unanswered = 0
    with running_core(options.data_dir, options.engine, started=False, router=options.router) as core:
        core.router.start()  # alone: no expert is loaded
        for routed in core.route_texts(texts):
            n_unanswered += routed.answer is None
            print_json(as_fields(routed))
    for number in flawed[:5]:
        print(
            f"layadesk: line {number} of {options.file} is no JSON object with a `text`; it was left out.",
            file=sys.stderr,
        )
    if len(flawed) > 5:
        print(f"layadesk: {len(flawed)} lines were left out in all.", file=sys.stderr)
    if n_unanswered:
        print(f"layadesk: the router did not answer {n_unanswered} times; see the log router.log.", file=sys.stderr)
    return EXIT_FAILED if flawed or n_unanswered else EXIT_OK


def as_fields(routed: "RoutedText") -> dict[str, Any]:
    """One line of output."""
    answer, chosen = routed.answer, routed.route
    task_probs = {} if answer is None else dict(answer.task_probs)
    domain_probs = {} if answer is None else dict(answer.domain_probs)
    return {
        "id": routed.text_id,
        "task": max(task_probs, key=lambda name: task_probs[name]) if task_probs else None,
        "task_probs": task_probs,
        "complexity": None if answer is None else answer.complexity,
        "domain": max(domain_probs, key=lambda name: domain_probs[name]) if domain_probs else None,
        "domain_probs": domain_probs,
        "language": None if answer is None else answer.language,
        "confidence": max(task_probs.values(), default=None),
        "expert": None if chosen is None else chosen.expert,
        "ranking": [] if chosen is None else msgspec.to_builtins(chosen.ranking),
        "reason": None if chosen is None else str(chosen.reason),
        "route_ms": None if answer is None else answer.route_ms,
        "forward_ms": None if answer is None else answer.forward_ms,
        "router": None if answer is None else answer.router_id,
        "effort_signs": () if answer is None else answer.effort_signs,
        "folds": () if answer is None else answer.folds,
    }


def _given(text: str | None) -> str:
    if text is None:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="TEXT", value=None)
    return sys.stdin.read() if text == "-" else text


def _lines(file: str, flawed: list[int]) -> Iterator[tuple[str, str]]:
    """(id, text) of each line; the numbers of the lines that have none go into `flawed`."""
    try:
        stream = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115  # closed at the end of the run
    except OSError as error:
        raise fail(ErrorCode.MODEL_FILE_UNREADABLE, path=file, detail=error.strerror) from error
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
                yield str(fields.get("id", number)), _text(fields["text"])
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                flawed.append(number)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
