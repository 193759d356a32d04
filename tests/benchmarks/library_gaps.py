"""How long the GUI thread is away while the whole catalogue is priced for an integrated GPU.

`python -m tests.benchmarks.library_gaps`. The real window with its Models page open on Qt's offscreen platform. A timer
that wants to fire every 5 ms measures the gaps between its calls, milliseconds: first while nothing happens, then while
the page judges every file anew at another context. The machine that is priced for is made up; the work is not.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SETTLE_S = 5.0
QUIET_S = 5.0
MOST_S = 300.0
CONTEXT = 16_384


def _gaps_until(is_over: Callable[[], bool]) -> list[float]:
    from PySide6.QtCore import QCoreApplication, QEventLoop, Qt, QTimer

    gaps: list[float] = []
    last = time.perf_counter()

    def beat() -> None:
        nonlocal last
        now = time.perf_counter()
        gaps.append((now - last) * 1000.0)
        last = now

    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(beat)
    timer.start(5)
    while not is_over():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    timer.stop()
    return sorted(gaps)


def _said(what: str, gaps: list[float], seconds: float) -> str:
    middle, late = gaps[len(gaps) // 2], gaps[int(len(gaps) * 0.99)]
    longest = ", ".join(f"{gap:.0f}" for gap in gaps[:-6:-1])
    return f"{what} ({seconds:.1f} s): median {middle:.1f}, p99 {late:.1f}, longest {longest} ms"


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from layadesk.app import Desk
    from layadesk.ui.bridge import Bridge
    from layadesk.ui.language import Language
    from layadesk.ui.shell.appearance import Appearance
    from layadesk.ui.shell.main_window import MainWindow
    from layadesk.ui.shell.navigation_rail import Destination
    from layadesk.ui.theme.theme import Theme
    from tests.fakes.machines import RADEON_780M

    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), engine="scripted")
        object.__setattr__(desk.use_cases.library._pricing, "machine", lambda: RADEON_780M)
        bridge = Bridge()
        appearance = Appearance(desk.use_cases.settings, language=Language(app), theme=Theme(app))
        appearance.apply()
        window = MainWindow(desk.use_cases, bridge=bridge, appearance=appearance)
        window.show()
        window.show_page(Destination.MODELS)
        shelf = window.models.page.shelf
        ends: list[float] = []
        shelf.fits_changed.connect(lambda: ends.append(time.perf_counter()))
        until = time.perf_counter() + MOST_S
        _gaps_until(lambda: bool(ends) or time.perf_counter() > until)  # the page and its first prices
        settled = time.perf_counter() + SETTLE_S
        _gaps_until(lambda: time.perf_counter() > settled)
        quiet_end = time.perf_counter() + QUIET_S
        print(_said("nothing to do", _gaps_until(lambda: time.perf_counter() > quiet_end), QUIET_S))
        ends.clear()
        began = time.perf_counter()
        shelf.set_context(CONTEXT)  # says at once that nothing is judged any more
        ends.clear()
        gaps = _gaps_until(lambda: bool(ends) or time.perf_counter() > began + MOST_S)
        print(_said("all files priced", gaps, time.perf_counter() - began))
        window.closing.asks = False
        window.close()
        bridge.close()
        desk.stop()
    sys.exit(0 if ends else 1)


if __name__ == "__main__":
    main()
