"""The memory bills in the right column: bars, figures, learned corrections, and layers that are not where asked."""

from dataclasses import replace

from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.load_record import LoadRecord, OffloadMiss
from layadesk.protocol.events import EngineStats, ExpertUse, ModelUnloaded
from layadesk.ui.monitor.memory_bills import MemoryBillCard
from layadesk.ui.widgets.memory_bill_bar import LEAST_PX, LOOKS, OTHERS
from tests.domain.memory_fit.facts import GIB
from tests.fakes.examples import PREDICTED, RECORD
from tests.ui.conftest import Stage
from tests.ui.test_monitor import GPU, publish, sample


def shown(stage: Stage, record: LoadRecord = RECORD) -> MemoryBillCard:
    stage.house.ledger.records["smol"] = record
    stage.house.ledger.feed.publish(record)
    stage.settle()
    (card,) = stage.window.panel.bills.cards()
    return card


def test_without_an_expert_in_memory_there_is_no_bill(stage: Stage) -> None:
    assert stage.window.panel.bills.isHidden()
    shown(stage)
    assert not stage.window.panel.bills.isHidden()
    stage.house.ledger.records.clear()
    stage.house.workers.models.publish(ModelUnloaded("smol"))
    stage.settle()
    assert stage.window.panel.bills.isHidden()


def test_each_device_has_predicted_reported_and_measured_one_below_the_other(stage: Stage) -> None:
    publish(stage, sample(gpus=(GPU,)))
    card = shown(stage)
    publish(stage, sample(1.0, gpus=(GPU,)))
    for device in ("CUDA0", CPU):
        bar = card.bar(device, "predicted")
        parts = dict(bar.parts())
        assert parts[LOOKS[next(iter(LOOKS))]] == PREDICTED.on(device).weights_bytes
        assert parts[OTHERS] > 0
        assert sum(bar.widths()) <= bar.width()
        assert min(bar.widths()) >= LEAST_PX
    assert sum(n for look, n in card.bar(CPU, "measured").parts() if look is not OTHERS) == GIB
    text = card.text()
    assert "6.0 GiB" in text
    assert "In the prediction: 256 MiB that earlier loads took beyond their bill" in text


def test_what_was_not_measured_reads_not_available_and_has_no_bar(stage: Stage) -> None:
    card = shown(stage, replace(RECORD, vram_bytes=None, predicted=None))
    assert card.text().count("n/a") == 3  # two predictions and the VRAM
    assert card.bar("CUDA0", "measured").parts() == ()


def test_layers_that_were_asked_for_and_are_not_on_the_gpu_are_said_with_the_reason(stage: Stage) -> None:
    card = shown(stage, replace(RECORD, layers_on_gpu=0, miss=OffloadMiss.NO_DEVICE))
    assert "CPU (asked GPU): llama.cpp found no GPU" in card.text()
    card = shown(stage, replace(RECORD, layers_on_gpu=20, miss=OffloadMiss.FEWER_LAYERS))
    assert "20 of 33 layers on the GPU" in card.text()
    assert "asked GPU" not in shown(stage).text()


def test_the_kv_cache_in_use_is_followed(stage: Stage) -> None:
    card = shown(stage)
    use = ExpertUse("smol", 1, 0, kv_used=2100, kv_kept=300, kv_size=8192, size_bytes=None, idle_s=0.0)
    stage.house.workers.stats.publish(EngineStats(1, 0, 2100, 8192, 0.0, 0.0, experts=(use,)))
    stage.settle()
    assert "KV cache: 2.1k of 8.2k tokens in use, 300 kept for a next turn" in card.text()
