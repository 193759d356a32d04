import queue
from pathlib import Path

import pytest

from layadesk.engine import cell_keeper
from layadesk.engine.cell_files import CellFiles, SavedCells
from layadesk.engine.cell_keeper import CellKeeper, CellsRead

CELLS = SavedCells([1, 2, 3], 0, b"state")


@pytest.fixture
def answers() -> "queue.SimpleQueue[CellsRead]":
    return queue.SimpleQueue()


def test_what_was_just_handed_over_is_there_at_once_and_read_as_it_was(
    tmp_path: Path, answers: "queue.SimpleQueue[CellsRead]"
) -> None:
    keeper = CellKeeper(tmp_path, answers.put)
    assert not keeper.has("model", "talk")
    keeper.save("model", "talk", CELLS)
    assert keeper.has("model", "talk"), "before it is written"
    keeper.read(7, "expert", "model", "talk")
    keeper.start()
    read = answers.get(timeout=30)
    assert (read.order, read.model_id, read.cells) == (7, "expert", CELLS)
    assert keeper.stop(30)


def test_a_disk_that_cannot_keep_up_is_given_no_more(
    tmp_path: Path, answers: "queue.SimpleQueue[CellsRead]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_keeper, "MAX_UNWRITTEN_BYTES", 8)
    keeper = CellKeeper(tmp_path, answers.put)
    keeper.save("model", "a", CELLS)
    assert keeper.has_room()
    keeper.save("model", "b", CELLS)
    assert not keeper.has_room()
    keeper.start()
    assert keeper.stop(30)
    assert keeper.has_room()


@pytest.mark.logs_warnings
def test_whoever_asks_is_answered_even_after_a_job_has_failed(
    tmp_path: Path, answers: "queue.SimpleQueue[CellsRead]", monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> bool:
        raise MemoryError

    monkeypatch.setattr(CellFiles, "write", broken)
    keeper = CellKeeper(tmp_path, answers.put)
    keeper.start()
    keeper.save("model", "talk", CELLS)
    keeper.read(1, "expert", "model", "talk")
    assert answers.get(timeout=30).cells is None
    assert keeper.stop(30)
    assert not keeper.has("model", "talk")
