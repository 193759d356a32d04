"""What the whole monitor costs, sampling and drawing: `python -m tests.benchmarks.monitor_cost`. CPU time, not a test.

A panel of 300 × 760 pixels without a screen, sampled and drawn as in the program, with one GPU of the stand-in driver
where there is a C compiler, and a restless half hour behind it: every curve and nearly every figure moves with each
sample. Per cent of one core, shown at rest (2 Hz), shown while a request runs (4 Hz), at the three ranges, and hidden
(1 Hz).
"""

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from layadesk.domain.hardware import EngineWork, HardwareSample
from layadesk.paths import DataPaths
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.telemetry.nvml import NvmlSensor
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed
from layadesk.telemetry.sensors import GpuSensor
from layadesk.ui.bridge import Bridge
from layadesk.ui.monitor.resource_panel import RANGES_MIN, ResourcePanel
from layadesk.ui.theme.theme import Theme
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


def restless(one: HardwareSample, until: float) -> Iterator[HardwareSample]:
    """Half an hour at 2 Hz of figures that go up and down like those of `one`."""
    dice = random.Random(1)  # the same in each run
    ram, swap, cores = one.ram_available_bytes or 0, one.swap_total_bytes or 0, one.cpu_count or 1
    for number in range(3600, 0, -1):
        gpus = tuple(
            replace(
                gpu,
                vram_used_bytes=int((gpu.vram_total_bytes or 0) * dice.uniform(0.4, 0.8)),
                utilization_percent=dice.uniform(0, 100),
                power_watts=dice.uniform(30, 400),
            )
            for gpu in one.gpus
        )
        yield replace(
            one,
            taken_at=until - number / 2,
            ram_available_bytes=int(ram * dice.uniform(0.6, 1.0)),
            swap_used_bytes=int(swap * dice.random()),
            engine_cpu_cores=cores * dice.random(),
            work=EngineWork(n_running=1, decode_tps=dice.uniform(30, 60), prefill_tps=dice.uniform(0, 300)),
            gpus=gpus,
        )


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
    print(f"nothing sampled           {idle:5.2f} %")
    sampler.start()
    turn_the_loop(3.0)
    newest = sampler.latest()
    timeline = panel.timeline
    assert newest is not None
    assert timeline is not None
    timeline.clear()
    timeline.add(restless(newest, newest.taken_at))
    for minutes in RANGES_MIN:
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
    Theme(application).use("light")
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
