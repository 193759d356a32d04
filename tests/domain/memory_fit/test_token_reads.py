"""The ceiling's arithmetic, against llama.cpp's own sizes of three models."""

from pathlib import Path

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from layadesk.domain.memory_fit.token_reads import Ceiling, DeviceReads, gained_ms, reads_of
from layadesk.model_library.gguf_header import read_header
from layadesk.model_library.model_facts import model_facts
from tests.fakes.gguf_models import seeded_mixture

CPU_ONLY = LoadParams(n_gpu_layers=0)


def two_layers(kind: LayerKind = LayerKind.FULL) -> ModelFacts:
    layer = LayerFacts(kind, 1000, moe_bytes=800, k_row=32, v_row=32, state_elements=5)
    return ModelFacts("x", 32, 100, 4096, (layer, layer), 500, 300, n_expert=8, n_expert_used=2, n_swa=64)


def test_a_token_reads_the_active_part_and_the_cache_of_those_before_it() -> None:
    (cpu,) = reads_of(two_layers(), CPU_ONLY, n_past=100)
    assert cpu == DeviceReads("CPU", 2 * (200 + 800 * 2 // 8) + 300, 2 * 100 * (64 + 64))


def test_windows_are_read_as_far_as_they_reach_and_states_once() -> None:
    assert reads_of(two_layers(LayerKind.WINDOW), CPU_ONLY, n_past=100)[0].kv_bytes == 2 * 64 * 128
    assert reads_of(two_layers(LayerKind.WINDOW), CPU_ONLY, n_past=10)[0].kv_bytes == 2 * 10 * 128
    assert reads_of(two_layers(LayerKind.RECURRENT), CPU_ONLY, n_past=100)[0].kv_bytes == 2 * 5 * 4


def test_layers_and_moe_experts_are_read_where_they_are_placed() -> None:
    gpu, cpu = reads_of(two_layers(), LoadParams(n_gpu_layers=2), n_past=0, gpu="CUDA0")  # one layer and the output
    assert (gpu.weights_bytes, cpu.weights_bytes) == (400 + 300, 400)
    gpu, cpu = reads_of(two_layers(), LoadParams(n_cpu_moe=1), n_past=10, gpu="CUDA0")
    assert (gpu.weights_bytes, cpu.weights_bytes) == (200 + 400 + 300, 200)
    assert (gpu.kv_bytes, cpu.kv_bytes) == (2 * 10 * 128, 0)


def test_devices_take_their_turns_and_an_unknown_bandwidth_makes_the_ceiling_unknown() -> None:
    reads = (DeviceReads("CUDA0", 800, 200), DeviceReads("CPU", 100, 0))
    both = Ceiling(reads, {"CUDA0": 10_000.0, "CPU": 1000.0})
    assert both.tokens_per_s == pytest.approx(5.0)
    assert both.reached(2.5) == pytest.approx(0.5)
    assert both.reached(None) is None
    assert Ceiling(reads, {"CPU": 1000.0}).tokens_per_s is None
    assert Ceiling((reads[1], DeviceReads("CUDA0", 0, 0)), {"CPU": 1000.0}).tokens_per_s == pytest.approx(10.0)


def test_what_moves_to_a_faster_device_is_gained() -> None:
    before, after = [DeviceReads("CPU", 1000, 0)], [DeviceReads("CPU", 500, 0), DeviceReads("CUDA0", 500, 0)]
    bandwidths = {"CPU": 1e6, "CUDA0": 1e7}
    assert gained_ms(before, after, bandwidths) == pytest.approx(0.45)
    assert gained_ms(before, after, {"CPU": 1e6}) is None


@pytest.mark.llama
@pytest.mark.parametrize("model", ["smol", "gemma", "moe"])
def test_the_weights_are_those_that_llama_cpp_counts(
    request: pytest.FixtureRequest, tmp_path: Path, model: str
) -> None:
    """SmolLM2 and the MoE tie their output, Gemma has none of its own either: all but idle MoE experts is read."""
    path = seeded_mixture(tmp_path / "moe.gguf") if model == "moe" else request.getfixturevalue(f"{model}_gguf")
    facts = model_facts(read_header(path))
    moe_bytes = 8 * 3 * 32 * 128 * 64 * 2 if model == "moe" else 0  # layers, matrices, MoE experts, their shape, f16
    size = _llama_model_size(path)
    assert facts.weights_bytes == size
    assert facts.moe_bytes == moe_bytes
    (cpu,) = reads_of(facts, CPU_ONLY, n_past=0)
    assert cpu.weights_bytes == size - moe_bytes * 28 // 32


@pytest.mark.llama
def test_the_cache_that_is_read_is_the_part_of_llama_cpps_own_that_is_filled(smol_gguf: Path) -> None:
    """45 MiB for 2048 cells (30 layers of 3 heads of 64, f16, K and V)."""
    (cpu,) = reads_of(model_facts(read_header(smol_gguf)), CPU_ONLY, n_past=2048)
    assert cpu.kv_bytes == 45 * 2**20


def _llama_model_size(path: Path) -> int:
    from llama_cpp import llama_cpp as low

    params = low.llama_model_default_params()
    params.n_gpu_layers = 0
    model = low.llama_model_load_from_file(str(path).encode(), params)
    size = low.llama_model_size(model)
    low.llama_model_free(model)
    return int(size)
