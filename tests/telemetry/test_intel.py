"""Intel's GPUs are not read, and that is said instead of a driver that nobody needs (monitoring.md row 21)."""

from pathlib import Path

import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.gpu_lane import GpuLane
from layadesk.telemetry.intel_gpus import IntelPresence
from layadesk.telemetry.pci import PciBus
from layadesk.telemetry.sensors import Watched
from tests.fakes.roots import make_nvidia_pci, write
from tests.fakes.sensors import FakeGpus


@pytest.mark.parametrize(
    ("vendor", "kind", "why"),
    [("0x8086", "0x030000", Why.INTEL), ("0x8086", "0x040300", Why.NO_GPU), ("0x1002", "0x030000", Why.NO_GPU)],
    ids=["a GPU", "its sound device", "of another maker"],
)
def test_an_intel_gpu_is_noticed(tmp_path: Path, vendor: str, kind: str, why: Why) -> None:
    device = tmp_path / "bus" / "pci" / "devices" / "0000:00:02.0"
    write(device / "vendor", vendor)
    write(device / "class", kind)
    reading = IntelPresence(PciBus(tmp_path)).read(0.0, Watched())
    assert (reading.gpus, reading.reason) == ((), why)
    assert IntelPresence(PciBus(tmp_path / "nowhere")).read(0.0, Watched()).reason is Why.NO_GPU


@pytest.mark.parametrize(
    ("nvidia", "told"),
    [(Why.NO_DRIVER, Why.INTEL), (Why.NO_GPU, Why.INTEL), (Why.DRIVER_MISMATCH, Why.DRIVER_MISMATCH)],
)
def test_the_reason_that_says_most_is_told(tmp_path: Path, nvidia: Why, told: Why) -> None:
    make_nvidia_pci(tmp_path)
    write(tmp_path / "bus/pci/devices/0000:00:02.0/vendor", "0x8086")
    write(tmp_path / "bus/pci/devices/0000:00:02.0/class", "0x030000")
    one = FakeGpus()
    one.reason = nvidia
    lane = GpuLane(lambda: (one, IntelPresence(PciBus(tmp_path))), Watched, clock=lambda: 1.0, period_s=1.0)
    lane.start()
    assert one.has_read.acquire(timeout=10)
    assert lane.stop(10)
    assert (lane.latest(1.0).gpus, lane.latest(1.0).reason) == ((), told)
