"""The bill by arithmetic, the bill from llama.cpp without weights, and what the real load reports: one and the same."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import bill_of, with_overhead
from layadesk.domain.memory_fit.bill import CPU, Basis, MemoryBill
from layadesk.engine.llama_dry_run import DryRun
from layadesk.engine.llama_library import LlamaLibrary
from layadesk.model_library.gguf_header import read_header
from layadesk.model_library.model_facts import model_facts
from tests.fakes import gguf_models
from tests.fakes.gguf_models import Shape

pytestmark = pytest.mark.llama

GRID = tuple(
    LoadParams(n_ctx=n_ctx, type_k=kv, type_v=kv, n_parallel=n_parallel)
    for n_ctx in (2048, 8192)
    for kv in ("f16", "q8_0", "q4_0")
    for n_parallel in (1, 4)
)
MODELS: dict[str, Callable[[Path], Path]] = {
    "llama": gguf_models.llama,
    "llama with an output of its own": lambda path: gguf_models.llama(path, is_tied=False),
    "qwen3": lambda path: gguf_models.llama(path, architecture="qwen3"),
    "gemma3 with sliding windows": lambda path: gguf_models.llama(path, Shape(n_layer=12), architecture="gemma3"),
    "a mixture of experts": gguf_models.mixture,
    "lfm2, hybrid": gguf_models.short_convolution,
    "qwen3.5, hybrid": gguf_models.delta_net,
    "qwen3.5 with a draft head": lambda path: gguf_models.delta_net(path, n_draft=1),
}


@pytest.fixture(scope="module")
def library() -> LlamaLibrary:
    return LlamaLibrary()


def by_arithmetic(path: Path, params: LoadParams) -> MemoryBill:
    return bill_of(model_facts(read_header(path)), params)


def differences(library: LlamaLibrary, path: Path, grid: tuple[LoadParams, ...]) -> list[tuple[LoadParams, str]]:
    """Where the arithmetic and llama.cpp do not agree to the byte."""
    dry_run = DryRun(library, str(path))
    found = []
    for params in grid:
        ours, theirs = by_arithmetic(path, params).on(CPU), dry_run.price(params).on(CPU)
        for name in ("weights_bytes", "kv_bytes", "compute_bytes", "output_bytes"):
            if getattr(ours, name) != getattr(theirs, name):
                found.append((params, f"{name} {getattr(ours, name)} is not {getattr(theirs, name)}"))
    dry_run.close()
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_arithmetic_equals_llama_cpp_to_the_byte(name: str, library: LlamaLibrary, tmp_path: Path) -> None:
    assert not differences(library, MODELS[name](tmp_path / "x.gguf"), GRID)


@pytest.mark.parametrize(
    "change",
    [
        LoadParams(flash_attn="off"),
        LoadParams(n_ubatch=64),
        LoadParams(n_ubatch=512, n_parallel=8, n_kept=0),
        LoadParams(n_ctx=300),
    ],
    ids=["no flash attention", "a small step", "many sequences", "a context that is no multiple of 256"],
)
def test_it_does_so_for_other_parameters_too(change: LoadParams, library: LlamaLibrary, tmp_path: Path) -> None:
    for name, make in MODELS.items():
        assert not differences(library, make(tmp_path / "x.gguf"), (change,)), name


def test_windows_that_are_not_kept_whole_cost_less(library: LlamaLibrary, tmp_path: Path) -> None:
    path = gguf_models.llama(tmp_path / "x.gguf", Shape(n_layer=12), architecture="gemma3")
    params = LoadParams(n_ctx=8192, swa_full=False)
    assert not differences(library, path, (params,))
    assert by_arithmetic(path, params).total_bytes < by_arithmetic(path, replace(params, swa_full=True)).total_bytes


def test_real_models_are_priced_to_the_byte(library: LlamaLibrary, smol_gguf: Path, gemma_gguf: Path) -> None:
    for path in (smol_gguf, gemma_gguf):
        assert not differences(library, path, GRID)


def test_the_real_load_reports_what_the_dry_run_said(library: LlamaLibrary, tmp_path: Path) -> None:
    for name, make in MODELS.items():
        path = make(tmp_path / "x.gguf")
        said = DryRun(library, str(path)).price(LoadParams(n_ctx=2048))
        loaded = DryRun(library, str(path), allocates=True)
        reported = loaded.price(LoadParams(n_ctx=2048))
        loaded.fill()
        loaded.close()
        assert reported.devices == said.devices, name
        assert (reported.basis, said.basis) == (Basis.REPORTED, Basis.DRY_RUN)


def test_a_bill_of_buffers_gets_overhead_and_margin(library: LlamaLibrary, tmp_path: Path) -> None:
    path = gguf_models.llama(tmp_path / "x.gguf")
    bare = DryRun(library, str(path)).price(LoadParams())
    whole = with_overhead(bare, n_vocab=1000)
    assert bare.on(CPU).overhead_bytes == bare.on(CPU).margin_bytes == 0
    assert replace(whole, basis=Basis.ARITHMETIC) == by_arithmetic(path, LoadParams())
