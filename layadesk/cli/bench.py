"""`layadesk bench router` and `layadesk bench fit`: measured figures."""

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from layadesk.cli.printing import EXIT_FAILED, EXIT_OK, print_json, running_core
from layadesk.domain.errors import ErrorCode, LayaDeskError, fail

if TYPE_CHECKING:
    from layadesk.usecases.bench_fit import FitRow
    from layadesk.usecases.bench_router import Percentiles, RouterTimes


def bench_router(options: argparse.Namespace) -> int:
    """Measure the router."""
    from layadesk.app import open_store  # noqa: PLC0415 - `--help` answers without it
    from layadesk.usecases.bench_router import BenchRouter  # noqa: PLC0415

    with running_core(options.data_dir, options.engine, router=options.router) as core:
        bench = BenchRouter(core.pool, core.router, core.answers)
        rounds = [bench.idle(options.n)]
        store = open_store(core.paths)
        try:
            n_right, n_corrections = core.learning(store).right_now()
        finally:
            store.close()
        try:
            rounds.append(bench.busy(options.n))
        except LayaDeskError as error:
            if error.code is not ErrorCode.NO_EXPERT_INSTALLED:
                raise
            print("layadesk: no expert is installed, so the router was measured idle only.", file=sys.stderr)
    if options.json:
        corrections = {"right": n_right, "n": n_corrections}
        print_json({"rounds": [msgspec.to_builtins(times) for times in rounds], "corrections": corrections})
    else:
        for times in rounds:
            _print(times)
        if n_corrections:
            print(f"on your own corrections {n_right} of {n_corrections} right")
    return EXIT_OK


def bench_fit(options: argparse.Namespace) -> int:
    """Compare predicted with measured memory; the exit status is 1 where a prediction was not exact."""
    from layadesk.usecases.bench_fit import BenchFit  # noqa: PLC0415 - `--help` answers without it

    is_exact, rows = True, []
    with running_core(options.data_dir, options.engine, started=False) as core:
        if core.dry_runner is None:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="engine", value=options.engine, known="llama")
        if not options.json:
            print("expert                    n_ctx    KV seqs  predicted   measured  ratio  buffers")
        for row in BenchFit(core.inventory, core.dry_runner, core.price, core.machine)():
            is_exact = is_exact and row.worst_difference_bytes in (0, None)
            rows.append(msgspec.to_builtins(row) | {"worst_difference_bytes": row.worst_difference_bytes})
            if not options.json:
                print(_fit_line(row), flush=True)
    if options.json:
        print_json(rows)
    return EXIT_OK if is_exact else EXIT_FAILED


def _fit_line(row: "FitRow") -> str:
    predicted = "n/a" if row.predicted_private_bytes is None else f"{row.predicted_private_bytes / 2**20:.1f}"
    measured = "n/a" if row.private_bytes is None else f"{row.private_bytes / 2**20:.1f}"
    ratio = "n/a"
    if row.predicted_private_bytes and row.private_bytes:
        ratio = f"{row.predicted_private_bytes / row.private_bytes:.3f}"
    difference = row.worst_difference_bytes
    buffers = "not loaded" if difference is None else "exact" if difference == 0 else f"off by {difference} B"
    name = f"{row.model_id:24} {row.n_ctx:6} {row.kv_type:>5} {row.n_parallel:4}"
    return f"{name} {predicted:>6} MiB {measured:>6} MiB {ratio:>6}  {buffers}"


def _print(times: "RouterTimes") -> None:
    while_what = f"while {times.busy_with} decodes" if times.busy_with else "idle"
    rss = "n/a" if times.rss_bytes is None else f"{times.rss_bytes / 2**30:.2f} GiB"
    print(f"{times.router}, {times.n} prompts, {while_what}; router process {rss}")
    print(f"  {'ms':24} {'p50':>8} {'p95':>8} {'p99':>8}")
    if times.forward is not None:
        _row("forward only", times.forward)
    for length, figures in times.forward_by_length.items():
        _row(f"  {length} characters", figures)
    _row("in the router", times.work)
    _row("end to end", times.end_to_end)


def _row(name: str, figures: "Percentiles") -> None:
    print(f"  {name:24} {figures.p50:8.3f} {figures.p95:8.3f} {figures.p99:8.3f}")
