"""`layadesk bench engine`: what the engine makes of a model on this machine, as ratios in one run."""

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from layadesk.cli.printing import EXIT_OK, print_json, running_core
from layadesk.domain.errors import ErrorCode, fail

if TYPE_CHECKING:
    from layadesk.usecases.bench_engine import BenchReport, Ratio

SECTIONS = ("single", "parallel", "ttft", "gap", "kv")
RAW_N_CTX = 4096


def bench_engine(options: argparse.Namespace) -> int:
    """Measure the engine; the user's own data directory is only asked for a model."""
    from layadesk.usecases.bench_contenders import Contender, OurEngine, RivalServer  # noqa: PLC0415
    from layadesk.usecases.bench_engine import BenchEngine, bench_spec  # noqa: PLC0415
    from layadesk.workers.bench_rivals import LlamaServer, RawLoop  # noqa: PLC0415

    path = model_path(options)
    n_threads = options.threads or n_cores()
    spec = bench_spec(path, n_threads, options.n_ctx)
    with ExitStack() as stack:
        data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="layadesk-bench-")))
        core = stack.enter_context(running_core(data_dir, options.engine, started=False))
        core.engine.start()
        ours = OurEngine(core.engine)
        ours.load(spec)
        raw = None
        if options.engine == "llama" and {"single", "parallel"} & set(options.only):
            raw = RawLoop(bench_spec(path, n_threads, min(RAW_N_CTX, options.n_ctx)))
            stack.callback(raw.close)
        rival: Contender | None = None
        if options.against == "llama-server":
            server = LlamaServer(spec)
            stack.callback(server.close)
            rival = RivalServer(server)
        bench = BenchEngine(
            spec, ours, n_threads=n_threads, n_rounds=options.rounds, raw=raw, rival=rival, on_progress=_progress
        )
        report = bench.run(options.only)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return EXIT_OK


def model_path(options: argparse.Namespace) -> str:
    """What `--model` names, or the first installed expert. Raises MODEL_FILE_MISSING, NO_EXPERT_INSTALLED."""
    if options.model is not None:
        if not Path(options.model).is_file():
            raise fail(ErrorCode.MODEL_FILE_MISSING, path=str(options.model))
        return str(Path(options.model).resolve())
    with running_core(options.data_dir, options.engine, started=False) as core:
        present = [model for model in core.experts.list() if model.is_present]
    if not present:
        raise fail(ErrorCode.NO_EXPERT_INSTALLED)
    return present[0].path


def n_cores() -> int:
    """Physical ones that this process may use."""
    import psutil  # noqa: PLC0415 - only for this

    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print(report: "BenchReport") -> None:
    print(f"{report.model}, {report.n_threads} threads")
    for figure in report.figures:
        print(f"  {figure.section:9} {figure.name:40} {figure.contender:14} {figure.value:10.1f} {figure.unit}")
    print("ratios")
    for ratio in report.ratios:
        print(
            f"  {ratio.section:9} {ratio.name:40} {ratio.contender:14} {ratio.value:10.3f} {_verdict(ratio)}".rstrip()
        )
    for note in report.notes:
        print(f"  note: {note}")


def _verdict(ratio: "Ratio") -> str:
    if ratio.aim is None:
        return ""
    sign = "at least" if ratio.is_least else "at most"
    return f"{'reached' if ratio.is_met else 'MISSED'}: {sign} {ratio.aim:g}"
