"""`layadesk ask`: one question, streamed to the terminal, or one JSON object."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from layadesk.cli.printing import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, complain, print_json, running_core
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import FinishReason, SamplingParams, ThinkingParams, Timings
from layadesk.domain.remote import is_loopback
from layadesk.domain.thinking_choice import AUTO, thinking_params
from layadesk.protocol.events import Loading, PromptBuilt, TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from layadesk.usecases.answer_order import AnswerEvent
    from layadesk.usecases.ask import Answered


def ask(options: argparse.Namespace) -> int:
    """Answer `options.text`."""
    text = sys.stdin.read() if options.text == "-" else options.text
    with running_core(options.data_dir, options.engine) as core:
        sampling = _sampling(core.pool.sampling(), options)
        expert = None if options.expert == "auto" else options.expert
        on_event = _ignore if options.json else _show
        if options.load_anyway:
            core.gate.waive_next()
        answered = core.ask(text, sampling, expert=expert, thinking=_thinking(options), on_event=on_event)
    if options.json:
        print_json(_as_json(answered))
    elif answered.text:
        print()
    elif answered.thinking and answered.error is None:  # it never came to an answer: better that than nothing
        print(answered.thinking)
    if answered.error is not None:
        complain(answered.error, options.data_dir)
        return EXIT_FAILED
    return EXIT_INTERRUPTED if answered.finish_reason is FinishReason.CANCELLED else EXIT_OK


def _sampling(sampling: SamplingParams, options: argparse.Namespace) -> SamplingParams:
    schema = None if options.json_schema is None else _read(options.json_schema)
    given = {
        "json_schema": schema,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "seed": options.seed,
    }
    return replace(sampling, **{name: value for name, value in given.items() if value is not None})


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise fail(ErrorCode.BAD_GRAMMAR, kind="JSON schema", detail=f"{path} cannot be read") from error


def _thinking(options: argparse.Namespace) -> ThinkingParams | None:
    """What is asked for this time; None leaves it to the choice for the expert."""
    if options.thinking is None and options.thinking_budget is None:
        return None
    return thinking_params(options.thinking or AUTO, options.thinking_budget)


def _ignore(_: "AnswerEvent") -> None:
    """Nothing is shown before the JSON object."""


def _show(event: "AnswerEvent") -> None:
    """The answer on stdout; what happens on the way on stderr, and only for a person who looks."""
    from layadesk.usecases.answer_order import FailedOver, RouteChosen  # noqa: PLC0415 - `event` needs them no earlier

    if isinstance(event, TextDelta):
        print(event.text, end="", flush=True)
    elif isinstance(event, ThinkingDelta) and sys.stderr.isatty():
        print(event.text, end="", file=sys.stderr, flush=True)
    elif isinstance(event, FailedOver):  # also where nobody looks: the text above is void
        print(f"\n→ {event.route.expert}, because {event.route.instead_of} failed", file=sys.stderr)
    elif isinstance(event, RouteChosen) and event.route.host is not None:
        print(f"→ {event.route.expert}: {_way_out(event.route.host)}", file=sys.stderr)
    elif not sys.stderr.isatty():
        return
    elif isinstance(event, RouteChosen):
        print(f"→ {event.route.expert}", file=sys.stderr)
    elif isinstance(event, Loading):
        print(f"\r  {event.fraction:4.0%}", end="\r", file=sys.stderr, flush=True)
    elif isinstance(event, PromptBuilt) and event.n_dropped:
        print(f"  {event.n_dropped} older messages left out", file=sys.stderr)


def _way_out(host: str) -> str:
    is_here = is_loopback(f"http://{host}")
    return f"{'goes to another program here' if is_here else 'this leaves the machine'} → {host}"


def _as_json(answered: "Answered") -> dict[str, Any]:
    return {
        "text": answered.text,
        "thinking": answered.thinking,
        "expert": answered.expert,
        "route": msgspec.to_builtins(answered.route),
        "finish_reason": answered.finish_reason,
        "timings": _timings(answered.timings),
        "memory": _with(answered.memory, "total_bytes"),
        **({} if answered.error is None else {"error": msgspec.to_builtins(answered.error)}),
    }


def _timings(timings: Timings | None) -> dict[str, Any] | None:
    return _with(timings, "prefill_tps", "decode_tps")


def _with(value: Any, *derived: str) -> dict[str, Any] | None:
    """The fields of a record and these of its derived figures."""
    if value is None:
        return None
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields | {name: getattr(value, name) for name in derived}
