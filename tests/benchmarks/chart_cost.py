"""What one picture of the charts costs: `python -m tests.benchmarks.chart_cost`. CPU time, no screen; not a test.

One GPU, three charts of 300 pixels, four bands, all of it measured from the new sample to the painted widget.
"""

import math
import os
import time

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from layadesk.domain.hardware import EngineWork, GpuKind, GpuSample, HardwareSample
from layadesk.ui.monitor.timeline_view import WINDOWS_S, TimelineView
from layadesk.ui.theme.theme import Theme
from layadesk.usecases.timeline import Band
from layadesk.usecases.turns import TurnPhase

GIB = 2**30
RATE_HZ = 4
N = 300


def sample(at: float) -> HardwareSample:
    """A machine on which all curves move."""
    wave = 0.5 + 0.4 * math.sin(at / 3)
    gpu = GpuSample(
        "g",
        "GPU",
        24 * GIB,
        int(20 * wave * GIB),
        int(12 * wave * GIB),
        utilization_percent=100 * wave,
        memory_busy_percent=60 * wave,
        power_watts=400 * wave,
        power_limit_watts=450.0,
        kind=GpuKind.DISCRETE,
    )
    return HardwareSample(
        at,
        ram_total_bytes=64 * GIB,
        ram_available_bytes=int((60 - 30 * wave) * GIB),
        engine_bytes=int(8 * wave * GIB),
        weights_resident_bytes=int(16 * wave * GIB),
        swap_total_bytes=8 * GIB,
        swap_used_bytes=GIB,
        cpu_count=8,
        engine_cpu_cores=4 * wave,
        work=EngineWork(n_running=1, decode_tps=40 * wave, prefill_tps=300 * wave),
        gpus=(gpu,),
    )


def main() -> None:
    """Print one line for each length of the axis."""
    app = QApplication([])
    Theme(app).use("light")
    now = WINDOWS_S[-1] + 60
    phases = (TurnPhase.ROUTING, TurnPhase.LOADING, TurnPhase.PREFILL, TurnPhase.DECODE)
    bands = [Band(phase, now - 40 + 10 * place, now - 30 + 10 * place, "c", "m") for place, phase in enumerate(phases)]
    view = TimelineView(lambda: bands)
    view.add(sample(number / RATE_HZ) for number in range(int(now * RATE_HZ)))
    view.resize(300, 560)
    view.show()
    for window_s in WINDOWS_S:
        view.set_window(window_s)
        computing, whole = cost_ms(app, view, now)
        print(f"last {window_s:.0f} s: {whole:.2f} ms CPU a picture, {computing:.2f} ms of it before painting")


def cost_ms(app: QApplication, view: TimelineView, now: float) -> tuple[float, float]:
    """Mean CPU milliseconds of this thread: without painting, and in all."""
    image = QImage(view.size(), QImage.Format.Format_RGB32)
    computing = whole = 0.0
    for number in range(N + 20):
        began = time.thread_time()
        view.add((sample(now + number / RATE_HZ),))
        view.draw()
        drawn = time.thread_time()
        for chart in view.charts:
            chart.render(image)
        if number >= 20:
            computing += drawn - began
            whole += time.thread_time() - began
        app.processEvents()
    return computing / N * 1000, whole / N * 1000


if __name__ == "__main__":
    main()
