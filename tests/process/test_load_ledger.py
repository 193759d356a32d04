"""A real load is written down beside its price: predicted, reported by llama.cpp, and measured."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.app import Desk, open_store
from layadesk.domain.memory_fit.bill import CPU, Basis
from layadesk.domain.memory_fit.load_record import LoadRecord
from layadesk.paths import DataPaths
from tests.fakes.answering import PATIENCE_S, TurnLog

pytestmark = pytest.mark.llama
LOAD_S = 60.0


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "data")
    desk.start()
    try:
        yield desk
    finally:
        desk.stop()


def test_a_load_is_kept_with_its_three_figures_and_still_there_after_a_restart(
    desk: Desk, tmp_path: Path, smol_gguf: Path
) -> None:
    use_cases = desk.use_cases
    log = TurnLog(use_cases.turns)
    told: list[LoadRecord] = []
    use_cases.ledger.feed.subscribe(told.append)
    installed = use_cases.experts.import_file(str(smol_gguf)).result(LOAD_S)
    use_cases.settings.set("sampling.max_tokens", 4)
    started = use_cases.send_message(use_cases.conversations.create(), "Hello").result(PATIENCE_S)
    assert log.ended(started.answer.message_id).message.text
    (record,) = told
    assert use_cases.ledger.in_memory() == {installed.model_id: record}
    desk.stop()
    store = open_store(DataPaths(tmp_path / "data"))
    try:
        assert store.load_records().result(PATIENCE_S) == (record,)
    finally:
        store.close()
    assert record.predicted is not None
    assert record.predicted.basis is Basis.DRY_RUN
    predicted, reported = record.predicted.on(CPU), record.reported_on(CPU)
    assert reported is not None
    assert (reported.weights_bytes, reported.kv_bytes) == (predicted.weights_bytes, predicted.kv_bytes)
    assert (reported.compute_bytes, reported.output_bytes) == (predicted.compute_bytes, predicted.output_bytes)
    measured = record.measured_on(CPU)
    assert measured is not None
    assert reported.weights_bytes + reported.kv_bytes <= measured * 1.05
    assert measured <= predicted.total_bytes
    assert record.miss is None
