"""How long the GUI thread is away while four answers stream at 100 tokens/s each.

`python -m tests.benchmarks.gui_gaps`. The real window on a fresh Xvfb, the real store, the scripted engine in its own
process; all four stream all the time and are shown in turn. A timer that wants to fire every 5 ms measures
the gaps between its calls, milliseconds; what lies above 5 is time in which the window could not react.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.window_program import x_server

N_STREAMS = 4
TOKENS_PER_S = 100.0
SECONDS = 10.0
N_CTX = 65_536
TEXT = "".join(f"{n}. a line of an answer that goes on, with 中文 in it\n" for n in range(2000))


@contextmanager
def scripted_data() -> Iterator[tuple[Path, str]]:
    """A data directory with a stand-in expert, and the `--engine` argument for it."""
    from layadesk.model_library.inventory import Inventory
    from layadesk.paths import DataPaths
    from tests.fakes.gguf_files import chat_metadata, write_gguf

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        script = root / "script.json"
        script.write_text(json.dumps({"text": TEXT, "decode_tps": TOKENS_PER_S}), encoding="utf-8")
        metadata = {**chat_metadata(), "llama.context_length": N_CTX}
        Inventory(DataPaths(root / "data")).import_file(write_gguf(root / "tiny.gguf", metadata))
        settings = {"schema": 1, "values": {"inference.n_ctx": N_CTX}}
        (root / "data" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        yield root / "data", f"scripted:{script}"


def run_window(data_dir: Path, engine: str) -> tuple[list[float], int]:
    """The gaps between the timer's calls while the answers stream, and how many characters were shown meanwhile."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from layadesk.app import Desk
    from layadesk.ui import application
    from layadesk.usecases.turns import TurnEvent, TurnText

    desk = Desk(data_dir, engine=engine)
    gaps: list[float] = []
    n_characters = [0]
    timers: list[QTimer] = []
    last = [0.0]

    def count(event: TurnEvent) -> None:
        if isinstance(event, TurnText):
            n_characters[0] += len(event.text)

    def beat() -> None:
        now = time.perf_counter()
        gaps.append((now - last[0]) * 1000.0)
        last[0] = now

    def show_next(conversations: list[str]) -> None:
        window = next(w for w in QApplication.topLevelWidgets() if hasattr(w, "page"))
        conversations.append(conversations.pop(0))
        window.page.show_conversation(conversations[0])

    def begin() -> None:
        desk.start()
        started = [
            desk.use_cases.send_message(desk.use_cases.conversations.create(), f"go {n}") for n in range(N_STREAMS)
        ]
        QTimer.singleShot(3000, lambda: watch([future.result().conversation_id for future in started]))

    def watch(conversations: list[str]) -> None:
        desk.use_cases.turns.subscribe(count)
        last[0] = time.perf_counter()
        for interval, call in ((5, beat), (2000, lambda: show_next(conversations))):
            timer = QTimer()
            timer.setTimerType(Qt.TimerType.PreciseTimer)
            timer.setInterval(interval)
            timer.timeout.connect(call)
            timer.start()
            timers.append(timer)
        show_next(conversations)
        QTimer.singleShot(int(SECONDS * 1000), QApplication.quit)

    application.run(desk.use_cases, after_first_paint=begin, before_quit=desk.stop)
    return gaps, n_characters[0]


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with x_server() as display, scripted_data() as (data_dir, engine):
        os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        gaps, n_characters = run_window(data_dir, engine)
    ordered = sorted(gaps)
    print(f"{n_characters / SECONDS:.0f} characters/s in {N_STREAMS} streams over {SECONDS:.0f} s")
    print(
        f"gaps of a 5 ms timer: median {ordered[len(ordered) // 2]:.1f}, p99 {ordered[int(len(ordered) * 0.99)]:.1f}, "
        f"worst {ordered[-1]:.1f} ms"
    )
    sys.exit(0 if n_characters > 0 else 1)


if __name__ == "__main__":
    main()
