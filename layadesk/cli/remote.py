"""`layadesk models remote`: experts that run elsewhere, behind an OpenAI-compatible endpoint."""

import argparse
import getpass
import os
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from layadesk.cli.printing import (
    EXIT_FAILED,
    EXIT_OK,
    complain,
    harmless,
    print_json,
    print_table,
    running_core,
    speak,
)
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.remote import EndpointTest, RemoteExpert, RemoteState, remarks_on

if TYPE_CHECKING:
    from layadesk.usecases.remote_experts import RemoteEntry

_WAIT_S = 600.0  # a keyring may ask its owner, a server may load its model


def add_parsers(actions: Any, printing: argparse.ArgumentParser) -> None:
    """The actions below `models remote`."""
    group = actions.add_parser("remote", help="experts that run elsewhere, behind an OpenAI-compatible endpoint")
    commands = group.add_subparsers(title="actions", metavar="ACTION", required=True)
    adding = commands.add_parser("add", parents=[printing], help="add one, or change it with --id")
    adding.add_argument("url", metavar="BASE_URL", help="for instance https://api.example.com/v1")
    adding.add_argument("model", metavar="MODEL", help="as the server calls it")
    adding.add_argument("--id", metavar="ID", help="change this one; its key stays where the server is the same")
    adding.add_argument("--name", default="", help="how it is called here")
    adding.add_argument("--context", type=int, metavar="N", help="tokens its context holds; unknown if not given")
    adding.add_argument("--languages", default="", metavar="en,zh", help="what it speaks; any if not given")
    adding.add_argument("--good-at", default="", metavar="code,math", help="tasks or groups; guessed if not given")
    adding.add_argument("--cost", type=float, metavar="0..1", help="beside the others; decides between equals")
    keys = adding.add_mutually_exclusive_group()
    keys.add_argument("--key-env", metavar="NAME", help="the environment variable that holds the API key")
    keys.add_argument("--key-stdin", action="store_true", help="the API key is the first line of standard input")
    keys.add_argument("--no-key", action="store_true", help="it needs none; no question is asked")
    adding.set_defaults(run=add)
    commands.add_parser("list", parents=[printing], help="list them").set_defaults(run=list_remotes)
    for name, what, run in (
        ("remove", "take one out, with its key", remove),
        ("test", "ask its server what it serves, and for a tiny answer", test),
    ):
        one = commands.add_parser(name, parents=[printing], help=what)
        one.add_argument("id", metavar="ID")
        one.set_defaults(run=run)


def add(options: argparse.Namespace) -> int:
    """Keep an entry; its key goes into the keyring."""
    entry = _entry(options)
    key = _key(options)
    with running_core(options.data_dir, options.engine, started=False) as core:
        if options.id is None:
            saved = core.remotes.add(entry, key or "").result(_WAIT_S)
        else:
            saved = core.remotes.change(options.id, entry, key).result(_WAIT_S)
        keys_file = core.paths.keys
    if options.json:
        print_json({"expert": saved.expert, "key_place": saved.key_place, "remarks": remarks_on(saved.expert.base_url)})
        return EXIT_OK
    from layadesk.ui.texts.remote import key_place, remark  # noqa: PLC0415 - QtCore only when there is something to say

    speak(options.data_dir)
    print(harmless(f"{saved.expert.model_id}: {saved.expert.name}, {saved.expert.model} → {saved.expert.host}"))
    for sentence in map(remark, remarks_on(saved.expert.base_url)):
        print(sentence)
    if saved.key_place is not None:
        print(key_place(saved.key_place, str(keys_file)))
    return EXIT_OK


def list_remotes(options: argparse.Namespace) -> int:
    """Print the entries; no server is asked."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        experts = core.remotes.list()
        problems = core.remotes.problems
    for report in problems:
        complain(report, options.data_dir)
    if options.json:
        print_json({"experts": experts})
    elif not experts:
        print("There is no remote expert. Add one with: layadesk models remote add BASE_URL MODEL")
    else:
        print_table([("ID", "NAME", "MODEL", "CONTEXT", "ADDRESS"), *map(_row, experts)])
    return EXIT_OK


def remove(options: argparse.Namespace) -> int:
    """Take one out."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        removed = core.remotes.remove(options.id).result(_WAIT_S)
    if options.json:
        print_json({"removed": removed.expert.model_id})
    else:
        print(harmless(f"{removed.expert.model_id} is removed, and its key with it."))
    return EXIT_OK


def test(options: argparse.Namespace) -> int:
    """Say whether its server answers; status 1 where it does not."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        expert = core.remotes.known(options.id)
        found = core.remotes.test(core.remotes.entry_of(expert), model_id=expert.model_id).result(_WAIT_S)
    if options.json:
        print_json(msgspec.to_builtins(found))
    elif found.state.error is None:
        _print_test(expert, found)
    else:
        complain(found.state.error, options.data_dir)
    return EXIT_OK if found.state.is_up else EXIT_FAILED


def _print_test(expert: RemoteExpert, found: EndpointTest) -> None:
    took = "" if found.took_ms is None else f" in {found.took_ms / 1000:.1f} s"
    print(harmless(f"{expert.host} answers{took}: {found.said}"))
    if found.serves_model is False:
        print(harmless(f"It does not list {expert.model}; it lists {_listed(found.state)}."))


def _listed(state: RemoteState) -> str:
    more = "" if len(state.models) <= 20 else f" and {len(state.models) - 20} more"
    return ", ".join(state.models[:20]) + more


def _entry(options: argparse.Namespace) -> "RemoteEntry":
    from layadesk.usecases.remote_experts import RemoteEntry, strengths_of  # noqa: PLC0415 - `--help` needs it not

    strengths = strengths_of(options.good_at, options.languages, options.cost)
    return RemoteEntry(options.url, options.model, options.name, options.context, strengths)


def _key(options: argparse.Namespace) -> str | None:
    """Never from the command line, where every process of this machine could read it. None: nobody was asked."""
    if options.key_env is not None:
        key = os.environ.get(options.key_env, "")
        if not key:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="--key-env", value=options.key_env)
        return key
    if options.key_stdin:
        return sys.stdin.readline().strip()
    if options.no_key:
        return ""
    if options.id is None and sys.stdin.isatty():
        return getpass.getpass("API key (empty for none): ").strip()
    return None


def _row(expert: RemoteExpert) -> tuple[str, ...]:
    context = "n/a" if expert.n_ctx is None else str(expert.n_ctx)
    return (expert.model_id, expert.name, expert.model, context, expert.base_url)
