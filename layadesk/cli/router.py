"""`layadesk router`: learn from corrections, take it back, export them, and what the kept routes say in sum."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layadesk.cli.printing import EXIT_OK, print_json, running_core
from layadesk.domain.route_statistics import RouteStatistics

if TYPE_CHECKING:
    from layadesk.usecases.router_learning import RouterLearning


@contextmanager
def _learning(options: argparse.Namespace, *, with_router: bool = False) -> "Iterator[RouterLearning]":
    from layadesk.app import open_store  # noqa: PLC0415 - `--help` answers without the rooms

    with running_core(options.data_dir, options.engine, started=False) as core:
        store = open_store(core.paths)
        try:
            if with_router:
                core.router.start()
            yield core.learning(store)
        finally:
            store.close()


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
    with _learning(options) as learning:
        found = learning.statistics()
    if options.json:
        print_json(msgspec.to_builtins(found))
    else:
        _print(found)
    return EXIT_OK


def _print(found: RouteStatistics) -> None:
    print(f"{found.n} routes, {found.n_corrections} called wrong, {found.n_switches} changes of expert")
    print(f"{found.n_reprefill} tokens read again after a change (estimate)")
    for name, shares in (("expert", found.expert_share), ("task", found.task_share), ("reason", found.reason_share)):
        for label, share in shares.items():
            print(f"  {name:7} {label:24} {share:6.1%}")
    figures = (("ms p50", found.route_ms_p50), ("ms p95", found.route_ms_p95), ("confidence", found.confidence_p50))
    for name, value in figures:
        print(f"  {name:10} {'n/a' if value is None else f'{value:.3f}'}")
