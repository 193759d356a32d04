"""`layadesk router`: learn from corrections, take it back, export them, and what the kept routes say in sum."""

import argparse
from pathlib import Path

import msgspec

from layadesk.cli.printing import EXIT_OK, print_json, running_core
from layadesk.domain.route_statistics import RouteStatistics, summarise_routes


def calibrate(options: argparse.Namespace) -> int:
    """Fit to the corrections and show before and after."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        core.router.start()
        done = core.learning.calibrate()
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
    with running_core(options.data_dir, options.engine, started=False) as core:
        core.learning.undo()
    return EXIT_OK


def export(options: argparse.Namespace) -> int:
    """Write the corrections in Laya's fine-tuning format."""
    with running_core(options.data_dir, options.engine, started=False) as core:
        n = core.learning.export(Path(options.file))
    print_json({"n": n, "file": options.file}) if options.json else print(f"{n} corrections in {options.file}")
    return EXIT_OK


def stats(options: argparse.Namespace) -> int:
    """Sum up the kept routes."""
    from layadesk.app import open_store  # noqa: PLC0415 - `--help` answers without the rooms

    with running_core(options.data_dir, options.engine, started=False) as core:
        store = open_store(core.paths)
        try:
            routes = store.list_routes().result()
        finally:
            store.close()
        found = summarise_routes(routes, n_corrections=len(core.learning.corrections()))
    if options.json:
        print_json(msgspec.to_builtins(found))
    else:
        _print(found)
    return EXIT_OK


def _print(found: RouteStatistics) -> None:
    print(f"{found.n} routes, {found.n_corrections} corrections, {found.n_switches} changes of expert")
    print(f"{found.n_reprefill} tokens read again after a change (estimate)")
    for name, shares in (("expert", found.expert_share), ("task", found.task_share), ("reason", found.reason_share)):
        for label, share in shares.items():
            print(f"  {name:7} {label:24} {share:6.1%}")
    for name, value in (
        ("ms p50", found.route_ms_p50),
        ("ms p95", found.route_ms_p95),
        ("confidence", found.confidence_p50),
    ):
        print(f"  {name:10} {'n/a' if value is None else f'{value:.3f}'}")
