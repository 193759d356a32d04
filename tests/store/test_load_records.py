"""The ledger of loads in the database."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.load_record import LoadMeasure, LoadRecord, OffloadMiss
from layadesk.paths import DataPaths
from layadesk.store import load_records
from tests.fakes.store import opened, result_of

DEVICES = (DeviceBill("CUDA0", 100, 20, 3), DeviceBill(CPU, 7, output_bytes=4))
WHOLE = LoadRecord(
    5.0,
    "smol",
    "llama",
    "CUDA",
    49152,
    LoadParams(n_ctx=4096, type_k="q8_0", devices=("CUDA0",)),
    MemoryBill(DEVICES, 33, 33, Basis.DRY_RUN, correction_bytes=9),
    LoadMeasure(DEVICES, 1234, 99),
    33,
    20,
    vram_bytes=130,
    miss=OffloadMiss.FEWER_LAYERS,
)
UNKNOWN = replace(
    WHOLE, params=None, predicted=None, measure=LoadMeasure(), layers_asked=None, vram_bytes=None, miss=None
)


def test_a_load_is_kept_whole_over_a_restart_and_unknown_stays_unknown(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        result_of(store.save_load_record(WHOLE))
        result_of(store.save_load_record(UNKNOWN))
    with opened(tmp_path) as store:
        assert result_of(store.load_records()) == (UNKNOWN, WHOLE)
        assert result_of(store.load_records(limit=1)) == (UNKNOWN,)


def test_a_row_that_makes_no_sense_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        result_of(store.save_load_record(WHOLE))
        result_of(store.save_load_record(UNKNOWN))
    with closing(sqlite3.connect(DataPaths(tmp_path).database)) as connection, connection:
        connection.execute("UPDATE load_record SET measure = '{' WHERE record_id = 1")
    with opened(tmp_path) as store:
        assert result_of(store.load_records()) == (UNKNOWN,)


def test_the_ledger_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_records, "KEPT_RECORDS", 3)
    with opened(tmp_path) as store:
        for number in range(5):
            result_of(store.save_load_record(replace(WHOLE, loaded_at=float(number))))
        assert [one.loaded_at for one in result_of(store.load_records())] == [4.0, 3.0, 2.0]
