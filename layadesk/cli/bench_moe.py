"""`layadesk bench moe`: what looking at the gates of a model with MoE experts costs, and how evenly they choose."""

import argparse
from typing import TYPE_CHECKING

from layadesk.cli.bench_engine import model_path, n_cores
from layadesk.cli.printing import EXIT_OK, print_json

if TYPE_CHECKING:
    from layadesk.usecases.bench_moe import MoeFigures


def bench_moe(options: argparse.Namespace) -> int:
    """Measure; the user's own data directory is only asked for a model."""
    from layadesk.usecases.bench_engine import bench_spec  # noqa: PLC0415 - `--help` answers without it
    from layadesk.usecases.bench_moe import PROMPTS, moe_figures  # noqa: PLC0415
    from layadesk.workers.bench_moe import measure_moe  # noqa: PLC0415

    path = model_path(options)
    n_threads = options.threads or n_cores()
    figures = moe_figures(path, n_threads, measure_moe(bench_spec(path, n_threads, 2048), options.n_tokens, PROMPTS))
    if options.json:
        print_json(figures)
    else:
        _print(figures)
    return EXIT_OK


def _print(figures: "MoeFigures") -> None:
    print(f"{figures.model}, {figures.n_threads} threads, {figures.n_tokens} tokens in turns")
    print(f"  without a callback {figures.plain_ms:9.3f} ms/token")
    for name, ms, overhead, aim in (
        ("looking off", figures.off_ms, figures.off_overhead, figures.off_aim),
        ("looking on", figures.on_ms, figures.on_overhead, figures.on_aim),
    ):
        verdict = "reached" if overhead <= aim else "MISSED"
        print(f"  {name:18} {ms:9.3f} ms/token {100 * overhead:+6.1f} %  {verdict}: at most {100 * aim:.0f} %")
    gate = "n/a" if figures.gate_ms_per_layer is None else f"{1000 * figures.gate_ms_per_layer:.1f} µs"
    print(f"  gate, per token and layer: {gate} (measured node by node, which is slower)")
    for part, ms in figures.parts:
        print(f"    {part.value:14} {ms:8.3f} ms")
    print(f"balance over {figures.n_prompts} mixed prompts")
    print("  layer  tokens  variation  entropy  busiest         idle")
    for one in figures.balance:
        variation = "n/a" if one.variation is None else f"{one.variation:.3f}"
        entropy = "n/a" if one.entropy is None else f"{one.entropy:.3f}"
        busiest = ", ".join(map(str, one.busiest))
        print(f"  {one.layer:5}  {one.n_tokens:6}  {variation:>9}  {entropy:>7}  {busiest:14}  {len(one.idle):4}")
