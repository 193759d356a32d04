"""`layadesk router`: learn from corrections, take it back, export them, and what the kept routes say in sum."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layadesk.cli.printing import EXIT_OK, print_json, running_core
from layadesk.domain.route_counts import RouteCounts

if TYPE_CHECKING:
    from layadesk.app import Core
    from layadesk.store.store import Store
    from layadesk.usecases.router_learning import RouterLearning


@contextmanager
def _stored(options: argparse.Namespace) -> "Iterator[tuple[Core, Store]]":
    from layadesk.app import open_store  # noqa: PLC0415 - `--help` answers without the rooms

    with running_core(options.data_dir, options.engine, started=False) as core:
        store = open_store(core.paths)
        try:
            yield core, store
        finally:
            store.close()


@contextmanager
def _learning(options: argparse.Namespace, *, with_router: bool = False) -> "Iterator[RouterLearning]":
    with _stored(options) as (core, store):
        if with_router:
            core.router.start()
        yield core.learning(store)


def calibrate(options: argparse.Namespace) -> int:
    """Fit to the corrections and show before and after."""
    with _learning(options, with_router=True) as learning:
        done = learning.calibrate()
    if options.json:
        print_json(done)
        return EXIT_OK
    report = done.report
    print(f"{report.n} corrections, figures on those that the fit did not see")
    print(f"  right      {report.right_before:6.1%} before, {report.right_after:6.1%} after")
    print(f"  loss       {report.loss_before:6.3f} before, {report.loss_after:6.3f} after")
    if report.loss_after >= report.loss_before:
        print("  no better, so the probabilities stay as they were")
    for task, amount in sorted(done.raises.items()):
        print(f"  effort of {task} raised by {amount}")
    return EXIT_OK


def undo(options: argparse.Namespace) -> int:
    """Take the last calibration back."""
    with _learning(options) as learning:
        learning.undo()
    return EXIT_OK


def export(options: argparse.Namespace) -> int:
    """Write the corrections in Laya's fine-tuning format."""
    with _learning(options) as learning:
        n = learning.export(Path(options.file))
    print_json({"n": n, "file": options.file}) if options.json else print(f"{n} corrections in {options.file}")
    return EXIT_OK


def stats(options: argparse.Namespace) -> int:
    """Sum up the kept routes."""
    from layadesk.usecases.count_routes import CountRoutes  # noqa: PLC0415

    with _stored(options) as (_, store):
        found = CountRoutes(store)().result()
    if options.json:
        print_json(msgspec.to_builtins(found))
    else:
        _print(found)
    return EXIT_OK


def _print(found: RouteCounts) -> None:
    print(f"{found.n_routes} routes, {found.n_wrong} called wrong, {found.n_switches} changes of expert")
    print(f"{found.n_reprefill} tokens read again after a change (estimate)")
    for name, counts in (("expert", found.experts), ("task", found.tasks), ("reason", found.reasons)):
        for label, n in counts:
            print(f"  {name:7} {label:24} {n / found.n_routes:6.1%}")
    for name, value in (
        ("ms p50", found.route_ms.p50),
        ("ms p95", found.route_ms.p95),
        ("confidence", found.confidence.p50),
    ):
        print(f"  {name:10} {'n/a' if value is None else f'{value:.3f}'}")
