"""What the whole monitor costs, sampling and drawing: `python -m tests.benchmarks.monitor_cost`. CPU time, not a test.

A panel of 300 × 760 pixels without a screen, sampled and drawn as in the program, with one GPU of the stand-in driver
where there is a C compiler. Per cent of one core, shown at rest (2 Hz), shown while a request runs (4 Hz), at the three
ranges, and hidden (1 Hz).
"""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import tempfile
import time
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from layadesk.domain.hardware import EngineWork
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.telemetry.nvml import NvmlSensor
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed
from layadesk.telemetry.sensors import GpuSensor
from layadesk.ui.bridge import Bridge
from layadesk.ui.monitor.resource_panel import ResourcePanel
from layadesk.usecases.machine_history import MachineHistory
from layadesk.usecases.memory_guard import MemoryGuard
from layadesk.usecases.timeline import Timeline
from layadesk.usecases.turns import TurnEvent
from layadesk.usecases.watch_machine import WatchResources
from tests.fakes.nvml_library import FakeDriver, build_library, put_in_place
from tests.fakes.usecases import FakeGuard

SECONDS = 15.0


class NoEpisodes(FakeGuard):
    """A guard that has nothing to tell."""

    def episodes(self) -> tuple[()]:
        return ()


def cost_percent(seconds: float = SECONDS) -> float:
    """CPU time of the whole process for so long, as per cent of one core."""
    turn_the_loop(1.0)
    began, wall = time.process_time(), time.monotonic()
    turn_the_loop(seconds)
    return 100 * (time.process_time() - began) / (time.monotonic() - wall)


def turn_the_loop(seconds: float) -> None:
    """Let Qt run by itself for a while."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def measure(gpus: tuple[GpuSensor, ...], store: Store) -> None:
    """Print one line for each state."""
    work = [EngineWork()]
    sampler = Sampler(
        Observed(os.getpid, lambda: None, work=lambda: work[0], weight_files=lambda: ("/proc/self/exe",)),
        make_gpu_sensors=lambda: gpus,
    )
    turns: Feed[TurnEvent] = Feed()
    bridge = Bridge()
    history = MachineHistory(sampler.feed, store)
    resources = WatchResources(sampler, Timeline(turns), cast("MemoryGuard", NoEpisodes()), history)
    panel = ResourcePanel(resources, bridge=bridge)
    panel.resize(300, 760)
    panel.show()
    panel.load_charts()
    idle = cost_percent(5.0)
    sampler.start()
    turn_the_loop(3.0)
    print(f"nothing sampled           {idle:5.2f} %")
    for minutes in (1, 30):
        panel.show_range(minutes)
        print(f"shown, 2 Hz, {minutes:2} min       {cost_percent():5.2f} %")
    work[0] = EngineWork(n_running=1, decode_tps=50.0)
    panel.show_range(1)
    print(f"shown, 4 Hz,  1 min       {cost_percent():5.2f} %")
    work[0] = EngineWork()
    panel.hide()
    print(f"hidden, 1 Hz              {cost_percent():5.2f} %")
    sampler.stop()
    history.close()
    bridge.close()


def main() -> None:
    """With a GPU of the stand-in where it can be compiled."""
    application = QApplication([])
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        pynvml = put_in_place(build_library(Path(folder)), patch)
        driver = FakeDriver(Path(folder), patch)
        patch.delenv("FAKE_NVML_LOG")
        driver.set({"gpu0.compute": f"{os.getpid()}:1000000", "gpu0.util": 50})
        assert application.platformName() == "offscreen"
        store = Store.open(DataPaths(Path(folder) / "kept"), now=time.time())
        measure((NvmlSensor(load=lambda: pynvml, sys_root=Path(folder), proc_root=Path(folder)),), store)
        store.close()


if __name__ == "__main__":
    main()
