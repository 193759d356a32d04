"""Which layers' MoE experts earn a place on the GPU."""

from dataclasses import replace

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of, moe_layers_in_ram
from layadesk.domain.memory_fit.machine import GIB, GpuMemory, MachineMemory
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from layadesk.domain.memory_fit.moe_placement import hot_layers_on_gpu, layers_by_heat, moe_override
from layadesk.domain.memory_fit.plans import PlanKind, Task
from layadesk.domain.memory_fit.token_reads import gained_ms, reads_of
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, MoeShape

LAYER = LayerFacts(LayerKind.FULL, 1 * GIB, moe_bytes=900 * 2**20, n_head=8, head_k=64, head_v=64, k_row=128, v_row=128)
FACTS = ModelFacts("qwen3moe", 512, 1000, 8192, (LAYER,) * 4, 10**6, 10**6, n_expert=4, n_expert_used=2, n_ff_expert=64)
# Layer 2 spreads over all four, layer 0 over three, layer 3 keeps to two, layer 1 was hardly even.
RECORD = MoeRecord(
    MoeShape(4, 2), (0, 1, 2, 3), decode=MoeCounts((3,) * 4, (2, 2, 2, 0, 4, 1, 1, 0, 2, 2, 1, 1, 3, 3, 0, 0))
)
IN_RAM = LoadParams(n_ctx=512, n_cpu_moe=4, n_ubatch=64)


def task(free_gib: float) -> Task:
    gpu = GpuMemory("CUDA0", "x", total_bytes=24 * GIB, free_bytes=round(free_gib * GIB))
    machine = MachineMemory(64 * GIB, 48 * GIB, (gpu,))
    return Task(lambda params: bill_of(FACTS, params, Gpu("CUDA0")), machine, IN_RAM, n_layers=5, has_moe_experts=True)


def test_hot_is_what_reads_much_and_spreads_it() -> None:
    assert layers_by_heat(FACTS, RECORD) == (2, 0, 1, 3)


def test_as_many_of_the_hottest_layers_go_to_the_gpu_as_fit() -> None:
    base = bill_of(FACTS, IN_RAM, Gpu("CUDA0")).devices[0]
    reserve = 2.0  # of 24 GiB, 8 % stay free
    room = sum(n for _, n in base.items) / GIB + reserve
    assert hot_layers_on_gpu(task(room + 0.5), FACTS, RECORD) is None
    one = hot_layers_on_gpu(task(room + 1.1), FACTS, RECORD)
    assert one is not None
    assert one.layers == (2,)
    assert one.plan.kind is PlanKind.HOT_MOE_ON_GPU
    assert moe_layers_in_ram(one.plan.params, 4) == {0, 1, 3}
    assert one.moved_bytes == LAYER.moe_bytes
    all_of_them = hot_layers_on_gpu(task(20), FACTS, RECORD)
    assert all_of_them is not None
    assert all_of_them.layers == (0, 1, 2, 3)
    assert all_of_them.plan.params.tensor_overrides == ()
    assert all_of_them.plan.params.n_cpu_moe == 0


def test_an_override_is_priced_and_read_as_the_layers_it_names() -> None:
    named = replace(IN_RAM, n_cpu_moe=0, tensor_overrides=(moe_override([0, 1]),))
    first = replace(IN_RAM, n_cpu_moe=2)
    assert bill_of(FACTS, named, Gpu("CUDA0")) == bill_of(FACTS, first, Gpu("CUDA0"))
    assert reads_of(FACTS, named, n_past=5, gpu="CUDA0") == reads_of(FACTS, first, n_past=5, gpu="CUDA0")
    assert moe_layers_in_ram(replace(named, tensor_overrides=(moe_override([1, 11]),)), 4) == {1}


def test_the_gain_is_what_no_longer_comes_from_ram() -> None:
    placed = hot_layers_on_gpu(task(20), FACTS, RECORD)
    assert placed is not None
    before = reads_of(FACTS, IN_RAM, n_past=0, gpu="CUDA0")
    after = reads_of(FACTS, placed.plan.params, n_past=0, gpu="CUDA0")
    bytes_moved = 4 * LAYER.moe_bytes // 2
    rates = {"CPU": 40e9, "CUDA0": 400e9}
    assert gained_ms(before, after, rates) == pytest.approx(1000 * bytes_moved * (1 / 40e9 - 1 / 400e9), rel=1e-6)


def test_without_layers_on_the_gpu_nothing_is_moved() -> None:
    on_cpu = replace(task(20), wish=replace(IN_RAM, n_gpu_layers=0))
    assert hot_layers_on_gpu(on_cpu, FACTS, RECORD) is None
