"""The verdict and the ways out, on machines and models of all sizes."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.bill import CPU, BillItem
from layadesk.domain.memory_fit.machine import GpuMemory, MachineMemory, MemoryKind, gpu_reserve_bytes
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import PlanKind, Resident, Task, default_wish, most_gpu_layers, outlook
from layadesk.domain.memory_fit.speed import SpeedClass
from layadesk.domain.memory_fit.verdict import Verdict, judge
from tests.domain.memory_fit.facts import GIB, MIB, dense

SMALL = dense(n_layer=4, n_embd=512, n_head=8, n_head_kv=2, head=64, n_ff=1024, n_vocab=1000, layer_bytes=4 * MIB)


def card(free_gib: float, total_gib: float | None = None, device: str = "CUDA0") -> GpuMemory:
    total = int((total_gib or free_gib + 1) * GIB)
    return GpuMemory(device, "a card", total_bytes=total, free_bytes=int(free_gib * GIB))


def machine(ram_gib: float, *gpus: GpuMemory) -> MachineMemory:
    return MachineMemory(int((ram_gib + 2) * GIB), int(ram_gib * GIB), gpus)


def task(facts: ModelFacts, where: MachineMemory, wish: LoadParams | None = None, *residents: Resident) -> Task:
    gpu = None if where.gpu is None else Gpu(where.gpu.device)
    return Task(
        lambda params: bill_of(facts, params, gpu),
        where,
        wish or LoadParams(),
        n_layers=len(facts.layers) + 1,
        has_moe_experts=facts.moe_bytes > 0,
        residents=residents,
    )


def test_what_fits_is_loaded_as_asked() -> None:
    found = outlook(task(dense(), machine(32, card(22))))
    assert found.verdict is Verdict.FITS
    assert [plan.kind for plan in found.plans] == [PlanKind.AS_ASKED]
    assert found.automatic is not None


def test_a_refusal_has_three_numbers_and_names_the_largest_item() -> None:
    found = outlook(task(dense(), machine(2)))
    worst = found.asked.judgement.worst
    assert (found.verdict, worst.device, worst.largest) == (Verdict.REFUSE, CPU, BillItem.WEIGHTS)
    assert worst.available_bytes == 2 * GIB
    assert worst.missing_bytes == worst.needed_bytes + worst.reserve_bytes - 2 * GIB
    assert found.automatic is None


def test_where_the_card_is_too_small_some_layers_stay_on_the_cpu_without_asking() -> None:
    found = outlook(task(dense(), machine(16, card(3))))
    assert found.verdict is Verdict.NEEDS_OFFLOAD
    assert found.automatic is not None
    assert found.automatic.kind is PlanKind.FEWER_GPU_LAYERS
    assert 0 < found.automatic.bill.n_gpu_layers < 33


def test_where_only_the_context_is_too_long_the_choice_is_the_users() -> None:
    found = outlook(task(dense(), machine(32, card(9)), LoadParams(n_ctx=65536)))
    assert found.verdict is Verdict.REFUSE
    assert found.asked.judgement.worst.largest is BillItem.KV
    assert {PlanKind.SMALLER_CONTEXT, PlanKind.KV_Q4_0} <= {plan.kind for plan in found.plans}
    assert found.automatic is None


def test_moe_experts_go_to_the_cpu_before_whole_layers_do() -> None:  # reported faults A17, A21
    facts = dense(layer_bytes=400 * MIB, moe_bytes=360 * MIB)
    found = outlook(task(facts, machine(32, card(6))))
    kinds = {plan.kind: plan for plan in found.plans}
    assert kinds[PlanKind.MOE_ON_CPU].params.n_cpu_moe > 0
    assert kinds[PlanKind.MOE_ON_CPU].params.n_gpu_layers == -1
    assert kinds[PlanKind.MOE_ON_CPU].judgement.verdict is Verdict.FITS


def test_the_others_use_of_a_card_counts() -> None:  # reported fault A01
    crowded = replace(card(2, total_gib=32))
    assert outlook(task(dense(), machine(3, crowded))).verdict is Verdict.REFUSE


def test_an_idle_expert_is_evicted_only_where_that_is_needed_and_no_more_of_them() -> None:  # reported fault A15
    old, new = (Resident(name, {"CUDA0": 4 * GIB}, is_idle=True) for name in ("old", "new"))
    busy = Resident("busy", {"CUDA0": 9 * GIB}, is_idle=False)
    roomy = outlook(task(dense(), machine(32, card(22)), None, old, new))
    assert roomy.plans[0].evicts == ()
    full = outlook(task(dense(), machine(32, card(4.2, 24)), None, busy, old, new))
    assert full.automatic is not None
    assert (full.automatic.kind, full.automatic.evicts) == (PlanKind.EVICT, ("old",))


def test_memory_of_an_integrated_gpu_is_carve_out_and_shared_and_never_more_than_ram_has() -> None:
    gpu = GpuMemory("Vulkan0", "780M", MemoryKind.UNIFIED, 512 * MIB, 400 * MIB, 15 * GIB, 14 * GIB)
    assert machine(8, gpu).pool_free_bytes(gpu) == 400 * MIB + 8 * GIB  # reported faults A18, C01
    assert machine(32, gpu).pool_free_bytes(gpu) == 400 * MIB + 14 * GIB
    unknown = replace(gpu, shared_free_bytes=None, shared_total_bytes=None)
    assert machine(8, unknown).pool_free_bytes(unknown) == 400 * MIB + 8 * GIB  # 0 would mean "none" (C11)


def test_what_an_integrated_gpu_takes_of_the_ram_is_judged_as_ram() -> None:  # reported fault A22
    gpu = GpuMemory("Vulkan0", "780M", MemoryKind.UNIFIED, 512 * MIB, 512 * MIB, 60 * GIB, 60 * GIB)
    where = MachineMemory(64 * GIB, 6 * GIB, (gpu,))
    bill = bill_of(dense(), LoadParams(), Gpu("Vulkan0"))
    judged = {one.device: one for one in judge(bill, where).devices}
    assert judged[CPU].needed_bytes == bill.on(CPU).total_bytes + bill.on("Vulkan0").total_bytes - 512 * MIB
    assert judged[CPU].verdict is Verdict.REFUSE


def test_layers_go_to_the_discrete_card_and_are_not_split_over_an_integrated_one() -> None:  # reported fault B15
    integrated = GpuMemory("Vulkan0", "780M", MemoryKind.UNIFIED, 512 * MIB, 512 * MIB)
    assert machine(32, integrated, card(8)).gpu == card(8)


def test_what_nobody_knows_is_said_and_not_called_no() -> None:  # reported fault A04
    found = outlook(task(dense(), MachineMemory()))
    assert found.verdict is Verdict.UNKNOWN
    assert found.automatic is None
    assert found.asked.judgement.worst.available_bytes is None
    assert found.asked.judgement.worst.missing_bytes == 0


def test_a_large_expert_on_a_card_gets_two_full_contexts_with_small_keys_and_values() -> None:
    where = machine(32, card(23, 24))
    frugal = default_wish(weights_bytes=15 * GIB, machine=where, n_ctx=8192, n_parallel=4, base=LoadParams())
    assert (frugal.n_ctx, frugal.n_parallel, frugal.type_k, frugal.type_v) == (16384, 2, "q8_0", "q8_0")
    roomy = default_wish(weights_bytes=4 * GIB, machine=where, n_ctx=8192, n_parallel=4, base=LoadParams())
    assert (roomy.n_ctx, roomy.n_parallel, roomy.type_k) == (32768, 4, "f16")
    shared = default_wish(weights_bytes=4 * GIB, machine=machine(32), n_ctx=8192, n_parallel=4, base=LoadParams())
    assert (shared.n_ctx, shared.n_parallel, shared.type_k) == (8192, 4, "f16")


def test_a_large_expert_on_the_cpu_is_called_slow() -> None:
    found = outlook(task(dense(layer_bytes=450 * MIB), machine(32)))
    assert found.asked.speed is SpeedClass.SLOW


SIZES = st.floats(0.1, 40)
PARAMS = st.builds(
    LoadParams,
    n_ctx=st.sampled_from([512, 2048, 8192, 32768]),
    n_parallel=st.sampled_from([1, 2, 4]),
    type_k=st.just("f16"),
    n_gpu_layers=st.integers(-1, 6),
)


@settings(max_examples=60)
@given(SIZES, SIZES, PARAMS, st.integers(1, 2000))
def test_nothing_is_said_to_fit_whose_sum_exceeds_what_is_free_minus_the_reserve(
    ram: float, vram: float, params: LoadParams, layer_mib: int
) -> None:
    facts = replace(SMALL, layers=tuple(replace(one, weights_bytes=layer_mib * MIB) for one in SMALL.layers))
    where = machine(ram, card(vram))
    for plan in outlook(task(facts, where, params)).plans:
        for device in plan.bill.devices:
            free = where.ram_available_bytes if device.device == CPU else where.gpus[0].free_bytes
            assert free is not None
            assert device.total_bytes <= free
            if plan.judgement.verdict is Verdict.FITS and device.device != CPU:
                assert device.total_bytes <= free - gpu_reserve_bytes(where.gpus[0].total_bytes)


@settings(max_examples=40)
@given(PARAMS, st.integers(1, 4))
def test_more_context_never_costs_less(params: LoadParams, factor: int) -> None:
    small = bill_of(SMALL, params, Gpu("CUDA0"))
    large = bill_of(SMALL, replace(params, n_ctx=params.n_ctx * factor), Gpu("CUDA0"))
    for device in small.devices:
        assert large.on(device.device).total_bytes >= device.total_bytes


@settings(max_examples=40)
@given(PARAMS)
def test_fewer_layers_on_the_gpu_never_cost_more_of_its_memory(params: LoadParams) -> None:
    totals = [
        bill_of(SMALL, replace(params, n_gpu_layers=n), Gpu("CUDA0")).on("CUDA0").total_bytes
        for n in range(len(SMALL.layers) + 2)
    ]
    assert totals == sorted(totals)


@settings(max_examples=40)
@given(SIZES, st.sampled_from([512, 2048, 8192, 32768]))
def test_the_solver_finds_the_most_layers_that_fit_and_all_of_them_where_they_do(vram: float, n_ctx: int) -> None:
    facts = dense(n_layer=12, n_embd=1024, n_head=8, n_head_kv=4, n_ff=2048, n_vocab=1000)
    asked = task(facts, machine(64, card(vram)), LoadParams(n_ctx=n_ctx))
    fitting = []
    for n in range(1, 14):
        bill = asked.price(replace(asked.wish, n_gpu_layers=n))
        if judge(bill, asked.machine).verdict is Verdict.FITS:
            fitting.append(n)
    found = most_gpu_layers(asked, asked.wish)
    whole = judge(asked.price(asked.wish), asked.machine)
    if whole.may_load:
        assert found is not None
        assert found.bill.n_gpu_layers == 13
    else:
        assert (0 if found is None else found.bill.n_gpu_layers) == max(fitting, default=0)


@pytest.mark.parametrize("n_layers", [-1, 0, 13, 99])
def test_layers_are_counted_with_the_output_as_one(n_layers: int) -> None:  # reported fault A19
    facts = dense(n_layer=12, n_embd=512, n_head=8, n_head_kv=2, head=64, n_ff=1024, n_vocab=1000)
    bill = bill_of(facts, LoadParams(n_gpu_layers=n_layers), Gpu("CUDA0"))
    assert (bill.n_gpu_layers, bill.n_layers) == (0 if n_layers == 0 else 13, 13)
