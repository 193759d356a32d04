"""What the store costs: an answer of 60 KB saved once a second, opening, listing, moving to memory and back.

`python -m tests.benchmarks.store_cost`. Times are wall time on this machine's disk; not a test.
"""

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from layadesk.domain.chat import Conversation, Message, MessageStatus
from layadesk.domain.inference import Role
from layadesk.paths import DataPaths
from layadesk.store.store import Store
from tests.fakes.store import SmallDisk

ResultT = TypeVar("ResultT")

ANSWER_BYTES = 60 * 1024
BYTES_PER_S = 240  # 60 tokens of four letters
N_CONVERSATIONS, N_MESSAGES = 200, 100


def main() -> None:
    """Print one JSON object."""
    root = Path(tempfile.mkdtemp(prefix="layadesk-store-"))
    try:
        figures = {"saving": measure_saving(root / "saving"), "large": measure_large(root / "large")}
    finally:
        shutil.rmtree(root)
    json.dump(figures, sys.stdout, indent=2)
    print()


def measure_saving(root: Path) -> dict[str, float]:
    """The answer grows by a second's text at each save, as it does in a chat; only without the second in between."""
    opening_ms, store = timed(lambda: Store.open(DataPaths(root), now=time.time()))
    begin(store, "c", 1)
    text = "Sixty kibibytes of an answer, once a second. " * (ANSWER_BYTES // 45 + 1)
    saves = []
    began_cpu = time.process_time()
    for size in range(BYTES_PER_S, ANSWER_BYTES, BYTES_PER_S):
        saved = partial(store.save_progress, "c-0", text[:size], size // 4)
        saves.append(timed(lambda: saved().result())[0])  # noqa: B023 - called at once
    cpu_ms = (time.process_time() - began_cpu) * 1000
    wal_bytes = DataPaths(root).database.with_name("layadesk.sqlite3-wal").stat().st_size
    closing_ms, _ = timed(store.close)
    return {
        "open_new_ms": opening_ms,
        "n_saves": len(saves),
        "save_median_ms": statistics.median(saves),
        "save_p95_ms": statistics.quantiles(saves, n=20)[-1],
        "save_worst_ms": max(saves),
        "save_at_60_kb_median_ms": statistics.median(saves[-20:]),
        "cpu_per_save_ms": cpu_ms / len(saves),
        "log_bytes": wal_bytes,
        "close_ms": closing_ms,
    }


def measure_large(root: Path) -> dict[str, float]:
    """A year's chats: 20,000 messages of 2 KB."""
    store = Store.open(DataPaths(root), now=time.time())
    began = time.perf_counter()
    for n in range(N_CONVERSATIONS):
        begin(store, f"c{n}", N_MESSAGES)
    writing_ms = (time.perf_counter() - began) * 1000
    store.close()
    disk = SmallDisk()
    with_backup_ms, store = timed(lambda: Store.open(DataPaths(root), now=time.time(), tune=disk.tune))
    listing_ms, _ = timed(lambda: store.list_conversations().result())
    loading_ms, _ = timed(lambda: store.load_messages("c7").result())
    disk.set_full(True)
    to_memory_ms, _ = timed(lambda: store.save_progress("c7-0", "x" * 10**6, 1).result())
    disk.is_full = False
    to_disk_ms, _ = timed(lambda: store.retry().result())
    store.close()
    reopening_ms, store = timed(lambda: Store.open(DataPaths(root), now=time.time()))
    store.close()
    return {
        "database_bytes": DataPaths(root).database.stat().st_size,
        "write_one_turn_ms": writing_ms / N_CONVERSATIONS / N_MESSAGES,
        "open_checked_ms": with_backup_ms,
        "open_unchecked_ms": reopening_ms,
        "list_ms": listing_ms,
        "load_conversation_ms": loading_ms,
        "to_memory_ms": to_memory_ms,
        "back_to_disk_ms": to_disk_ms,
    }


def begin(store: Store, name: str, n_messages: int) -> None:
    """One conversation with running answers of 2 KB."""
    store.add_conversation(Conversation(name, name, time.time(), time.time()))
    for n in range(n_messages):
        answer = Message(f"{name}-{n}", name, None, Role.ASSISTANT, "word " * 400, time.time(), MessageStatus.STREAMING)
        last = store.add_messages([answer], leaf_id=answer.message_id)
    last.result()


def timed(work: Callable[[], ResultT]) -> tuple[float, ResultT]:
    """Milliseconds, and the result."""
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1000, result


if __name__ == "__main__":
    main()
