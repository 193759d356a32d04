"""Several experts under one budget: who comes, who goes, who stays; and nothing is left behind."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.inference import FinishReason, LoadParams, TensorOverride
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend
from layadesk.engine.scripted_backend import ScriptedBackend
from layadesk.protocol.commands import LoadModel, UnloadModel
from layadesk.protocol.events import EngineStats, Failed, Loading, ModelLoaded, ModelUnloaded
from layadesk.protocol.scripted import ScriptedOptions
from tests.fakes.engine_running import GREEDY, RunningEngine, expert

Start = Callable[..., RunningEngine]
ECHO = ScriptedOptions(text=None)
SLOW = ScriptedOptions(text="0123456789" * 30, decode_tps=100)


def unloaded(engine: RunningEngine) -> list[str]:
    return [event.model_id for event in engine.events if isinstance(event, ModelUnloaded)]


def resident_bytes() -> int:
    """What this process has in RAM, the touched part of mapped files included."""
    return int(psutil.Process().memory_info().rss)


def priced(path: str, name: str, needs_bytes: int) -> ExpertSpec:
    """A scripted expert takes one byte a cell, and says so once it is loaded."""
    return replace(expert(path, model_id=name, n_ctx=needs_bytes), needs_bytes=needs_bytes)


def test_experts_stay_as_long_as_the_memory_allows_and_the_longest_unused_goes(
    start_engine: Start, any_file: str
) -> None:
    """Reported faults H05, H08."""
    specs = [priced(any_file, name, 400) for name in "abcd"]
    engine = start_engine(ScriptedBackend(ECHO), *specs, memory_bytes=1200, n_loaded_max=9)
    for name in "abca":
        engine.finished(engine.ask("x", model_id=name))
    assert unloaded(engine) == []
    engine.finished(engine.ask("x", model_id="d"))
    assert unloaded(engine) == ["b"]


def test_a_large_expert_takes_the_place_of_several_small_ones(start_engine: Start, any_file: str) -> None:
    specs = [*(priced(any_file, name, 400) for name in "abc"), priced(any_file, "large", 700)]
    engine = start_engine(ScriptedBackend(ECHO), *specs, memory_bytes=1200, n_loaded_max=9)
    for name in ["a", "b", "c", "large"]:
        engine.finished(engine.ask("x", model_id=name))
    assert unloaded(engine) == ["a", "b"]


@pytest.mark.logs_warnings
def test_an_expert_beyond_the_whole_budget_is_refused_with_both_numbers_and_the_others_go_on(
    start_engine: Start, any_file: str
) -> None:
    specs = [priced(any_file, "small", 400), priced(any_file, "huge", 5000)]
    engine = start_engine(ScriptedBackend(ECHO), *specs, memory_bytes=1200)
    error = engine.failed(engine.ask("x", model_id="huge")).error
    assert error.code is ErrorCode.OUT_OF_MEMORY
    assert (error.facts["needed"], error.facts["available"]) == (5000, 1200)
    engine.send(LoadModel("huge"))
    assert engine.wait(Failed, lambda event: event.request_id is None).error.code is ErrorCode.OUT_OF_MEMORY
    assert engine.finished(engine.ask("still here", model_id="small")).text == "still here"


def test_one_that_answers_is_not_unloaded_where_only_an_idle_one_was_meant(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(SLOW), expert(any_file))
    running = engine.ask(sampling=replace(GREEDY, max_tokens=30))
    engine.wait_text(running, 1)
    engine.send(UnloadModel("expert", only_idle=True))
    refused = engine.wait(Failed)
    assert (refused.error.code, refused.model_id, refused.request_id) == (ErrorCode.EXPERT_BUSY, "expert", None)
    assert engine.finished(running).finish_reason is FinishReason.LENGTH
    engine.send(UnloadModel("expert", only_idle=True))
    assert engine.wait(ModelUnloaded).model_id == "expert"


def test_one_that_is_being_loaded_is_busy_too(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(load_s=3600)), expert(any_file))
    engine.wait_for(engine.ask(), Loading)
    engine.send(UnloadModel("expert", only_idle=True))
    assert engine.wait(Failed).error.code is ErrorCode.EXPERT_BUSY


def test_an_idle_expert_goes_by_itself_after_its_time(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file), keep_alive_s=0.2)
    engine.finished(engine.ask("x"))
    assert engine.wait(ModelUnloaded).model_id == "expert"
    assert engine.finished(engine.ask("back again")).text == "back again"


def test_a_smaller_context_is_served_by_the_larger_one_in_memory(start_engine: Start, any_file: str) -> None:  # G10
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, n_ctx=2048))
    engine.finished(engine.ask("x"))
    engine.configure(expert(any_file, n_ctx=1024))
    assert engine.finished(engine.ask("y")).text == "y"
    assert sum(isinstance(event, ModelLoaded) for event in engine.events) == 1


def test_the_use_of_each_expert_is_told(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ECHO), expert(any_file, model_id="a"), expert(any_file, model_id="b"))
    engine.finished(engine.ask("x", model_id="a"))
    engine.finished(engine.ask("a longer question", model_id="b"))
    stats = engine.wait(EngineStats, lambda event: len(event.experts) == 2 and event.n_running == 0)
    uses = {one.model_id: one for one in stats.experts}
    assert uses["a"].kv_kept > 0
    assert uses["b"].kv_kept > uses["a"].kv_kept
    assert uses["a"].size_bytes == 1024
    assert uses["a"].kv_used == uses["b"].kv_used == 0
    assert uses["a"].idle_s >= uses["b"].idle_s


@pytest.mark.llama
@pytest.mark.logs_warnings
def test_a_device_that_is_not_there_is_refused_by_name(
    start_engine: Start, llama_backend: Backend, smol_gguf: Path
) -> None:
    for change in ({"devices": ("CUDA7",)}, {"tensor_overrides": (TensorOverride("ffn_.*", "CUDA7"),)}):
        engine = start_engine(llama_backend, expert(str(smol_gguf), **change))
        error = engine.failed(engine.ask()).error
        assert error.code is ErrorCode.BAD_PARAMETER
        assert error.facts["value"] == "CUDA7"


@pytest.mark.llama
def test_tensors_may_be_put_on_a_device_by_name(start_engine: Start, llama_backend: Backend, smol_gguf: Path) -> None:
    override = (TensorOverride("ffn_(up|down)", "CPU"),)
    engine = start_engine(
        llama_backend, expert(str(smol_gguf), n_ctx=256, n_cpu_moe=2, devices=("CPU",), tensor_overrides=override)
    )
    assert engine.finished(engine.ask(sampling=replace(GREEDY, max_tokens=4))).text


@pytest.mark.llama
def test_weights_that_are_repacked_for_the_processor_are_not_in_memory_twice(
    llama_backend: Backend, smol_gguf: Path
) -> None:
    def private_bytes(*, use_mmap: bool | None) -> int:
        before = resident_bytes()
        loaded = llama_backend.load(
            ExpertSpec("e", str(smol_gguf), LoadParams(n_ctx=256, use_mmap=use_mmap)), lambda _fraction: True
        )
        after = resident_bytes()
        loaded.close()
        return after - before

    private_bytes(use_mmap=None)
    assert private_bytes(use_mmap=None) <= private_bytes(use_mmap=True) + 16 * 2**20


@pytest.mark.llama
def test_loading_and_unloading_again_and_again_leaves_nothing_behind(
    llama_backend: Backend, smol_gguf: Path, gemma_gguf: Path
) -> None:
    """Reported faults H11, H12."""
    paths = [str(smol_gguf), str(smol_gguf), str(gemma_gguf)]

    def cycle(n: int) -> None:
        spec = ExpertSpec("e", paths[n % 3], LoadParams(n_ctx=256 * (1 + n % 2), n_parallel=2, n_kept=n % 3))
        llama_backend.load(spec, lambda _fraction: True).close()

    for n in range(3):
        cycle(n)
    before = resident_bytes()
    for n in range(6):
        cycle(n)
    assert resident_bytes() - before < 64 * 2**20
