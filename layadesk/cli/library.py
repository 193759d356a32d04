"""`layadesk models show`, `download`, `verify` and `remove`, and the catalogue of `models list --catalogue`."""

import argparse
import os
import sys
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from layadesk.cli.printing import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    complain,
    harmless,
    print_json,
    print_table,
    running_core,
    speak,
)
from layadesk.domain.downloads import ACTIVE, Download, DownloadState
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.models import CHECKPOINT, CardKind, ModelCard, ModelFile
from layadesk.settings import definitions
from layadesk.ui.texts import numbers

if TYPE_CHECKING:
    from layadesk.app import Core
    from layadesk.model_library.library_disk import Leftover
    from layadesk.usecases.browse_library import LibraryEntry
    from layadesk.usecases.fitting import Fitting

_LOOK_S = 0.2
_LINE_S = 5.0  # between lines of progress where they cannot be written over
ResultT = TypeVar("ResultT")


def list_catalogue(options: argparse.Namespace) -> int:
    """Print what can be downloaded, and what of it is here."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        entries = core.library.entries()
        problems = core.library.problems()
    for report in problems:
        complain(report, options.data_dir)
    if options.json:
        print_json({"catalogue": [_entry_json(entry) for entry in entries if entry.card is not None]})
        return EXIT_OK
    rows = [_catalogue_row(entry.card, entry) for entry in entries if entry.card is not None]
    print_table([("ID", "NAME", "KIND", "SIZE", "LICENCE", "HERE"), *rows])
    return EXIT_OK


def list_leftovers(options: argparse.Namespace) -> int:
    """Print unfinished downloads and model files that no list knows."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        found = core.library.leftovers()
    if options.json:
        print_json({"leftovers": found})
    elif not found:
        print("Nothing was left behind in the models folder.")
    else:
        rows = [(_kind_of(one), _size(one.n_bytes), one.download_id or "", one.path) for one in found]
        print_table([("WHAT", "SIZE", "DOWNLOAD", "PATH"), *rows])
        print("Go on with: layadesk models download ID --quantization Q.  Delete with: layadesk models remove PATH")
    return EXIT_OK


def _kind_of(leftover: "Leftover") -> str:
    return "unfinished download" if leftover.is_partial else "in no list"


def show(options: argparse.Namespace) -> int:
    """Print one model: its card, its quantizations, and whether each fits."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        entry = core.library.entry(options.id)
        n_ctx = options.n_ctx or core.settings.get(definitions.N_CTX)
        if options.ask_hub:
            core.library.ask_hub(options.id).result()
        fittings = {} if entry.card is None else _fittings(core, entry.card, n_ctx)
    if options.json:
        verdicts = {name: one.verdict for name, one in fittings.items()}
        print_json({**_entry_json(entry), "n_ctx": n_ctx, "fit": verdicts})
        return EXIT_OK
    speak(options.data_dir)
    for line in _lines(entry, fittings, n_ctx):
        print(harmless(line))
    return EXIT_OK


def download(options: argparse.Namespace) -> int:
    """Fetch a model and stay until it is installed; Ctrl-C pauses."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        quantization = _best(core, options.id) if options.quantization is None else _named(core, options)
        which = core.downloads.start(options.id, quantization, licence_accepted=options.accept_licence)
        screen = _Screen()
        try:
            row = _watch(core, which, screen)
        except KeyboardInterrupt:
            core.downloads.pause(which)
            screen.end()
            _say_how_to_go_on(options.id, quantization, core.downloads.find(which))
            return EXIT_INTERRUPTED
        screen.end()
        entry = core.library.entry(options.id)
    if row.failure is not None:
        complain(row.failure, options.data_dir)
        return EXIT_FAILED
    if options.json:
        print_json({"download": row, **_entry_json(entry)})
    elif entry.router_dir is not None:
        print(harmless(f"{options.id}: set the router to laya:{entry.router_dir}"))
    else:
        for model in entry.installed:
            if model.card_quantization == quantization:
                print(harmless(f"{model.model_id}: {model.name}, {_size(model.size_bytes)}, {model.path}"))
    return EXIT_OK


def verify(options: argparse.Namespace) -> int:
    """Read an installed model and compare it with the catalogue; status 1 where it is damaged."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        screen = _Screen()
        found = _waited(core.library.verify(options.id, lambda done, total: screen.share("verify", done, total)))
        screen.end()
    if options.json:
        files = [{"path": path, "is_right": right} for path, right in found.files]
        print_json({"model_id": found.model_id, "is_damaged": found.is_damaged, "files": files})
    else:
        words = {True: "as it should be", False: "DAMAGED", None: "not in the catalogue, so nobody can tell"}
        for path, right in found.files:
            print(harmless(f"{path}: {words[right]}"))
    return EXIT_FAILED if found.is_damaged else EXIT_OK


def remove(options: argparse.Namespace) -> int:
    """Take a model off, or delete a leftover by its path.

    A file the user brought stays on the disk unless its deletion is asked for.
    """
    with running_core(options.data_dir, options.engine, started=False) as core:
        if "/" in options.id or os.sep in options.id:  # no id has one
            return _remove_leftover(core, options)
        planned = core.library.removal(options.id)
        n_bytes = _waited(core.library.remove(options.id, delete_users_file=options.delete_file))
    if options.json:
        print_json({"model_id": options.id, "freed_bytes": n_bytes, "paths": planned.paths})
    elif planned.is_users_file and not options.delete_file:
        print(harmless(f"{options.id} is off the list. Its file stays: {planned.paths[0]}"))
    else:
        print(harmless(f"{options.id} is removed; {_size(n_bytes)} came free."))
    return EXIT_OK


def _remove_leftover(core: "Core", options: argparse.Namespace) -> int:
    n_bytes = _waited(core.library.delete_leftover(options.id))
    if options.json:
        print_json({"freed_bytes": n_bytes, "paths": [options.id]})
    else:
        print(harmless(f"{options.id} is deleted; {_size(n_bytes)} came free."))
    return EXIT_OK


class _Screen:
    """Progress on stderr: one line that is written over, or where that cannot be, a line now and then."""

    def __init__(self) -> None:
        self._can_overwrite = sys.stderr.isatty()
        self._width = 0
        self._told_at = -_LINE_S

    def tell(self, text: str) -> None:
        now = time.monotonic()
        if self._can_overwrite:
            print(f"\r{text:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(text)
        elif now - self._told_at >= _LINE_S:
            self._told_at = now
            print(text, file=sys.stderr, flush=True)

    def share(self, what: str, done: int, total: int | None) -> None:
        self.tell(f"{what}: {_size(done)} of {_size(total)}")

    def end(self) -> None:
        if self._can_overwrite and self._width:
            print(file=sys.stderr)
            self._width = 0


def _watch(core: "Core", which: str, screen: _Screen) -> Download:
    while True:
        row = core.downloads.find(which)
        assert row is not None
        if row.state not in ACTIVE and row.state is not DownloadState.QUEUED:
            return row
        screen.tell(_progress(row))
        time.sleep(_LOOK_S)


def _progress(row: Download) -> str:
    parts = [f"{row.model_id} {row.quantization}", row.state.replace("_", " ")]
    parts.append(f"{_size(row.n_bytes_done)} of {_size(row.n_bytes_total)}")
    if row.bytes_per_s is not None:
        parts.append(f"{row.bytes_per_s / 2**20:.1f} MiB/s")
    if row.remaining_s is not None:
        minutes, seconds = divmod(round(row.remaining_s), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    if row.failure is not None:
        parts.append(f"trying again ({row.failure.facts.get('reason', row.failure.code)})")
    return harmless("  ".join(parts))


def _say_how_to_go_on(model_id: str, quantization: str, row: Download | None) -> None:
    done = "" if row is None else f" at {_size(row.n_bytes_done)} of {_size(row.n_bytes_total)}"
    again = f"layadesk models download {model_id} --quantization {quantization}"
    print(f"Paused{done}. Resume with: {again}", file=sys.stderr)


def _named(core: "Core", options: argparse.Namespace) -> str:
    """As the catalogue spells what was asked for."""
    wanted: str = options.quantization
    card = core.library.entry(options.id).card
    names = () if card is None else (file.quantization for file in card.files)
    return next((name for name in names if name.casefold() == wanted.casefold()), wanted)


def _best(core: "Core", model_id: str) -> str:
    """The quantization to download where none was named: the best that fits, else the first there is."""
    entry = core.library.entry(model_id)
    if entry.card is None:
        raise fail(ErrorCode.NOT_DOWNLOADABLE, model_id=model_id, source="file")
    if entry.card.kind is CardKind.ROUTER:
        return CHECKPOINT
    n_ctx = core.settings.get(definitions.N_CTX)
    best = _waited(core.library.recommended(model_id, n_ctx))
    offered = [file.quantization for file in entry.card.files if file.is_downloadable]
    if best is not None and best.quantization in offered:
        return best.quantization
    return offered[0] if offered else entry.card.files[0].quantization


def _fittings(core: "Core", card: ModelCard, n_ctx: int) -> "dict[str, Fitting]":
    if card.kind is CardKind.ROUTER:
        return {}
    wanted = [(file.quantization, core.library.fit(card.model_id, file.quantization, n_ctx)) for file in card.files]
    return {name: _waited(future) for name, future in wanted}


def _waited(future: "Future[ResultT]") -> ResultT:
    return future.result()


def _lines(entry: "LibraryEntry", fittings: "dict[str, Fitting]", n_ctx: int) -> list[str]:
    from layadesk.ui.texts import memory  # noqa: PLC0415 - QtCore
    from layadesk.ui.texts.card_notes import card_note  # noqa: PLC0415 - QtCore

    card = entry.card
    if card is None:
        model = entry.installed[0]
        return [f"{model.name} ({model.model_id}): {_size(model.size_bytes)}, {model.path}"]
    lines = [f"{card.name} ({card.model_id}), {card.kind}", f"  {card_note(card.note)}"]
    lines.append(f"  licence {card.license}{' (asks for your consent)' if card.needs_consent else ''}")
    lines.append(f"  languages {', '.join(card.languages) or 'not stated'}; from {card.source}")
    if entry.router_dir is not None:
        lines.append(f"  installed: laya:{entry.router_dir}")
    here = {model.card_quantization or model.quantization: model for model in entry.installed}
    for file in card.files:
        fitting = fittings.get(file.quantization)
        verdict = "" if fitting is None else f"  {memory.verdict(fitting.verdict)} at {n_ctx} tokens"
        installed = f"  installed as {here[file.quantization].model_id}" if file.quantization in here else ""
        lines.append(f"  {file.quantization:12} {_about(file):>10}{verdict}{installed}")
    return lines


def _catalogue_row(card: ModelCard, entry: "LibraryEntry") -> tuple[str, ...]:
    first = card.files[0]
    here = ", ".join(model.card_quantization or model.quantization or "?" for model in entry.installed)
    here = here or ("yes" if entry.router_dir is not None else "")
    return (card.model_id, card.name, card.kind, _about(first), card.license, here)


def _entry_json(entry: "LibraryEntry") -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(entry)
    return found


def _about(file: ModelFile) -> str:
    if file.size_bytes is not None:
        return _size(file.size_bytes)
    return "n/a" if file.rounded_bytes is None else f"≈{_size(file.rounded_bytes)}"


def _size(n_bytes: int | None) -> str:
    return "n/a" if n_bytes is None else numbers.size(n_bytes)
