"""What the catalogue's large experts cost on five machines: the bills and plans, held as golden figures."""

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.memory_fit.bill import CPU, Basis, BillItem
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import PlanKind, Resident
from layadesk.domain.memory_fit.speed import SpeedClass
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.inventory import Inventory
from layadesk.paths import DataPaths
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed
from layadesk.usecases.fit import Fit, FitAnswer, FitWish
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.price_file import FileQuestion, price_file
from layadesk.usecases.price_load import PriceLoad
from tests.fakes import gguf_models
from tests.fakes.machines import RADEON_780M

HARDWARE = Path(__file__).parent.parent / "fixtures" / "hardware"
LARGE = "qwen3.8-27b"
MIXTURE = "qwen3-coder-30b-a3b-instruct"
GIB = 2**30


def machine(name: str) -> MachineMemory:
    return msgspec.json.decode((HARDWARE / f"{name}.json").read_bytes(), type=MachineMemory)


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    price = PriceLoad(None)
    sampler = Sampler(Observed(lambda: None, lambda: None), make_host_sensors=tuple, make_gpu_sensors=tuple)
    return Fit(Inventory(DataPaths(tmp_path)), price, MachineNow(sampler, price.devices))


def shape(answer: FitAnswer) -> tuple[str, dict[str, float], list[tuple[str, int]]]:
    """The verdict, GiB by device, the plans with their layers on the GPU."""
    bill = answer.outlook.asked.bill
    gib = {one.device: round(one.total_bytes / GIB, 2) for one in bill.devices}
    return answer.outlook.verdict, gib, [(plan.kind, plan.bill.n_gpu_layers) for plan in answer.outlook.plans]


GOLDEN = {
    "rtx-4090": ("fits", {"CUDA0": 16.33, "CPU": 0.77}, [("as_asked", 66)]),
    "radeon-780m-16gb": ("refuse", {"Vulkan0": 16.43, "CPU": 0.76}, [("other_expert", 33)]),
    "radeon-780m-32gb": (
        "needs_offload",
        {"Vulkan0": 16.43, "CPU": 0.76},
        [("fewer_gpu_layers", 56), ("cpu_only", 0), ("other_expert", 49), ("other_quantization", 66)],
    ),
    "16gb-card": (
        "needs_offload",
        {"CUDA0": 16.33, "CPU": 0.77},
        [("fewer_gpu_layers", 53), ("cpu_only", 0), ("other_expert", 41), ("other_quantization", 66)],
    ),
    "no-gpu": ("fits", {"CPU": 16.97}, [("as_asked", 0), ("other_expert", 0)]),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_the_27b_on_five_machines(fit: Fit, name: str) -> None:
    assert shape(fit(LARGE, machine=machine(name))) == GOLDEN[name]


def test_on_a_4090_it_is_all_on_the_card_with_two_contexts_of_8192_and_keys_in_q8_0(fit: Fit) -> None:
    answer = fit(LARGE, machine=machine("rtx-4090"))
    plan = answer.outlook.automatic
    assert plan is not None
    assert (plan.params.n_ctx, plan.params.n_parallel, plan.params.type_k, plan.params.type_v) == (
        2 * 8192,
        2,
        "q8_0",
        "q8_0",
    )
    assert plan.bill.n_gpu_layers == plan.bill.n_layers == 66
    total = answer.machine.gpus[0].total_bytes or 0
    left = (answer.machine.gpus[0].free_bytes or 0) - plan.bill.on("CUDA0").total_bytes
    assert left >= max(2 * 10**9, 0.08 * total)
    assert plan.speed is SpeedClass.FAST


def test_four_contexts_of_32768_are_refused_there_with_the_reason_in_bytes(fit: Fit) -> None:
    answer = fit(LARGE, wish=FitWish(n_ctx=32768, n_parallel=4), machine=machine("rtx-4090"))
    worst = answer.outlook.asked.judgement.worst
    assert answer.outlook.verdict is Verdict.REFUSE
    assert answer.outlook.automatic is None
    assert worst.device == "CUDA0"
    assert answer.outlook.asked.bill.on("CUDA0").kv_bytes == 4 * 32768 * 65536 + 8 * 156_893_184
    assert worst.missing_bytes == worst.needed_bytes + worst.reserve_bytes - (answer.machine.gpus[0].free_bytes or 0)
    assert {PlanKind.KV_Q8_0, PlanKind.SMALLER_CONTEXT, PlanKind.FEWER_SEQUENCES} <= {
        plan.kind for plan in answer.outlook.plans
    }


def test_on_a_780m_it_runs_but_is_not_pleasant_and_a_smaller_expert_is_named(fit: Fit) -> None:
    answer = fit(LARGE, machine=machine("radeon-780m-32gb"))
    first = answer.outlook.plans[0]
    other = next(plan for plan in answer.outlook.plans if plan.kind is PlanKind.OTHER_EXPERT)
    assert first.speed is SpeedClass.SLOW
    assert (other.subject, other.speed) == ("qwen3-coder-30b-a3b-instruct", SpeedClass.FAST)


def test_without_a_gpu_the_whole_bill_is_ram(fit: Fit) -> None:
    answer = fit(LARGE, machine=machine("no-gpu"))
    assert [one.device for one in answer.outlook.asked.bill.devices] == [CPU]
    assert answer.outlook.asked.judgement.worst.largest is BillItem.WEIGHTS


def test_a_mixture_of_experts_keeps_its_moe_experts_in_ram_on_a_16_gb_card(fit: Fit) -> None:
    answer = fit(MIXTURE, machine=machine("16gb-card"))
    kinds = [plan.kind for plan in answer.outlook.plans]
    assert answer.outlook.verdict is Verdict.NEEDS_OFFLOAD
    assert PlanKind.MOE_ON_CPU in kinds[:2]
    assert all(plan.speed is SpeedClass.FAST for plan in answer.outlook.plans)


def test_a_smaller_quantization_of_the_catalogue_is_priced_by_its_name(fit: Fit) -> None:
    whole, less = (fit(LARGE, quantization=name, machine=machine("rtx-4090")) for name in ("Q4_K_M", "ud-iq4_xs"))
    assert less.quantization == "UD-IQ4_XS"
    assert less.outlook.asked.bill.total_bytes < whole.outlook.asked.bill.total_bytes


@pytest.mark.parametrize(
    ("subject", "quantization", "code"),
    [
        ("nobody", None, ErrorCode.UNKNOWN_MODEL),
        (LARGE, "Q9", ErrorCode.BAD_PARAMETER),
        ("gemma-3-270m", None, ErrorCode.BAD_PARAMETER),  # the catalogue has no numbers of it
        ("missing.gguf", None, ErrorCode.MODEL_FILE_MISSING),
    ],
)
def test_what_cannot_be_priced_says_why(fit: Fit, subject: str, quantization: str | None, code: ErrorCode) -> None:
    with pytest.raises(LayaDeskError) as refused:
        fit(subject, quantization=quantization, machine=machine("no-gpu"))
    assert refused.value.code is code


def test_a_file_is_priced_for_another_machine_by_arithmetic(fit: Fit, tmp_path: Path) -> None:
    path = gguf_models.llama(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes().replace(b"tokenizer.ggml.tokens", b"tokenizer.ggml.tokenz"))
    with pytest.raises(LayaDeskError) as refused:  # without words it cannot chat, and the file is not priced
        fit(str(path), machine=machine("rtx-4090"))
    assert refused.value.code is ErrorCode.GGUF_NO_VOCABULARY


@pytest.mark.llama
def test_a_real_file_is_priced_for_another_machine_by_arithmetic(fit: Fit, smol_gguf: Path) -> None:
    answer = fit(str(smol_gguf), machine=machine("rtx-4090"))
    assert answer.outlook.asked.bill.basis is Basis.ARITHMETIC
    assert answer.outlook.asked.bill.n_gpu_layers == 31
    assert answer.outlook.verdict is Verdict.FITS


def test_what_weights_could_take_counts_what_is_free_and_idle_and_not_what_must_stay() -> None:
    question = FileQuestion(RADEON_780M, 8192)
    assert question.most_bytes == pytest.approx((23 + 3.6 - 28 * 0.04) * GIB)
    residents = (Resident("idle", {"Vulkan0": GIB, CPU: GIB}, True), Resident("busy", {CPU: GIB}, False))
    assert replace(question, residents=residents).most_bytes == pytest.approx(question.most_bytes + 2 * GIB)
    assert replace(question, machine=MachineMemory()).most_bytes == math.inf


def test_where_the_weights_are_more_than_that_a_search_for_ways_out_would_find_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    card = Catalogues().current().card(LARGE)
    assert card is not None
    question = FileQuestion(RADEON_780M, 8192)
    file = min(
        (one for one in card.files if (one.rounded_bytes or 0) > question.most_bytes), key=lambda one: one.quantization
    )
    without = price_file(PriceLoad(None), card, file, question)
    monkeypatch.setattr(FileQuestion, "most_bytes", math.inf)
    assert price_file(PriceLoad(None), card, file, question) == without
