"""How long the header check of a model takes: `python -m tests.benchmarks.header_cost FILE.gguf ...`. Not a test."""

import statistics
import sys
import time
from pathlib import Path

from layadesk.model_library.shards import read_model

N = 15


def main() -> None:
    """Print one line for each file; CPU time, because wall time is that of everything else on the machine too."""
    for name in sys.argv[1:]:
        times = []
        for _ in range(N):
            began = time.thread_time()
            model = read_model(Path(name))
            times.append((time.thread_time() - began) * 1000)
        header = model.header
        print(
            f"{Path(name).name}: median {statistics.median(times):.1f} ms CPU, best {min(times):.1f} ms "
            f"({header.n_vocab} tokens, {header.n_tensors} tensors, data from byte {header.data_offset})"
        )


if __name__ == "__main__":
    main()
