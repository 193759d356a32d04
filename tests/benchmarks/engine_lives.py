"""What the engine leaves behind: many loads and unloads of mixed experts, and many conversations through a small pool.

    python -m tests.benchmarks.engine_lives SMALL.gguf OTHER.gguf [--cycles 200] [--conversations 1000]

Prints the resident memory as it goes, as JSON Lines. Flat is right; the first cycles fill what libraries keep.
"""

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import psutil

from layadesk.domain.inference import LoadParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.llama_backend import LlamaBackend
from layadesk.protocol.events import EngineStats
from tests.fakes.engine_running import GREEDY, RunningEngine, expert


def mib() -> float:
    return float(round(psutil.Process().memory_info().rss / 2**20, 1))


def cycles(backend: LlamaBackend, paths: list[str], n_cycles: int) -> None:
    for n in range(n_cycles):
        params = LoadParams(n_ctx=256 * (1 + n % 3), n_parallel=1 + n % 4, n_kept=n % 5, type_k=("f16", "q8_0")[n % 2])
        backend.load(ExpertSpec("e", paths[n % len(paths)], params), lambda _fraction: True).close()
        if n % 20 == 19:
            print(json.dumps({"cycles": n + 1, "rss_mib": mib()}), flush=True)


def conversations(backend: LlamaBackend, path: str, n_conversations: int) -> None:
    """One after the other and four at a time, through a pool that holds a few of them."""
    with tempfile.TemporaryDirectory() as folder:
        engine = RunningEngine(
            backend, expert(path, n_ctx=512, n_parallel=4, n_kept=4), cells_dir=Path(folder), n_queue_max=2000
        )
        sampling = replace(GREEDY, max_tokens=2)
        for begin in range(0, n_conversations, 50):
            some = range(begin, min(begin + 50, n_conversations))
            asked = [
                engine.ask(f"Question {n}: what is {n} and {n}?", sampling=sampling, conversation_id=f"talk {n}")
                for n in some
            ]
            for request_id in asked:
                engine.finished(request_id)
            stats = [event for event in engine.events if isinstance(event, EngineStats)]
            last = stats[-1] if stats else None
            engine.events.clear()
            print(
                json.dumps(
                    {
                        "conversations": some[-1] + 1,
                        "rss_mib": mib(),
                        "kv_used": last and last.kv_used,
                        "kv_kept": last and last.kv_kept,
                    }
                ),
                flush=True,
            )
        engine._asked.clear()  # its promises are checked by the tests; the events are gone here
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--conversations", type=int, default=1000)
    options = parser.parse_args()
    backend = LlamaBackend()
    conversations(backend, options.paths[0], options.conversations)
    cycles(backend, options.paths, options.cycles)


if __name__ == "__main__":
    main()
