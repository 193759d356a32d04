"""A hundred starts and stops leave no process, no zombie and no descriptor."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from layadesk.domain.worker_state import ExitKind, WorkerState
from tests.fakes.workers_lab import Starts, engine_lab

N_STARTS = 100
N_AT_ONCE = 4


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_hundred_starts_and_stops_leave_nothing(tmp_path: Path) -> None:
    def live(n: int) -> ExitKind | None:
        starts = Starts(tmp_path / str(n))
        with engine_lab(starts, tmp_path / str(n)) as lab:
            lab.wait_state(WorkerState.READY)
        assert not psutil.pid_exists(starts.pids[0])
        ended = lab.client.status.exit
        return None if ended is None or ended.detail != "0" else ended.kind

    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        list(pool.map(live, range(N_AT_ONCE)))  # what is opened once and kept: the resource tracker's pipe
        before, children = descriptors(), psutil.Process().children()
        ends = list(pool.map(live, range(N_AT_ONCE, N_STARTS)))
    assert set(ends) == {ExitKind.STOPPED_BY_US}, "each left by itself when it was asked"
    assert descriptors() <= before
    assert psutil.Process().children() == children
