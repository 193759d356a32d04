"""What a long conversation and a long answer cost the window.

`python -m tests.benchmarks.transcript_cost`. The real window on a fresh Xvfb over the real store, no engine.

1. A conversation of 5,000 messages: from the click to the first painted page; then two walks over it while a 5 ms timer
   measures how long the window was away: a wheel's (120 px a frame) and one from end to end in 300 jumps.
2. An answer of 60 KB in pieces of 13 characters, as 100 tokens/s arrive between two flushes: the cost of each flush up
   to the painted window, at its beginning and at its end, and the memory it took. Beside it the same text in a plain
   QTextBrowser, which has to read the whole Markdown again each time (every 50th flush, for it takes minutes).
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from tests.fakes.window_program import x_server

N_MESSAGES = 5_000
N_ANSWER = 60_000
PIECE = 13
EVERY = 50
PARAGRAPH = (
    "## Step {n}\n\nThe pivot splits the list, so that **smaller** items come before it; with $n$ items that takes "
    "`n - 1` comparisons. 中文也要能换行。\n\n- first item of {n}\n- second item\n\n```python\ndef step_{n}(items):\n"
    "    return sorted(items)[{n}]  # done\n```\n\n| n | time |\n|---|---|\n| {n} | 3 ms |\n\n"
)


@contextmanager
def long_conversation() -> Iterator[tuple[Path, str]]:
    """A data directory with one conversation of N_MESSAGES, and its id."""
    from layadesk.domain.chat import Conversation, Message
    from layadesk.domain.inference import Role
    from layadesk.paths import DataPaths
    from layadesk.store.store import Store

    with tempfile.TemporaryDirectory() as folder:
        store = Store.open(DataPaths(Path(folder)), now=1.0)
        conversation = Conversation("long", "A long talk", 1.0, 2.0, leaf_id=f"m{N_MESSAGES - 1}")
        messages = [
            Message(
                f"m{n}",
                "long",
                f"m{n - 1}" if n else None,
                Role.ASSISTANT if n % 2 else Role.USER,
                PARAGRAPH.format(n=n) if n % 2 else f"And what about number {n}?",
                float(n + 1),
            )
            for n in range(N_MESSAGES)
        ]
        store.add_tree(conversation, messages).result()
        store.close()
        yield Path(folder), "long"


class Gaps:
    """A timer that wants to fire every 5 ms; what lies above is time in which the window could not react."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self.found: list[float] = []
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._beat)
        self._last = time.perf_counter()
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter()
        self.found.append((now - self._last) * 1000)
        self._last = now

    def take(self) -> list[float]:
        """The gaps since the last time."""
        found, self.found = sorted(self.found), []
        self._last = time.perf_counter()
        return found


def wait(milliseconds: int) -> None:
    """Let the loop run."""
    from PySide6.QtCore import QEventLoop, QTimer

    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def wait_until(condition: Callable[[], bool]) -> None:
    """Let the loop run, one event at a time."""
    from PySide6.QtCore import QEventLoop
    from PySide6.QtWidgets import QApplication

    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, 5)


def told(name: str, gaps: list[float]) -> None:
    """One line."""
    p99 = gaps[int(len(gaps) * 0.99)]
    n_long = sum(gap > 50 for gap in gaps)
    middle = statistics.median(gaps)
    print(f"{name}: gaps median {middle:.1f}, p99 {p99:.1f}, worst {gaps[-1]:.1f} ms; {n_long} over 50 ms")


def measure_conversation(data_dir: Path, conversation_id: str) -> None:
    """Part 1."""
    from PySide6.QtCore import QEvent, QObject

    from layadesk.app import Desk
    from layadesk.ui import application
    from layadesk.ui.bridge import Bridge
    from layadesk.ui.language import Language
    from layadesk.ui.shell.appearance import Appearance
    from layadesk.ui.shell.main_window import MainWindow
    from layadesk.ui.theme.theme import Theme

    app = application.make_application()
    desk = Desk(data_dir, engine="scripted")
    bridge = Bridge(app)
    appearance = Appearance(desk.use_cases.settings, language=Language(app), theme=Theme(app), parent=app)
    appearance.apply()
    window = MainWindow(desk.use_cases, bridge=bridge, appearance=appearance)
    window.show()
    wait(1500)
    transcript = window.page.transcript

    class Paints(QObject):
        n = 0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
            if event.type() == QEvent.Type.Paint and transcript.shown_views():
                self.n += 1
            return False

    paints = Paints(window)
    transcript.viewport().installEventFilter(paints)
    started = time.perf_counter()
    window.show_conversation(conversation_id)
    wait_until(lambda: paints.n > 0)
    first_ms = (time.perf_counter() - started) * 1000
    wait_until(lambda: transcript.is_settled)
    whole_ms = (time.perf_counter() - started) * 1000
    print(f"{N_MESSAGES:,} messages: newest painted after {first_ms:.0f} ms, whole page after {whole_ms:.0f} ms")
    wait(500)
    gaps = Gaps()
    bar = transcript.verticalScrollBar()
    for _ in range(300):
        bar.setValue(bar.value() - 120)
        wait(16)
    told("wheel, 300 frames of 120 px", gaps.take())
    for n in range(300):
        bar.setValue(bar.maximum() * (299 - n) // 299)
        wait(16)
    told("from end to end in 300 jumps", gaps.take())
    print(f"views at the end: {len(transcript.shown_views())} of {N_MESSAGES:,} messages")
    window.close()
    bridge.close()
    desk.stop()


def flush_costs(show: Callable[[str], None], text: str, *, every: int) -> list[float]:
    """Milliseconds of each flush up to the painted window."""
    from PySide6.QtWidgets import QApplication

    costs = []
    for number, at in enumerate(range(0, len(text), PIECE)):
        if every > 1 and number % every:
            continue
        started = time.perf_counter()
        show(text[: at + PIECE] if every > 1 else text[at : at + PIECE])
        QApplication.processEvents()
        costs.append((time.perf_counter() - started) * 1000)
    return costs


def measure_answer() -> None:
    """Part 2."""
    from PySide6.QtWidgets import QTextBrowser

    from layadesk.domain.chat import Message, MessageStatus
    from layadesk.domain.inference import Role
    from layadesk.ui.chat.transcript_view import TranscriptView
    from layadesk.usecases.turns import TurnText
    from tests.fakes.markup import still_kit

    text = "".join(PARAGRAPH.format(n=n) for n in range(N_ANSWER // 300))[:N_ANSWER]
    transcript = TranscriptView(name_of=str, kit=still_kit(), experts=list)
    transcript.resize(760, 700)
    transcript.show()
    question = Message("q", "c", None, Role.USER, "Go on", 1.0)
    answer = Message("a", "c", "q", Role.ASSISTANT, "", 2.0, MessageStatus.STREAMING)
    transcript.show_branch((question, answer), {})
    wait(300)
    process = psutil.Process()
    before = process.memory_info().rss
    n_shown = 0

    def append(piece: str) -> None:
        nonlocal n_shown
        transcript.append_text(TurnText("c", "a", piece, n_shown, 1))
        n_shown += len(piece)

    ours = flush_costs(append, text, every=1)
    grown = (process.memory_info().rss - before) / 2**20
    view = transcript.view_of("a")
    n_views = len(view.body.views) if view is not None else 0
    transcript.hide()
    browser = QTextBrowser()
    browser.resize(760, 700)
    browser.show()
    theirs = flush_costs(browser.setMarkdown, text, every=EVERY)
    for name, costs in (("ours", ours), ("QTextBrowser.setMarkdown", theirs)):
        tenth = max(len(costs) // 10, 1)
        first, last = statistics.median(costs[:tenth]), statistics.median(costs[-tenth:])
        worst = sorted(costs)
        print(
            f"{name}: a flush takes {first:.1f} ms at the beginning, {last:.1f} ms at {len(text):,} characters "
            f"(x{last / first:.1f}); p99 {worst[int(len(worst) * 0.99)]:.1f}, worst {worst[-1]:.1f} ms"
        )
    print(f"ours at the end: {n_views} views, {grown:.0f} MiB more than at the beginning")


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with x_server() as display, long_conversation() as (data_dir, conversation_id):
        os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        measure_conversation(data_dir, conversation_id)
        measure_answer()


if __name__ == "__main__":
    main()
