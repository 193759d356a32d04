"""Each symptom has a synthetic case that shows it and one beside it that must not."""

from dataclasses import replace

import pytest

from layadesk.domain.alert_watch import Alert
from layadesk.domain.diagnosis import Answered, Case, Symptom, diagnose, is_repeating
from layadesk.domain.errors import ErrorCode
from layadesk.domain.hardware import EngineWork, GpuKind, GpuSample, HardwareSample, Why
from layadesk.domain.inference import MemoryUse, Timings
from layadesk.domain.machine_alerts import Danger, Severity
from layadesk.domain.models import LoadedModel

GIB = 2**30
CARD = GpuSample("a", "RTX 4090", kind=GpuKind.DISCRETE, engine_bytes=0, bandwidth_bytes_per_s=1e12)
INNER = GpuSample("b", "780M", kind=GpuKind.UNIFIED, engine_shared_bytes=4 * GIB)
IDLE = GpuSample("a", "RTX 4090", kind=GpuKind.DISCRETE, utilization_percent=3.0)
ON_CPU = LoadedModel("m", "llama", 2048, 2048, 30, 0, 100, 1, 5.0, "gguf", MemoryUse())
ON_GPU = replace(ON_CPU, n_gpu_layers=31)
FAST = Timings(n_decoded=101, decode_ms=2_000.0, n_prompt=10)  # 50 tokens/s
READS = Timings(n_prompt=4000, n_cached=0, prefill_ms=9_000.0, decode_ms=1_000.0, n_decoded=40)


def at(**fields: object) -> HardwareSample:
    return HardwareSample(0.0, **({"ram_total_bytes": 16 * GIB} | fields))  # type: ignore[arg-type] # by name


def alert(danger: Danger) -> Alert:
    return Alert(danger, Severity.CRITICAL, 0.0, 1.0)


def routes(*counts: int) -> tuple[Answered, ...]:
    return tuple(Answered(f"e{place}") for place, n in enumerate(counts) for _ in range(n))


BUSY_CPU = tuple(at(cpu_percent=97.0) for _ in range(4))
ONE_CORE = at(gpus=(IDLE,), engine_cpu_cores=1.0, work=EngineWork(n_running=1, decode_tps=4.0))
ON_CARD = Case(samples=(at(gpus=(CARD,)),), answers=(Answered("m", FAST),), loaded={"m": ON_GPU})
CASES: list[tuple[Symptom, Case, Case]] = [
    (
        Symptom.OUT_OF_MEMORY_AT_LOAD,
        Case(answers=(Answered("m", error=ErrorCode.OUT_OF_MEMORY),)),
        Case(answers=(Answered("m", error=ErrorCode.TEMPLATE_FAILED),)),
    ),
    (
        Symptom.FIRST_ANSWER_FAILED,
        Case(answers=(Answered("m", error=ErrorCode.ENGINE_DIED),)),
        Case(answers=(Answered("m"), Answered("m", error=ErrorCode.ENGINE_DIED))),
    ),
    (
        Symptom.CPU_BUILD,
        Case(samples=(at(gpus=(CARD,)),), supports_gpu_offload=False),
        Case(samples=(at(gpus=()),), supports_gpu_offload=False),
    ),
    (
        Symptom.LAYERS_ON_CPU,
        Case(samples=(at(gpus=(CARD,)),), supports_gpu_offload=True, loaded={"m": ON_CPU}),
        Case(samples=(at(gpus=(CARD,)),), supports_gpu_offload=True, loaded={"m": ON_GPU}),
    ),
    (
        Symptom.WEAKER_GPU,
        Case(samples=(at(gpus=(CARD, INNER)),)),
        Case(samples=(at(gpus=(replace(CARD, engine_bytes=8 * GIB), INNER)),)),
    ),
    (Symptom.SPILLED, Case(alerts=(alert(Danger.SPILL),)), Case(alerts=(alert(Danger.VRAM),))),
    (
        Symptom.ROUTER_STARVED,
        Case(samples=BUSY_CPU, answers=(Answered("m", route_ms=400.0),) * 2),
        Case(samples=(at(cpu_percent=30.0),), answers=(Answered("m", route_ms=400.0),) * 2),
    ),
    (
        Symptom.ROUTER_BEHIND_LOAD,
        Case(answers=(Answered("m", route_ms=900.0, was_loading=True),)),
        Case(answers=(Answered("m", route_ms=0.3, was_loading=True),)),
    ),
    (
        Symptom.PREFILL_BOUND,
        Case(answers=(Answered("m", READS),) * 2),
        Case(answers=(Answered("m", replace(READS, n_cached=3900)),) * 2),
    ),
    (
        Symptom.REPETITION,
        Case(answers=(Answered("m", is_repeating=True),)),
        Case(answers=(Answered("m"),)),
    ),
    (Symptom.ONE_EXPERT, Case(answers=routes(19, 1), n_experts=3), Case(answers=routes(12, 8), n_experts=3)),
    (Symptom.ONE_EXPERT, Case(answers=routes(20), n_experts=2), Case(answers=routes(20), n_experts=1)),
    (
        Symptom.GPU_WAITS_FOR_CPU,
        Case(samples=(ONE_CORE,) * 10, loaded={"m": ON_GPU}),
        Case(samples=(replace(ONE_CORE, gpus=(replace(IDLE, utilization_percent=95.0),)),) * 10, loaded={"m": ON_GPU}),
    ),
    (
        Symptom.DRIVER_MISMATCH,
        Case(samples=(at(reasons={"gpus": Why.DRIVER_MISMATCH}),)),
        Case(samples=(at(reasons={"gpus": Why.NO_DRIVER}),)),
    ),
    (
        Symptom.GPU_LOST,
        Case(samples=(at(gpus=(replace(CARD, reasons={"vram_used_bytes": Why.LOST}),)),)),
        Case(samples=(at(gpus=(replace(CARD, reasons={"vram_used_bytes": Why.ASLEEP}),)),)),
    ),
    (Symptom.THRASH, Case(alerts=(alert(Danger.REREAD),)), Case(alerts=(alert(Danger.THROTTLE),))),
    (
        Symptom.NO_SWAP,
        Case(samples=(at(swap_total_bytes=0),), files_bytes={"m": 9 * GIB}),
        Case(samples=(at(swap_total_bytes=8 * GIB),), files_bytes={"m": 9 * GIB}),
    ),
    (
        Symptom.NO_SWAP,
        Case(samples=(at(swap_total_bytes=0),), files_bytes={"m": 9 * GIB, "n": 9 * GIB}, loaded={"m": ON_GPU}),
        Case(samples=(at(swap_total_bytes=0),), files_bytes={"m": 9 * GIB, "n": GIB}, loaded={"m": ON_GPU}),
    ),
    (
        Symptom.BELOW_BANDWIDTH,  # 5 GB at 1 TB/s: 200 tokens/s would be possible
        Case(
            samples=(at(gpus=(CARD,)),),
            answers=(Answered("m", FAST),),
            loaded={"m": ON_GPU},
            weights_bytes={"m": 5 * 10**9},
        ),
        Case(
            samples=(at(gpus=(CARD,)),),
            answers=(Answered("m", FAST),),
            loaded={"m": ON_GPU},
            weights_bytes={"m": 15 * 10**9},
        ),
    ),
]


def symptoms(case: Case) -> set[Symptom]:
    """Those that are trouble."""
    return {one.symptom for one in diagnose(case) if one.is_trouble}


@pytest.mark.parametrize(("symptom", "bad", "good"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_each_symptom_has_a_case_that_shows_it_and_one_that_must_not(symptom: Symptom, bad: Case, good: Case) -> None:
    assert symptom in symptoms(bad)
    assert symptom not in symptoms(good)


def test_every_symptom_has_a_case() -> None:
    assert {symptom for symptom, _, _ in CASES} == set(Symptom)


def test_nothing_known_is_no_trouble() -> None:
    assert diagnose(Case()) == ()


def test_speed_is_told_as_a_share_of_what_memory_allows_also_when_it_is_good() -> None:
    case = Case(
        samples=(at(),),
        answers=(Answered("m", FAST),),
        loaded={"m": ON_CPU},
        weights_bytes={"m": 100_000_000},
        bandwidth_bytes_per_s=1e10,
    )
    (found,) = diagnose(case)
    assert (found.symptom, found.is_trouble) == (Symptom.BELOW_BANDWIDTH, False)
    assert found.facts["ceiling_tps"] == pytest.approx(100.0)
    assert found.facts["share"] == pytest.approx(0.5)


def test_layers_on_both_sides_share_the_ceiling() -> None:
    case = Case(
        samples=(at(gpus=(CARD,)),),
        answers=(Answered("m", FAST),),
        loaded={"m": replace(ON_CPU, n_gpu_layers=15)},
        weights_bytes={"m": 2 * 10**9},
        bandwidth_bytes_per_s=1e11,
    )
    (found,) = [one for one in diagnose(case) if one.symptom is Symptom.BELOW_BANDWIDTH]
    assert found.facts["ceiling_tps"] == pytest.approx(1 / (1e9 / 1e12 + 1e9 / 1e11))


def test_serious_things_come_first() -> None:
    case = Case(samples=(at(reasons={"gpus": Why.DRIVER_MISMATCH}),), answers=(Answered("m", is_repeating=True),))
    assert [one.symptom for one in diagnose(case)] == [Symptom.DRIVER_MISMATCH, Symptom.REPETITION]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I am sorry. " * 5, True),
        ("Well then: " + "the end the end " * 8, True),
        ("我不知道。" * 6, True),
        ("hahaha", False),
        ("| --- | --- | --- | --- |", False),
        ("-" * 80, False),
        ("One, two, three, four, five, six, seven.", False),
        ("A long and varied answer about the sea, its tides, and what lives in it. " * 1, False),
        ("", False),
    ],
)
def test_a_loop_is_told_from_a_rhyme(text: str, expected: bool) -> None:
    assert is_repeating(text) is expected
