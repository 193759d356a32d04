"""What users of other programs have reported about memory estimates; each case is named after the report's row.

Rows that need a device, a process or a window are tested where these are: A04, A09, A28, B01 to B07 in tests/process
and tests/usecases, A07 and A34 in tests/ui, A32 in tests/telemetry. A26, A27 and C07 need a real card: layers that are
asked for and not there are told by `offload_miss`, and the VRAM of each load is measured.
"""

from dataclasses import fields, replace

import pytest

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.bill import CPU, Basis, MemoryBill
from layadesk.domain.memory_fit.machine import GpuMemory, MachineMemory, MemoryKind
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import PlanKind, Task, most_gpu_layers, outlook
from layadesk.domain.memory_fit.verdict import Verdict, judge
from tests.domain.memory_fit.facts import GIB, MIB, dense

MOE = dense(n_layer=30, layer_bytes=540 * MIB, moe_bytes=500 * MIB)


def card(free: float, total: float) -> GpuMemory:
    return GpuMemory("CUDA0", "a card", total_bytes=int(total * GIB), free_bytes=int(free * GIB))


def integrated(carve_out: float, gtt: float) -> GpuMemory:
    sizes = int(carve_out * GIB), int(gtt * GIB)
    return GpuMemory("Vulkan0", "780M", MemoryKind.UNIFIED, sizes[0], sizes[0], sizes[1], sizes[1])


def task(facts: ModelFacts, machine: MachineMemory, wish: LoadParams | None = None) -> Task:
    gpu = None if machine.gpu is None else Gpu(machine.gpu.device)
    has_moe = facts.moe_bytes > 0
    return Task(lambda p: bill_of(facts, p, gpu), machine, wish or LoadParams(), len(facts.layers) + 1, has_moe)


def test_a03_weights_on_a_gpu_with_a_large_carve_out_are_judged_by_it_and_not_by_ram() -> None:
    machine = MachineMemory(32 * GIB, 22 * GIB, (integrated(96, 1),))
    model = dense(n_layer=64, layer_bytes=240 * MIB)  # 15.9 GB
    assert outlook(task(model, machine)).verdict is Verdict.FITS


def test_a05_a_mixture_with_all_its_context_on_8_gb_is_refused_with_ways_out() -> None:
    machine = MachineMemory(32 * GIB, 26 * GIB, (card(7.2, 8),))
    found = outlook(task(MOE, machine, LoadParams(n_ctx=131072)))
    assert found.verdict in (Verdict.REFUSE, Verdict.NEEDS_OFFLOAD)
    assert not found.asked.judgement.may_load
    assert PlanKind.SMALLER_CONTEXT in {plan.kind for plan in found.plans}
    assert all(plan.judgement.may_load for plan in found.plans)
    shorter = outlook(task(MOE, machine, LoadParams(n_ctx=8192)))
    assert {PlanKind.MOE_ON_CPU, PlanKind.FEWER_GPU_LAYERS} <= {plan.kind for plan in shorter.plans}


def test_a08_eyes_or_ears_are_in_the_sum_that_is_judged() -> None:
    machine = MachineMemory(64 * GIB, 40 * GIB, (card(8, 10),))
    bill = bill_of(dense(), LoadParams(), Gpu("CUDA0"))
    assert judge(bill, machine).may_load
    assert judge(bill.with_mmproj(7 * GIB), machine).verdict is Verdict.REFUSE


def test_a10_the_compute_buffer_is_in_what_is_needed() -> None:
    bill = bill_of(dense(), LoadParams(n_ctx=32768, flash_attn="off"), Gpu("CUDA0"))
    (judged, _) = judge(bill, MachineMemory(64 * GIB, 40 * GIB, (card(15.4, 16),))).devices
    assert bill.on("CUDA0").compute_bytes > 2 * GIB
    assert judged.needed_bytes == bill.on("CUDA0").total_bytes > bill.on("CUDA0").buffers_bytes


def test_a11_fewer_layers_go_to_the_gpu_where_the_context_is_longer() -> None:
    machine = MachineMemory(64 * GIB, 40 * GIB, (card(4, 8),))
    layers = []
    for n_ctx in (2048, 8192, 32768):
        plan = most_gpu_layers(task(dense(), machine), LoadParams(n_ctx=n_ctx))
        layers.append(0 if plan is None else plan.bill.n_gpu_layers)
    assert layers[0] > layers[1] > layers[2] > 0


def test_a12_a_plan_pays_for_its_whole_context_and_not_only_for_the_load() -> None:
    machine = MachineMemory(64 * GIB, 40 * GIB, (card(6, 8),))
    for plan in outlook(task(dense(), machine, LoadParams(n_ctx=16384))).plans:
        row = 2 * {"f16": 256, "q8_0": 136, "q4_0": 72}[plan.params.type_k] * 8  # keys and values of 8 heads
        kv = sum(device.kv_bytes for device in plan.bill.devices)
        assert kv == 32 * row * plan.params.n_ctx


def test_a16_where_no_price_can_be_told_nothing_is_loaded_by_itself() -> None:
    machine = MachineMemory(64 * GIB, 40 * GIB)
    found = outlook(Task(lambda _: MemoryBill((), 0, 1, Basis.UNKNOWN), machine, LoadParams(), 1))
    assert (found.verdict, found.automatic) == (Verdict.UNKNOWN, None)


def test_a23_swap_is_no_capacity() -> None:
    assert not [field.name for field in fields(MachineMemory) if "swap" in field.name]
    assert outlook(task(dense(n_layer=48, layer_bytes=300 * MIB), MachineMemory(16 * GIB, 10 * GIB))).plans == ()


def test_a25_a_card_that_would_be_nearly_full_is_called_tight() -> None:
    model = dense(n_layer=40, layer_bytes=340 * MIB)
    needed = bill_of(model, LoadParams(), Gpu("CUDA0")).on("CUDA0").total_bytes
    machine = MachineMemory(64 * GIB, 40 * GIB, (card((needed + 500 * MIB) / GIB, 16),))
    assert outlook(task(model, machine)).verdict is Verdict.TIGHT


@pytest.mark.parametrize(
    ("carve_out", "gtt", "pool_mib"),
    [
        (0.5, 7648 / 1024, 8160),  # C01, C03, C04, C08, C22, C23
        (0.5, 120, 123392),  # C02
        (2, 6, 8192),  # C09: no carve-out is too small
        (1, 15, 16384),  # C18
        (16, 8, 24576),  # C05
    ],
)
def test_c_the_pool_of_an_integrated_gpu_is_carve_out_and_shared_memory(
    carve_out: float, gtt: float, pool_mib: int
) -> None:
    gpu = integrated(carve_out, gtt)
    machine = MachineMemory(128 * GIB, 125 * GIB, (gpu,))
    assert machine.pool_free_bytes(gpu) == machine.pool_total_bytes(gpu) == pool_mib * MIB
    assert machine.gpu is gpu  # C10, B13: it is used where there is no other


def test_c21_what_an_integrated_gpu_takes_of_the_ram_is_refused_before_ram_is_full() -> None:
    gpu = integrated(0.5, 33)
    machine = MachineMemory(34 * GIB, 9 * GIB, (gpu,))
    model = dense(n_layer=40, layer_bytes=240 * MIB)
    found = outlook(task(model, machine))
    assert found.verdict is Verdict.REFUSE
    judged = {one.device: one for one in found.asked.judgement.devices}
    assert judged[CPU].needed_bytes > judged["Vulkan0"].needed_bytes - GIB
    assert outlook(replace(task(model, machine), machine=replace(machine, ram_available_bytes=28 * GIB))).plans
