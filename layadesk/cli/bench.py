"""`layadesk bench router`: measured figures, idle and while an expert decodes."""

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from layadesk.cli.printing import EXIT_OK, print_json, running_core
from layadesk.domain.errors import ErrorCode, LayaDeskError

if TYPE_CHECKING:
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
