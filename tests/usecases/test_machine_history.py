"""From the samples of one run to the coarse past of the next."""

import sqlite3
import threading
from pathlib import Path

import pytest

from layadesk.domain.hardware import HardwareSample
from layadesk.protocol.feed import Feed
from layadesk.store import store as store_module
from layadesk.store.machine_minutes import save_minute
from layadesk.store.store import Store
from layadesk.usecases.machine_history import MachineHistory
from tests.fakes.store import opened, result_of

EPOCH = 1_750_000_020.0  # the beginning of a minute


class Run:
    """One run of the program that began at some second after EPOCH; its monotonic clock begins at 1000."""

    def __init__(self, store: Store, began: float) -> None:
        self.began = began
        self.now = began
        self.feed: Feed[HardwareSample] = Feed()
        self.history = MachineHistory(
            self.feed, store, clock=lambda: 1000.0 + self.now - self.began, wall=lambda: EPOCH + self.now
        )

    def sample(self, second: float, ram_available_bytes: int | None) -> None:
        """Taken at that second after EPOCH."""
        total = None if ram_available_bytes is None else 100
        taken_at = 1000.0 + second - self.began
        self.feed.publish(
            HardwareSample(taken_at, total, ram_available_bytes, wall_at=EPOCH + second),
        )


def test_the_next_run_sees_the_minutes_of_this_one_as_steps_on_its_own_clock(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        run = Run(store, 0.0)
        for second, value in ((1.0, 10), (31.0, 30), (61.0, 50), (62.0, None), (130.0, 80)):
            run.sample(second, value)
        run.history.close()
    with opened(tmp_path) as store:
        run = Run(store, 300.0)
        run.now = 310.0
        past = result_of(run.history.past())
    found = [(round(one.taken_at), one.ram_available_bytes) for one in past]
    assert found == [(700, 20), (760, 20), (760, 50), (820, 50), (820, 80), (880, 80), (880, None)]
    times = [one.taken_at for one in past]
    assert times == sorted(set(times))
    assert times[-1] < 1000.0


def test_minutes_without_a_sample_are_a_gap_and_old_ones_are_not_shown(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        run = Run(store, 0.0)
        for second in (0.0, 4000.0, 4300.0):
            run.sample(second, 10)
        run.history.close()
        run = Run(store, 4500.0)
        past = result_of(run.history.past())
    assert [one.ram_available_bytes for one in past] == [10, 10, None, 10, 10, None]


def test_a_minute_in_which_both_runs_fall_ends_where_this_one_begins(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        run = Run(store, 0.0)
        run.sample(10.0, 10)
        run.history.close()
        past = result_of(Run(store, 40.0).history.past())
    assert [round(one.taken_at) for one in past] == [960, 1000, 1000]
    assert past[-1].taken_at < 1000.0


def test_minutes_are_written_by_the_stores_thread_and_once_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: list[str] = []

    def watched(connection: sqlite3.Connection, minute: object) -> None:
        writers.append(threading.current_thread().name)
        save_minute(connection, minute)  # type: ignore[arg-type]

    monkeypatch.setattr(store_module, "save_minute", watched)
    with opened(tmp_path) as store:
        run = Run(store, 0.0)
        for tick in range(4 * 60 * 3):
            run.sample(tick / 4, 10)
        run.history.close()
        run.history.close()
    assert writers == ["store"] * 3


def test_without_a_past_there_is_nothing_to_show(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        assert result_of(Run(store, 0.0).history.past()) == ()
