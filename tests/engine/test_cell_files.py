import os
import stat
import sys
from pathlib import Path

import pytest

from layadesk.engine import cell_files
from layadesk.engine.cell_files import CellFiles, SavedCells

CELLS = SavedCells([1, 2, 3, 70_000], 2, b"state" * 100)


@pytest.fixture
def files(tmp_path: Path) -> CellFiles:
    return CellFiles(tmp_path / "cells", 10_000)


def test_what_is_written_is_read_again(files: CellFiles) -> None:
    assert files.write("model", "talk", CELLS)
    assert files.read("model", "talk") == CELLS
    assert files.read("model", "other talk") is None
    assert files.read("other model", "talk") is None


@pytest.mark.logs_warnings
def test_a_file_cut_short_anywhere_or_changed_in_a_byte_is_never_handed_out(files: CellFiles) -> None:
    path = files.path("model", "talk")
    files.write("model", "talk", CELLS)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        assert files.read("model", "talk") is None
        assert not path.exists(), "it is removed"
    for at in range(0, len(whole), 13):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert files.read("model", "talk") is None
    path.write_bytes(whole + b"x")
    assert files.read("model", "talk") is None


@pytest.mark.logs_warnings
def test_a_file_of_another_model_under_the_name_of_this_one_is_refused(files: CellFiles) -> None:
    files.write("model", "talk", CELLS)
    files.path("model", "talk").rename(files.path("other", "talk"))
    assert files.read("other", "talk") is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_only_the_owner_may_read_what_was_said(files: CellFiles) -> None:
    files.write("model", "talk", CELLS)
    path = files.path("model", "talk")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_longest_unused_go_when_the_room_is_full(tmp_path: Path) -> None:
    one = SavedCells([1], 0, bytes(1000))
    files = CellFiles(tmp_path, 3500)
    for i, name in enumerate("abc"):
        files.write("model", name, one)
        os.utime(files.path("model", name), (i, i))
    files.read("model", "a")
    files.write("model", "d", one)
    there = [name for name in "abcd" if files.read("model", name)]
    assert there == ["a", "c", "d"]


def test_what_is_larger_than_the_room_or_would_fill_the_disk_is_not_written(
    files: CellFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not files.write("model", "talk", SavedCells([1], 0, bytes(20_000)))
    monkeypatch.setattr(cell_files, "MIN_DISK_FREE", 2**62)
    assert not files.write("model", "talk", CELLS)
    assert files.read("model", "talk") is None


def test_a_forgotten_conversation_is_gone_with_every_model(files: CellFiles) -> None:
    for model in ("a", "b"):
        files.write(model, "talk", CELLS)
        files.write(model, "other", CELLS)
    files.forget("talk")
    assert files.read("a", "talk") is files.read("b", "talk") is None
    assert files.read("a", "other") == files.read("b", "other") == CELLS


def test_the_rest_of_a_broken_write_is_removed(files: CellFiles) -> None:
    files.write("model", "talk", CELLS)
    part = files.path("model", "talk").with_suffix(".part")
    part.write_bytes(b"half")
    files.remove_parts()
    assert not part.exists()
    assert files.read("model", "talk") == CELLS
