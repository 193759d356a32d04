"""From the start of the process to the first painted window, beside a bare QMainWindow.

`python -m tests.benchmarks.window_start`. Both are started in turn on the same fresh Xvfb, `--runs` times; printed are
the medians, seconds of wall time, and how they differ. Painted means: the first paint event has been handled.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.fakes.window_program import REPO, x_server

_BARE = """
import sys, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

class Window(QMainWindow):
    def paintEvent(self, event):
        super().paintEvent(event)
        QTimer.singleShot(0, self.told)
    def told(self):
        print(time.time(), flush=True)
        QApplication.quit()

app = QApplication(sys.argv)
window = Window()
window.setCentralWidget(QLabel("bare"))
window.resize(1200, 780)
window.show()
app.exec()
"""

_OURS = """
import sys, time
from pathlib import Path
import layadesk.cli.main
from layadesk.app import Desk
from layadesk.ui import application

def painted():
    print(time.time(), flush=True)
    heavy = {"torch", "llama_cpp", "numpy", "pyqtgraph", "psutil", "jinja2", "huggingface_hub"}
    print(sorted({name.split(".")[0] for name in sys.modules} & heavy), flush=True)
    application.QApplication.instance().quit()

desk = Desk(Path(sys.argv[1]))
sys.exit(application.run(desk.use_cases, after_first_paint=painted, before_quit=desk.stop))
"""


def measure(code: str, environ: dict[str, str], *arguments: str) -> tuple[float, str]:
    """Seconds from the start of the process until it says it is painted, and what it says after that."""
    began = time.time()
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=environ, cwd=REPO, check=True, capture_output=True, text=True)
    told, _, rest = done.stdout.partition("\n")
    return float(told) - began, rest.strip()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    with x_server() as display, tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        data_dir = str(Path(folder) / "data")
        measure(_BARE, environ)
        measure(_OURS, environ, data_dir)  # both once for the disk cache
        bare, ours = [], []
        for _ in range(runs):
            bare.append(measure(_BARE, environ)[0])
            seconds, heavy = measure(_OURS, environ, data_dir)
            ours.append(seconds)
    print(f"bare QMainWindow  {statistics.median(bare):.3f} s  (of {runs}: {min(bare):.3f}-{max(bare):.3f})")
    print(f"LayaDesk          {statistics.median(ours):.3f} s  (of {runs}: {min(ours):.3f}-{max(ours):.3f})")
    print(f"difference        {statistics.median(ours) - statistics.median(bare):.3f} s")
    print(f"heavy modules imported before the first paint: {heavy}")


if __name__ == "__main__":
    main()
