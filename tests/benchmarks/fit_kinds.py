"""Predicted against measured memory for small models of every kind: `python -m tests.benchmarks.fit_kinds [GGUF ...]`.

Generates a dense model, one with sliding windows, a mixture of experts and two hybrids, adds the files that are named,
and asks `layadesk bench fit --json` about all of them. One line for each model; the exit status is 1 where a buffer of
any load differs by a byte. Not a test.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes import gguf_models
from tests.fakes.gguf_models import Shape

KINDS: dict[str, Callable[[Path], Path]] = {
    "llama": gguf_models.llama,
    "sliding-windows": lambda path: gguf_models.llama(path, Shape(n_layer=12), architecture="gemma3"),
    "mixture-of-experts": gguf_models.mixture,
    "hybrid-convolution": gguf_models.short_convolution,
    "hybrid-delta-net": gguf_models.delta_net,
}


def main() -> int:
    """Blocks for minutes: eighteen loads for each model."""
    with tempfile.TemporaryDirectory() as folder:
        own = [make(Path(folder) / f"{name}.gguf") for name, make in KINDS.items()]
        data_dir = str(Path(folder) / "data")
        for path in [*own, *map(Path, sys.argv[1:])]:
            asked(data_dir, "models", "import", str(path))
        status, said = asked(data_dir, "bench", "fit", "--json")
    rows = json.loads(said)
    for model_id in dict.fromkeys(row["model_id"] for row in rows):
        print(told(model_id, [row for row in rows if row["model_id"] == model_id]))
    return status


def asked(data_dir: str, *arguments: str) -> tuple[int, str]:
    """The exit status of the program's own command line and what it printed."""
    command = [sys.executable, "-m", "layadesk", *arguments, "--data-dir", data_dir]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout


def told(model_id: str, rows: list[dict[str, Any]]) -> str:
    """The worst of some loads of one model."""
    loaded = [row for row in rows if row["worst_difference_bytes"] is not None]
    ratios = [row["predicted_private_bytes"] / row["private_bytes"] for row in loaded if row["private_bytes"]]
    worst = max((row["worst_difference_bytes"] for row in loaded), default=None)
    spread = f"{min(ratios):.3f} to {max(ratios):.3f}" if ratios else "n/a"
    return (
        f"{model_id:24} {len(loaded)} of {len(rows)} loaded, buffers off by {'n/a' if worst is None else worst} B, "
        f"predicted over measured private memory {spread}"
    )


if __name__ == "__main__":
    sys.exit(main())
