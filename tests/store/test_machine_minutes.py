"""The machine's coarse history in the database: whole, bounded, and no reason to trouble a refusing disk."""

from contextlib import closing
from pathlib import Path

import pytest

from layadesk.domain.hardware import EngineWork, GpuKind, GpuSample, HardwareSample
from layadesk.domain.machine_minutes import MachineMinute
from layadesk.domain.storage import StorageKind
from layadesk.store import machine_minutes
from layadesk.store.schema import MIGRATIONS, columns_of, migrate
from tests.fakes.store import SmallDisk, database, opened, result_of

GPU = GpuSample("g", "RTX", 24, 18, utilization_percent=37.5, kind=GpuKind.DISCRETE)


def minute(number: int, n_samples: int = 120, **figures: object) -> MachineMinute:
    return MachineMinute(number, n_samples, HardwareSample(0.0, wall_at=number * 60.0, **figures))  # type: ignore[arg-type] # by name


def test_a_database_of_the_version_before_gets_the_table_and_keeps_the_rest(tmp_path: Path) -> None:
    with closing(database(tmp_path)) as connection:
        migrate(connection, MIGRATIONS[:3])
        connection.execute("INSERT INTO conversation VALUES ('c', 't', 1, 1, NULL, NULL, '', NULL, '', '', 0, '')")
    with opened(tmp_path) as store:
        assert [one.title for one in result_of(store.list_conversations())] == ["t"]
        assert result_of(store.machine_minutes(since=0, until=2**40)) == ()
    with closing(database(tmp_path)) as connection:
        assert columns_of(connection, "machine_minute")[:2] == ("minute", "n_samples")


def test_minutes_are_there_after_a_restart_and_the_unknown_is_null(tmp_path: Path) -> None:
    kept = (
        minute(10, ram_total_bytes=64, engine_cpu_cores=1.5, gpus=(GPU,), work=EngineWork(decode_tps=40.0)),
        minute(11, ram_total_bytes=64),
    )
    with opened(tmp_path) as store:
        for one in kept:
            result_of(store.save_machine_minute(one))
    with opened(tmp_path) as store:
        assert result_of(store.machine_minutes(since=10, until=11)) == kept
        assert result_of(store.machine_minutes(since=11, until=99)) == kept[1:]
    with closing(database(tmp_path)) as connection:
        row = connection.execute("SELECT swap_used_bytes, decode_tps, gpus FROM machine_minute WHERE minute = 11")
        assert row.fetchone() == (None, None, None)


def test_of_two_readings_of_one_minute_the_one_of_more_samples_stays(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for n_samples in (50, 90, 20):
            result_of(store.save_machine_minute(minute(7, n_samples)))
        assert [one.n_samples for one in result_of(store.machine_minutes(since=0, until=9))] == [90]


def test_the_oldest_go_when_there_are_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_minutes, "KEPT_MINUTES", 5)
    with opened(tmp_path) as store:
        for number in range(12):
            result_of(store.save_machine_minute(minute(number)))
        found = result_of(store.machine_minutes(since=0, until=99))
    assert [one.minute for one in found] == [7, 8, 9, 10, 11]


@pytest.mark.logs_warnings
def test_while_the_disk_refuses_nothing_is_kept_and_nothing_counts_as_unsaved(tmp_path: Path) -> None:
    disk = SmallDisk()
    with opened(tmp_path, tune=disk.tune) as store:
        result_of(store.save_machine_minute(minute(1)))
        disk.set_full(True)
        crowd = tuple(GpuSample(f"g{number}", "x" * 100) for number in range(100))
        result_of(store.save_machine_minute(minute(2, gpus=crowd)))
        assert store.status.kind is StorageKind.MEMORY_ONLY
        result_of(store.save_machine_minute(minute(3)))
        assert store.status.n_unsaved == 0
        assert [one.minute for one in result_of(store.machine_minutes(since=0, until=9))] == [1]
        disk.set_full(False)
        assert result_of(store.retry()).kind is StorageKind.SAVING
        result_of(store.save_machine_minute(minute(4)))
        assert [one.minute for one in result_of(store.machine_minutes(since=0, until=9))] == [1, 4]


def test_a_row_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in (1, 2, 3):
            result_of(store.save_machine_minute(minute(number)))
        with closing(database(tmp_path)) as connection:
            connection.execute("UPDATE machine_minute SET gpus = '[{]' WHERE minute = 1")
            connection.execute("UPDATE machine_minute SET engine_bytes = 'many' WHERE minute = 2")
        assert [one.minute for one in result_of(store.machine_minutes(since=0, until=9))] == [3]
