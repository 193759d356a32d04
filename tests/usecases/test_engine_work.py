"""What the engine is at, as samples of the machine tell it."""

from types import MappingProxyType
from typing import cast

import pytest

from layadesk.domain.hardware import EngineWork
from layadesk.domain.inference import LoadParams, MemoryUse
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.domain.worker_state import WorkerKind, WorkerState, WorkerStatus
from layadesk.protocol.events import EngineStats
from layadesk.protocol.feed import Feed
from layadesk.usecases.engine_work import EngineWorkWatch
from layadesk.workers.engine_client import EngineClient


class FakeEngine:
    """As much of the client as is asked."""

    def __init__(self) -> None:
        self.stats_feed: Feed[EngineStats] = Feed()
        self.status = WorkerStatus(WorkerKind.ENGINE, WorkerState.READY)
        self.is_loading = False
        self.loaded: MappingProxyType[str, LoadedModel] = MappingProxyType({})
        self.use_mmap = True

    def spec(self, model_id: str) -> ExpertSpec | None:
        return ExpertSpec(model_id, f"/models/{model_id}.gguf", LoadParams(use_mmap=self.use_mmap))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def watch(engine: FakeEngine) -> EngineWorkWatch:
    return EngineWorkWatch(cast("EngineClient", engine))


def in_memory(model_id: str, n_gpu_layers: int) -> MappingProxyType[str, LoadedModel]:
    one = LoadedModel(model_id, "llama", 2048, 2048, 30, n_gpu_layers, 100, 1, 5.0, "gguf", MemoryUse())
    return MappingProxyType({model_id: one})


def test_an_engine_that_does_nothing_is_not_busy(watch: EngineWorkWatch) -> None:
    assert watch.now() == EngineWork()
    assert not watch.now().is_busy
    assert watch.weight_files() == ()


def test_speed_comes_from_the_engine_and_goes_with_it(engine: FakeEngine, watch: EngineWorkWatch) -> None:
    engine.stats_feed.publish(EngineStats(1, 2, 10, 100, 500.0, 61.0))
    assert watch.now() == EngineWork(n_running=1, n_waiting=2, prefill_tps=500.0, decode_tps=61.0)
    assert watch.now().is_busy
    engine.status = WorkerStatus(WorkerKind.ENGINE, WorkerState.WAITING)
    assert watch.now() == EngineWork()


def test_a_load_is_work(engine: FakeEngine, watch: EngineWorkWatch) -> None:
    engine.is_loading = True
    assert watch.now().is_busy


@pytest.mark.parametrize(("n_gpu_layers", "reads"), [(0, True), (20, True), (30, False)])
def test_an_expert_with_layers_on_the_cpu_reads_its_mapped_file(
    engine: FakeEngine, watch: EngineWorkWatch, n_gpu_layers: int, reads: bool
) -> None:
    engine.loaded = in_memory("smol", n_gpu_layers)
    assert watch.weight_files() == ("/models/smol.gguf",)
    assert watch.now().reads_mapped_weights is reads
    engine.loaded = MappingProxyType({})
    assert watch.weight_files() == ()


def test_weights_that_were_copied_are_in_no_file(engine: FakeEngine, watch: EngineWorkWatch) -> None:
    engine.use_mmap = False
    engine.loaded = in_memory("smol", 0)
    assert watch.weight_files() == ()
    assert not watch.now().reads_mapped_weights
