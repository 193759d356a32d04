"""The command line's grammar, and what every command has in common."""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from layadesk import __version__
from layadesk.cli import ask, bench, bench_engine, bench_moe, checks, fit, library, models, remote, route, router, serve
from layadesk.cli.bench_engine import SECTIONS
from layadesk.cli.printing import EXIT_FAILED, EXIT_INTERRUPTED, complain
from layadesk.domain.errors import LayaDeskError
from layadesk.paths import default_data_dir

_MOST = 2**31 - 1  # llama.cpp counts in 32 bits


def run(arguments: Sequence[str]) -> int:
    """Parse and run one command; returns the exit status, raises SystemExit(2) for bad usage as argparse does."""
    _speak_utf8()
    options = _parser().parse_args(with_files(arguments))
    command: Callable[[argparse.Namespace], int] = options.run
    try:
        return _finished(command(options))
    except LayaDeskError as error:
        complain(error.report, options.data_dir)
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # `layadesk models list | head`
        sys.stderr.close()
        return EXIT_FAILED
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            raise
        print("layadesk: The output could not be written: no space is left where it goes.", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python's own flush at the end fails again
        return EXIT_FAILED


def with_files(arguments: Sequence[str]) -> list[str]:
    """`layadesk model.gguf ...`, as file managers call it, in the words of the parser.

    They call with whole paths, and know a GGUF file by its first bytes also where its name says nothing.
    """
    place = 0
    while place < len(arguments) and arguments[place] in {"--data-dir", "--engine"}:
        place += 2
    if place >= len(arguments) or arguments[place].startswith("-"):
        return list(arguments)
    is_file = arguments[place].lower().endswith(".gguf") or os.path.isabs(arguments[place])
    return [*arguments[:place], *(["--open"] if is_file else []), *arguments[place:]]


def _finished(status: int) -> int:
    sys.stdout.flush()  # here a full disk can still be told in words
    return status


def _speak_utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a windowed program has no streams, a test has its own
            reconfigure(encoding="utf-8", errors="replace")


def _parser() -> argparse.ArgumentParser:
    printing = argparse.ArgumentParser(add_help=False, parents=[_common()])
    printing.add_argument("--json", action="store_true", help="print one JSON object")
    parser = argparse.ArgumentParser(
        "layadesk",
        description="Chat with local language models. Without a command: open the window.",
        parents=[_common()],
    )
    parser.add_argument("--version", action="version", version=f"layadesk {__version__}")
    parser.add_argument("--open", metavar="FILE.gguf", nargs="+", default=(), help="add model files in the window")
    parser.set_defaults(run=_window, data_dir=default_data_dir(), engine="llama")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_ask(commands, printing)
    _add_models(commands, printing)
    _add_route(commands, printing)
    _add_fit(commands, printing)
    _add_bench(commands, printing)
    _add_router(commands, printing)
    _add_serve(commands, _common())
    smoke = commands.add_parser("smoke", parents=[printing], help="after installation: load, route, answer, measure")
    smoke.add_argument("--expert", metavar="ID", help="the expert to test; default: the router's choice")
    smoke.set_defaults(run=checks.smoke)
    doctor = commands.add_parser("doctor", parents=[printing], help="check the installation, with remedies")
    doctor.add_argument("--probe", action="store_true", help="what each sensor of this machine says, and why not")
    doctor.set_defaults(run=checks.doctor)
    return parser


def _common() -> argparse.ArgumentParser:
    """Without defaults: those of a command would take the place of what stands before the command.

    Made anew for each parser, since parsers share the arguments of a parent, and with them their defaults.
    """
    common = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    common.add_argument("--data-dir", type=_directory, help="where chats and models are kept")
    common.add_argument("--engine", help=argparse.SUPPRESS)  # `scripted[:FILE.json]` for tests
    return common


def _add_ask(commands: Any, printing: argparse.ArgumentParser) -> None:
    asking = commands.add_parser("ask", parents=[printing], help="route and answer one question")
    asking.add_argument("text", metavar="TEXT", help="the question; - reads it from standard input")
    asking.add_argument(
        "--expert", metavar="ID", default="auto", help="auto (default) or the id of an installed expert"
    )
    asking.add_argument("--max-tokens", type=_positive, metavar="N")
    asking.add_argument("--temperature", type=_not_negative, metavar="T")
    asking.add_argument("--seed", type=_seed, metavar="N")
    asking.add_argument("--thinking", metavar="CHOICE", help="on, off, or an effort: low, medium, high; default: auto")
    asking.add_argument("--thinking-budget", type=_positive, metavar="N", help="at most N tokens of thinking")
    asking.add_argument("--json-schema", metavar="FILE", help="bind the answer to a JSON schema")
    asking.add_argument("--load-anyway", action="store_true", help="load it even if it does not fit into memory")
    asking.set_defaults(run=ask.ask)


def _add_route(commands: Any, printing: argparse.ArgumentParser) -> None:
    routing = commands.add_parser(
        "route", parents=[printing], help="say what kind of request a text is, and who would answer"
    )
    what = routing.add_mutually_exclusive_group(required=True)
    what.add_argument("text", metavar="TEXT", nargs="?", help="the request; - reads it from standard input")
    what.add_argument("--file", metavar="F.jsonl", help="a file with {id, text} in each line; - reads standard input")
    routing.add_argument(
        "--router", metavar="ID", help="bundled, none or laya:DIRECTORY; default: that of the settings"
    )
    routing.set_defaults(run=route.route)


def _add_fit(commands: Any, printing: argparse.ArgumentParser) -> None:
    fitting = commands.add_parser("fit", parents=[printing], help="what a model would take; nothing is loaded")
    what = "installed, of the catalogue, a file, or one on a server"
    fitting.add_argument("model", metavar="MODEL_ID|FILE.gguf|URL", help=what)
    fitting.add_argument("--quantization", metavar="Q", help="which file of the catalogue's model, for instance Q4_K_M")
    fitting.add_argument("--n-ctx", type=_positive, metavar="N", help="tokens that each sequence may fill")
    fitting.add_argument("--n-parallel", type=_positive, metavar="N", help="sequences that may be full at once")
    fitting.add_argument("--kv-type", choices=("f16", "q8_0", "q4_0"), help="how keys and values are stored")
    fitting.add_argument("--n-gpu-layers", type=int, metavar="N", help="layers on the GPU; 0: none")
    fitting.add_argument(
        "--mmproj", type=Path, metavar="FILE", help="the model's eyes or ears, if it is used with them"
    )
    fitting.add_argument("--hardware", type=Path, metavar="F.json", help="another machine than this one")
    fitting.set_defaults(run=fit.fit)


def _add_serve(commands: Any, common: argparse.ArgumentParser) -> None:
    serving = commands.add_parser("serve", parents=[common], help="answer other programs over HTTP, as OpenAI would")
    serving.add_argument("--host", metavar="ADDRESS", help="where to listen; default: as in the settings (127.0.0.1)")
    serving.add_argument(
        "--port", type=_port, metavar="N", help="default: that of the settings (8000); 0: any free one"
    )
    keys = serving.add_mutually_exclusive_group()
    keys.add_argument("--api-key", action="store_true", help="make a new API key, show it, and ask for it from now on")
    keys.add_argument("--no-api-key", action="store_true", help="ask for no key any more; on this machine only")
    serving.set_defaults(run=serve.serve)


def _add_models(commands: Any, printing: argparse.ArgumentParser) -> None:
    group = commands.add_parser("models", help="the experts on this disk, and those that can be downloaded")
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", parents=[printing], help="list installed experts")
    what = listing.add_mutually_exclusive_group()
    what.add_argument("--catalogue", action="store_true", help="what can be downloaded, and what of it is here")
    what.add_argument("--leftovers", action="store_true", help="unfinished downloads, and model files in no list")
    listing.set_defaults(run=models.list_models)
    showing = actions.add_parser("show", parents=[printing], help="a model, its quantizations, and what fits here")
    showing.add_argument("id", metavar="ID")
    showing.add_argument(
        "--n-ctx", type=_positive, metavar="N", help="tokens of context; default: that of the settings"
    )
    showing.add_argument("--ask-hub", action="store_true", help="read numbers that the catalogue lacks from its hub")
    showing.set_defaults(run=library.show)
    fetching = actions.add_parser("download", parents=[printing], help="fetch a model of the catalogue; Ctrl-C pauses")
    fetching.add_argument("id", metavar="ID")
    fetching.add_argument("--quantization", metavar="Q", help="default: the best that fits this machine")
    fetching.add_argument("--accept-licence", action="store_true", help="where the licence has conditions")
    fetching.set_defaults(run=library.download)
    verifying = actions.add_parser("verify", parents=[printing], help="compare an installed model with the catalogue")
    verifying.add_argument("id", metavar="ID")
    verifying.set_defaults(run=library.verify)
    removing = actions.add_parser("remove", parents=[printing], help="take a model, or what was left, off this disk")
    removing.add_argument("id", metavar="ID|PATH", help="of a model, or a path of: models list --leftovers")
    removing.add_argument("--delete-file", action="store_true", help="also a file that you brought yourself")
    removing.set_defaults(run=library.remove)
    thinking = actions.add_parser("thinking", parents=[printing], help="how an expert is asked to think")
    thinking.add_argument("id", metavar="ID")
    thinking.add_argument("choice", metavar="CHOICE", nargs="?", help="auto, on, off, low, medium, high; none: show it")
    thinking.set_defaults(run=models.choose_thinking)
    importing = actions.add_parser(
        "import", parents=[printing], help="add GGUF files, or all in a folder, where they lie"
    )
    importing.add_argument("paths", metavar="FILE.gguf|FOLDER", nargs="+")
    importing.add_argument("--name", help="how it is called in the window")
    importing.add_argument("--origin", choices=("imported", "starter"), default="imported", help=argparse.SUPPRESS)
    importing.set_defaults(run=models.import_model, misused=importing.error)
    remote.add_parsers(actions, printing)


def _add_bench(commands: Any, printing: argparse.ArgumentParser) -> None:
    benches = commands.add_parser("bench", help="measured figures")
    subjects = benches.add_subparsers(title="subjects", metavar="SUBJECT", required=True)
    engine = subjects.add_parser("engine", parents=[printing], help="speed, first token and gaps, as ratios in one run")
    engine.add_argument("--model", metavar="FILE.gguf", help="default: the first installed expert")
    engine.add_argument(
        "--against", choices=("llama-server",), help="the same work on llama.cpp's own server, in turns"
    )
    engine.add_argument("--only", type=_sections, default=SECTIONS, metavar="A,B", help=f"of {', '.join(SECTIONS)}")
    engine.add_argument("--rounds", type=_positive, default=3, metavar="N", help="measurements of each figure (3)")
    engine.add_argument("--threads", type=_positive, metavar="N", help="default: one per physical core")
    engine.add_argument("--n-ctx", type=_positive, default=8192, metavar="N", help="cells of the cache (8192)")
    engine.set_defaults(run=bench_engine.bench_engine)
    moe = subjects.add_parser("moe", parents=[printing], help="MoE experts: gate time, balance, what looking costs")
    moe.add_argument("--model", metavar="FILE.gguf", help="default: the first installed expert")
    moe.add_argument("--n-tokens", type=_positive, default=200, metavar="N", help="tokens of each way (200)")
    moe.add_argument("--threads", type=_positive, metavar="N", help="default: one per physical core")
    moe.set_defaults(run=bench_moe.bench_moe)
    router = subjects.add_parser("router", parents=[printing], help="forward pass and whole route, idle and busy")
    router.add_argument("--router", metavar="ID", help="bundled, none or laya:DIRECTORY; default: that of the settings")
    router.add_argument("-n", type=_positive, default=1000, help="prompts (1000)")
    router.set_defaults(run=bench.bench_router)
    fits = subjects.add_parser("fit", parents=[printing], help="predicted against measured memory of every expert")
    fits.set_defaults(run=bench.bench_fit)


def _sections(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(SECTIONS)}")
    return names


def _add_router(commands: Any, printing: argparse.ArgumentParser) -> None:
    group = commands.add_parser("router", help="what the router learns from corrections")
    actions = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    actions.add_parser("calibrate", parents=[printing], help="fit to the corrections").set_defaults(
        run=router.calibrate
    )
    actions.add_parser("undo", parents=[printing], help="take the last calibration back").set_defaults(run=router.undo)
    actions.add_parser("stats", parents=[printing], help="what the kept routes say").set_defaults(run=router.stats)
    exporting = actions.add_parser("export", parents=[printing], help="write corrections in Laya's fine-tuning format")
    exporting.add_argument("file", metavar="FILE.jsonl")
    exporting.set_defaults(run=router.export)


def _positive(text: str) -> int:
    value = int(text)
    if not 1 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"{text} is not a number between 1 and {_MOST}")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; ports are 0 to 65535")
    return value


def _seed(text: str) -> int:
    value = int(text)
    if not 0 <= value <= _MOST:
        raise argparse.ArgumentTypeError(f"{text} is not a number between 0 and {_MOST}")
    return value


def _directory(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("an empty name is no directory")
    return Path(text)


def _not_negative(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 100:  # also refuses nan
        raise argparse.ArgumentTypeError(f"{text} is not a temperature between 0 and 100")
    return value


def _say_it_is_open() -> None:
    print("layadesk: it is open already with this data folder; its window is in front now", file=sys.stderr)


def _window(options: argparse.Namespace) -> int:
    from layadesk.ui.texts.missing_library import missing_library, plain_sentences  # noqa: PLC0415 - no Qt in it

    try:
        from layadesk import app  # noqa: PLC0415 - Qt and the rooms behind it only for the window

        return app.run_window(options.data_dir, engine=options.engine, files=options.open, was_open=_say_it_is_open)
    except ImportError as error:
        if "libEGL" not in str(error) and ".so" not in str(error):
            raise
        print("layadesk:", *plain_sentences(missing_library(error)), file=sys.stderr)
        return EXIT_FAILED
