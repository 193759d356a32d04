"""What one tick of the monitor costs on this machine: `python -m tests.benchmarks.sampling_cost`. CPU time, not a test.

With a C compiler the GPU lane is measured too, on the stand-in for NVIDIA's library: the cost of our own code and of
the binding, not of a real driver.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from layadesk.telemetry.nvml import NvmlSensor
from layadesk.telemetry.sensor_list import Observed, host_sensors
from layadesk.telemetry.sensors import HostDraft, Watched
from tests.fakes.nvml_library import FakeDriver, build_library, put_in_place

N = 2000


def cost_ms(work: Callable[[int], object]) -> float:
    """Mean CPU milliseconds of this thread for one call."""
    work(0)
    began = time.thread_time()
    for number in range(1, N + 1):
        work(number)
    return (time.thread_time() - began) / N * 1000


def main() -> None:
    """Print one line for each lane."""
    sensors = host_sensors(Observed(os.getpid, os.getpid))

    def host_tick(number: int) -> object:
        draft = HostDraft()
        for sensor in sensors:
            sensor.fill(draft, number * 0.5)
        return draft.sample(number * 0.5, (), None)

    ms = cost_ms(host_tick)
    print(f"host lane: {ms:.3f} ms CPU a tick, {ms * 2 / 10:.3f} % of a core at 2 Hz ({sys.platform})")
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        pynvml = put_in_place(build_library(Path(folder)), patch)
        driver = FakeDriver(Path(folder), patch)
        patch.delenv("FAKE_NVML_LOG")
        driver.set({"gpu0.compute": f"{os.getpid()}:1000000"})
        gpus = NvmlSensor(load=lambda: pynvml, sys_root=Path(folder), proc_root=Path(folder))
        ms = cost_ms(lambda number: gpus.read(number * 0.5, Watched(os.getpid())))
        gpus.close()
    print(f"GPU lane: {ms:.3f} ms CPU a tick for one GPU, {ms * 2 / 10:.3f} % of a core at 2 Hz (stand-in driver)")


if __name__ == "__main__":
    main()
