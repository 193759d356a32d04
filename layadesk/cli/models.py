"""`layadesk models list`, `import` and `thinking`."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from layadesk.cli import library
from layadesk.cli.printing import EXIT_FAILED, EXIT_OK, complain, harmless, print_json, print_table, running_core
from layadesk.domain.models import InstalledModel, Origin
from layadesk.ui.texts.numbers import size


def list_models(options: argparse.Namespace) -> int:
    """Print the installed experts, or the catalogue."""
    if options.catalogue:
        return library.list_catalogue(options)
    if options.leftovers:
        return library.list_leftovers(options)
    with running_core(options.data_dir, options.engine, started=False) as core:
        models = core.experts.list()
        problems = core.inventory.problems
    for report in problems:
        complain(report, options.data_dir)
    if options.json:
        print_json({"models": [msgspec.to_builtins(model) for model in models]})
        return EXIT_OK
    if not models:
        print("No expert is installed. Add one with: layadesk models download ID, or layadesk models import FILE.gguf")
        print("What there is: layadesk models list --catalogue")
        return EXIT_OK
    print_table([("ID", "NAME", "SIZE", "QUANTIZATION", "CONTEXT", "FILE"), *(_row(model) for model in models)])
    return EXIT_OK


def import_model(options: argparse.Namespace) -> int:
    """Check GGUF files by their headers and add them; of one file, or all that lie below folders."""
    if len(options.paths) > 1 or Path(options.paths[0]).is_dir():
        if options.name is not None:
            options.misused("--name is for one file")  # ends the program, as argparse does
        return _import_many(options)
    with running_core(options.data_dir, options.engine, started=False) as core:
        model = core.experts.import_file(options.paths[0], origin=Origin(options.origin), name=options.name).result()
    if options.json:
        print_json(_described(model))
    else:
        print(harmless(f"{model.model_id}: {model.name}, {size(model.size_bytes)}, {model.path}"))
    return EXIT_OK


def _import_many(options: argparse.Namespace) -> int:
    with running_core(options.data_dir, options.engine, started=False) as core:
        found = core.library.import_files(options.paths).result()
    for report in found.refused:
        complain(report, options.data_dir)
    if options.json:
        print_json({"models": found.installed, "refused": found.refused})
    for model in () if options.json else found.installed:
        print(harmless(f"{model.model_id}: {model.name}, {size(model.size_bytes)}, {model.path}"))
    return EXIT_OK if found.installed else EXIT_FAILED


def choose_thinking(options: argparse.Namespace) -> int:
    """Show, or change, what is asked of an expert about thinking."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        if options.choice is not None:
            core.pool.choose_thinking(options.id, options.choice)
        else:
            core.pool.installed(options.id)
        choice = core.pool.thinking_choice(options.id)
    if options.json:
        print_json({"expert": options.id, "thinking": choice})
    else:
        print(f"{options.id}: thinking {choice}")
    return EXIT_OK


def _row(model: InstalledModel) -> tuple[str, ...]:
    return (
        model.model_id,
        model.name,
        size(model.size_bytes),
        model.quantization or "n/a",
        "n/a" if model.n_ctx_train is None else str(model.n_ctx_train),
        model.path if model.is_present else f"{model.path} (missing)",
    )


def _described(model: InstalledModel) -> Any:
    return msgspec.to_builtins(model)
