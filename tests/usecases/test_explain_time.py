"""Where an answer's time went, its ceiling, profiles on request, and the offer to move hot layers."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from layadesk.domain.answer_time import ComputePart, ComputeProfile, TimePart
from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import LoadParams, Role, Timings
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.machine import GIB, GpuMemory, MachineMemory
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from layadesk.domain.memory_fit.plans import Plan, Resident
from layadesk.domain.models import ExpertSpec
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, MoeShape
from layadesk.domain.routing import Route, RouteReason
from layadesk.protocol.events import ExpertProfiled
from layadesk.protocol.feed import Feed
from layadesk.usecases.explain_time import ExplainTime

LAYER = LayerFacts(LayerKind.FULL, GIB, moe_bytes=900 * 2**20, n_head=8, head_k=64, head_v=64, k_row=128, v_row=128)
FACTS = ModelFacts("qwen3moe", 512, 1000, 8192, (LAYER,) * 4, 10**6, 10**6, n_expert=4, n_expert_used=2, n_ff_expert=64)
RECORD = MoeRecord(MoeShape(4, 2), (0, 1, 2, 3), decode=MoeCounts((2,) * 4, (1,) * 16))
TIMINGS = Timings(prefill_ms=10.0, decode_ms=90.0, n_prompt=100, n_decoded=10)
ANSWER = Message(
    "m",
    "c",
    None,
    Role.ASSISTANT,
    "x",
    0.0,
    expert_id="e",
    timings=TIMINGS,
    route=Route("e", RouteReason.ROUTER, route_ms=0.5),
)
CARD = GpuMemory("CUDA0", "x", total_bytes=24 * GIB, free_bytes=20 * GIB, bandwidth_bytes_per_s=400e9)


class House:
    """An engine with one expert, its price by arithmetic, and a machine."""

    def __init__(self) -> None:
        self.params = LoadParams(n_ctx=512, n_ubatch=64, n_gpu_layers=0)
        self.machine = MachineMemory(64 * GIB, 48 * GIB)
        self.profiles: list[tuple[str, int]] = []
        self.chosen: list[tuple[str, Plan]] = []
        self.n_measured = 0
        inside = SimpleNamespace(profiled=Feed(), profile=lambda *asked: self.profiles.append(asked))
        self.engine = SimpleNamespace(
            inside=inside,
            loaded={},
            spec=lambda model_id: ExpertSpec("e", "e.gguf", self.params) if model_id == "e" else None,
        )
        price = SimpleNamespace(
            facts_of=lambda _: FACTS, bill=lambda question: bill_of(FACTS, question.wish, Gpu("CUDA0"))
        )
        machine = SimpleNamespace(last=lambda: self.machine, read=lambda: self.machine)
        gate = SimpleNamespace(
            residents=lambda: (Resident("e", {"CUDA0": GIB}, is_idle=True),),
            choose=lambda *chosen: self.chosen.append(chosen),
        )
        rooms = cast("Any", (self.engine, price, machine, gate))
        self.time = ExplainTime(*rooms, measure=self.measure)

    def measure(self) -> float:
        self.n_measured += 1
        return 10e9


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    made.time.close()


def test_an_answer_is_told_with_its_ceiling_and_ram_is_measured_once(house: House) -> None:
    for _ in range(2):
        found = house.time.explain(ANSWER, screen_ms=2.0).result()
    parts = dict(found.parts)
    assert (parts[TimePart.ROUTE], parts[TimePart.SCREEN], parts[TimePart.LOAD]) == (0.5, 2.0, None)
    assert house.n_measured == 1
    assert found.ceiling is not None
    (cpu,) = found.ceiling.reads
    assert cpu.kv_bytes == 4 * 105 * (128 + 128) * 2  # n_prompt and half of the answer before a token
    assert found.reached == pytest.approx(100.0 * cpu.total_bytes / 10e9)


def test_a_remote_answer_has_no_ceiling(house: House) -> None:
    found = house.time.explain(replace(ANSWER, expert_id="elsewhere")).result()
    assert (found.ceiling, found.reached) == (None, None)


def test_a_profile_is_asked_for_once_and_told_to_all_who_wait(house: House) -> None:
    first, second = house.time.profile("e", 7), house.time.profile("e", 7)
    assert house.profiles == [("e", 7)]
    profile = ComputeProfile(((ComputePart.OUTPUT, 1.0),), 1.0, 7)
    house.engine.inside.profiled.publish(ExpertProfiled("e", profile))
    assert first.result() == second.result() == profile
    refused = house.time.profile("e", 7)
    house.engine.inside.profiled.publish(ExpertProfiled("e", error=ErrorReport(ErrorCode.EXPERT_BUSY, {"expert": "e"})))
    with pytest.raises(LayaDeskError) as failure:
        refused.result()
    assert failure.value.code is ErrorCode.EXPERT_BUSY


def test_hot_layers_are_offered_where_moe_experts_are_in_ram_and_vram_is_left(house: House) -> None:
    assert house.time.placing.advise("e", RECORD).result() is None  # all on the CPU by choice
    house.params = replace(house.params, n_gpu_layers=-1, n_cpu_moe=4)
    assert house.time.placing.advise("e", RECORD).result() is None  # no card
    house.machine = replace(house.machine, gpus=(CARD,))
    found = house.time.placing.advise("e", RECORD).result()
    assert found is not None
    assert found.layers == (0, 1, 2, 3)
    assert found.plan.evicts == ("e",)
    assert found.gained_ms == pytest.approx(1000 * 4 * LAYER.moe_bytes / 2 * (1 / 10e9 - 1 / 400e9), rel=1e-6)
    house.time.placing.take("e", found.plan)
    assert house.chosen == [("e", found.plan)]
    house.machine = replace(house.machine, gpus=(replace(CARD, free_bytes=GIB),))
    assert house.time.placing.advise("e", RECORD).result() is None
