"""Layers on a device for real, without a graphics card: ggml's Vulkan backend on Mesa's software device.

`python packaging/vulkan_module.py` builds the module; without it, or without the device, these tests are skipped.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.model_library.gguf_header import read_header
from layadesk.model_library.model_facts import model_facts
from layadesk.protocol.dry_run import Priced
from layadesk.protocol.options import BACKEND_MODULES
from layadesk.workers.dry_runner import DryRunner
from setup_steps.vulkan_module import module_path
from tests.fakes import gguf_models
from tests.fakes.gguf_models import Shape

pytestmark = pytest.mark.llama
DEVICE = "Vulkan0"
MODULE = Path(os.environ.get(BACKEND_MODULES) or module_path(Path(__file__).resolve().parents[2]))
PARAMS = LoadParams(n_ctx=512, n_ubatch=32, n_parallel=1, n_kept=1)
LONG = LoadParams(n_ctx=4096, n_parallel=2, n_kept=4)
N_LAYERS = 4  # three, and the output
PINNED_ALIGNMENT = 64  # host memory that the device sees begins at such a multiple; a dry run has no memory to align
SMALL = Shape(n_embd=256, n_head=4, n_ff=512)
Make = Callable[[Path], Path]


def dense(path: Path) -> Path:
    """A llama of three layers."""
    return gguf_models.llama(path, SMALL)


def mixture(path: Path) -> Path:
    """Three layers of eight MoE experts."""
    return gguf_models.mixture(path, SMALL, n_expert=8, n_ff=128)


CASES: dict[str, tuple[Make, LoadParams, int]] = {  # the model, its parameters, the layers that must be on the device
    "no layer": (dense, replace(PARAMS, n_gpu_layers=0), 0),
    "one layer": (dense, replace(PARAMS, n_gpu_layers=1), 1),
    "two layers": (dense, replace(PARAMS, n_gpu_layers=2), 2),
    "all layers": (dense, PARAMS, N_LAYERS),
    "MoE, all layers": (mixture, PARAMS, N_LAYERS),
    "MoE, the experts of one layer on the CPU": (mixture, replace(PARAMS, n_cpu_moe=1), N_LAYERS),
    "MoE, all experts on the CPU": (mixture, replace(PARAMS, n_cpu_moe=3), N_LAYERS),
}


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DryRunner:
    """Children that have the device."""
    if not MODULE.is_file():
        pytest.skip(f"no {MODULE}: python packaging/vulkan_module.py builds it")
    monkeypatch.setenv(BACKEND_MODULES, str(MODULE))
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")  # software devices are left out unless they are named
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(MODULE.parent / "shaders"))  # compiling them takes a minute
    made = DryRunner(tmp_path)
    names = [one.device for one in made.look_at_devices()]
    if DEVICE not in names:
        pytest.skip(f"llama.cpp sees no Vulkan device, only {', '.join(names)}: is Mesa's Vulkan driver installed?")
    return made


def bill_in(answer: object) -> MemoryBill:
    assert isinstance(answer, Priced), answer
    return answer.bill


@pytest.mark.parametrize("name", CASES)
def test_the_bill_per_device_is_what_the_real_load_reports(name: str, runner: DryRunner, tmp_path: Path) -> None:
    make, params, n_on_device = CASES[name]
    path = str(make(tmp_path / "a.gguf"))
    (answer,) = runner.price(path, (params,))
    said, reported = bill_in(answer), bill_in(runner.load_in_earnest(path, params))
    assert (said.basis, reported.basis) == (Basis.DRY_RUN, Basis.REPORTED)
    assert said.n_gpu_layers == reported.n_gpu_layers == n_on_device
    assert said.on(DEVICE) == reported.on(DEVICE)
    assert (said.on(DEVICE).weights_bytes > 0) is (n_on_device > 0)
    for item, n_bytes in reported.on(CPU).items:
        assert 0 <= n_bytes - dict(said.on(CPU).items)[item] < PINNED_ALIGNMENT, item


@pytest.mark.parametrize("name", CASES)
def test_the_arithmetic_puts_weights_and_kv_where_llama_cpp_puts_them(
    name: str, runner: DryRunner, tmp_path: Path
) -> None:
    make, params, n_on_device = CASES[name]
    path = make(tmp_path / "a.gguf")
    (answer,) = runner.price(str(path), (params,))
    said, ours = bill_in(answer), bill_of(model_facts(read_header(path)), params, Gpu(DEVICE))
    assert ours.n_gpu_layers == n_on_device
    for device in (DEVICE, CPU):
        for what in ("weights_bytes", "kv_bytes", "output_bytes"):
            assert getattr(ours.on(device), what) == getattr(said.on(device), what), (device, what)


ARCHITECTURES: dict[str, Make] = {
    "llama": lambda path: gguf_models.llama(path, Shape(n_layer=5), is_tied=False),
    "qwen3": lambda path: gguf_models.llama(path, Shape(n_layer=20), architecture="qwen3"),
    "gemma3 with sliding windows": lambda path: gguf_models.llama(path, Shape(n_layer=12), architecture="gemma3"),
    "a mixture of experts": lambda path: gguf_models.mixture(path, Shape(n_layer=4)),
    "lfm2, hybrid": gguf_models.short_convolution,
    "qwen3.5, hybrid": gguf_models.delta_net,
}


def placements(n_layer: int, *, is_mixture: bool) -> list[LoadParams]:
    """All, most, half and one of the layers on the device, or MoE experts elsewhere, with several contexts."""
    places = [(n, 0) for n in (-1, n_layer, n_layer // 2, 1)]
    places += [(-1, n) for n in (1, n_layer)] if is_mixture else []
    contexts = (
        LONG,
        replace(LONG, n_ctx=16384, type_k="q8_0", type_v="q8_0"),
        replace(LONG, n_ubatch=64, n_parallel=4),
        replace(LONG, flash_attn="off"),
        replace(LONG, swa_full=False, type_k="q4_0", type_v="q4_0"),
    )
    return [replace(one, n_gpu_layers=n, n_cpu_moe=n_moe) for one in contexts for n, n_moe in places]


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_arithmetic_finds_the_compute_buffers_of_any_placement(
    name: str, runner: DryRunner, tmp_path: Path
) -> None:
    """Matrices, keys and values of layers in RAM are copied into the device's buffer, which makes it larger."""
    path = ARCHITECTURES[name](tmp_path / "a.gguf")
    facts = model_facts(read_header(path))
    wanted = tuple(placements(len(facts.layers), is_mixture=facts.moe_bytes > 0))
    for params, answer in zip(wanted, runner.price(str(path), wanted), strict=True):
        said, ours = bill_in(answer), bill_of(facts, params, Gpu(DEVICE))
        for device in (DEVICE, CPU):
            theirs = said.on(device).compute_bytes
            assert ours.on(device).compute_bytes == pytest.approx(theirs, rel=0.001, abs=1024), (device, params)


def test_without_a_layer_on_it_a_device_takes_no_memory(runner: DryRunner, tmp_path: Path) -> None:
    path = dense(tmp_path / "a.gguf")
    (answer,) = runner.price(str(path), (replace(PARAMS, n_gpu_layers=0),))
    assert bill_in(answer).on(DEVICE) == DeviceBill(DEVICE)
