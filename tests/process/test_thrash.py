"""A real machine that reads its weights from the disk again and again: a mapped file of twice the memory limit."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from layadesk.domain.alert_watch import Alert, AlertWatch
from layadesk.domain.hardware import EngineWork, HardwareSample
from layadesk.domain.machine_alerts import Danger
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed

MIB = 2**20
LIMIT = 96 * MIB
FILE = 2 * LIMIT
WITHIN_S = 5.0
PATIENCE_S = 20.0

READER = """
import mmap, os, sys
group, path = sys.argv[1:3]
with open(os.path.join(group, "cgroup.procs"), "w") as procs:
    procs.write(str(os.getpid()))
with open(path, "rb") as file:
    weights = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
print("begun", flush=True)
total = 0
while True:
    for offset in range(0, len(weights), mmap.PAGESIZE):
        total += weights[offset]
"""


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group with a memory limit; skips where one may not be made."""
    root = Path("/sys/fs/cgroup")
    is_v2 = (root / "cgroup.controllers").exists()
    folder = (root if is_v2 else root / "memory") / f"layadesk-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / ("memory.max" if is_v2 else "memory.limit_in_bytes")).write_text(str(LIMIT), encoding="ascii")
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()
        pytest.skip(f"a group with a memory limit cannot be made here: {error}")
    yield folder
    for _ in range(100):
        with suppress(OSError):
            folder.rmdir()
            break
        threading.Event().wait(0.05)  # the kernel lets go of an ended process a moment later


@pytest.mark.skipif(sys.platform != "linux", reason="control groups of Linux")
def test_weights_that_do_not_fit_are_noticed_within_five_seconds(group: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights.gguf"
    with weights.open("wb") as file:
        for _ in range(FILE // MIB):
            file.write(os.urandom(MIB))
        file.flush()
        os.fsync(file.fileno())
        # out of the cache again: pages count against the group that brings them in
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(group), str(weights)], stdout=subprocess.PIPE, encoding="ascii"
    )
    watch, noticed, alerts = AlertWatch(), threading.Event(), list[Alert]()
    rates: list[float | None] = []

    def on_sample(sample: HardwareSample) -> None:
        rates.append(sample.refault_bytes_per_s)
        alerts.extend(one for one in watch.take(sample) if one.danger is Danger.REREAD)
        if alerts:
            noticed.set()

    work = EngineWork(n_running=1, decode_tps=1.0, reads_mapped_weights=True)
    sampler = Sampler(
        Observed(lambda: reader.pid, lambda: None, work=lambda: work, weight_files=lambda: (str(weights),)),
        make_gpu_sensors=lambda: (),
    )
    sampler.feed.subscribe(on_sample)
    try:
        assert reader.stdout is not None
        assert reader.stdout.readline().strip() == "begun"
        sampler.start()
        wait_until_it_thrashes(rates)
        began = time.monotonic()
        assert noticed.wait(PATIENCE_S), f"not noticed: {rates[-20:]}"
        took_s = alerts[0].since - began
    finally:
        sampler.stop()
        reader.kill()
        reader.wait(PATIENCE_S)
        if reader.stdout is not None:
            reader.stdout.close()
    print(f"noticed {took_s:.1f} s after the first refault at {max(rate or 0.0 for rate in rates) / MIB:.0f} MiB/s")
    assert took_s < WITHIN_S
    newest = sampler.latest()
    assert newest is not None
    assert newest.ram_available_bytes is not None  # which says nothing of it, as little as swap does


def wait_until_it_thrashes(rates: list[float | None]) -> None:
    """The file must have been read once before anything can be read again."""
    deadline = time.monotonic() + PATIENCE_S
    while not any((rate or 0.0) > 50 * MIB for rate in rates):
        if time.monotonic() > deadline:
            pytest.skip(f"this disk reads too slowly, or this kernel does not count what is read again: {rates[-5:]}")
        threading.Event().wait(0.05)
