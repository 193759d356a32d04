"""Each warning fires on its synthetic case and not beside it; holds, clears and worsens as it should."""

from dataclasses import replace

import pytest

from layadesk.domain.alert_watch import AlertWatch
from layadesk.domain.hardware import EngineWork, GpuKind, GpuSample, HardwareSample, SwapKind, Throttle
from layadesk.domain.machine_alerts import RULES, Danger, Severity

MIB, GIB = 2**20, 2**30
WRITING = EngineWork(n_running=1, decode_tps=5.0, reads_mapped_weights=True)
CALM = HardwareSample(
    0.0,
    64 * GIB,
    40 * GIB,
    4 * GIB,
    swap_in_bytes_per_s=0.0,
    refault_bytes_per_s=0.0,
    psi_some_percent=0.0,
    psi_full_percent=0.0,
    engine_swap_bytes=0,
    weights_bytes=10 * GIB,
    weights_resident_bytes=10 * GIB,
    weights_evicted_bytes=0,
    work=WRITING,
    gpus=(GpuSample("g", "G", 24 * GIB, 12 * GIB, 8 * GIB, kind=GpuKind.DISCRETE, evicted_bytes=0, throttle=()),),
)
GPU = CALM.gpus[0]
MISSING: dict[str, object] = {"weights_resident_bytes": 9 * GIB, "weights_evicted_bytes": GIB}
WARNINGS: list[tuple[Danger, dict[str, object], dict[str, object]]] = [
    (Danger.RAM, {"ram_available_bytes": 6 * GIB}, {"ram_available_bytes": 7 * GIB}),
    (Danger.PRESSURE, {"psi_some_percent": 12.0}, {"psi_some_percent": 9.0}),
    (Danger.STALLED, {"psi_full_percent": 3.0}, {"psi_full_percent": 1.0}),
    (Danger.SWAPPING, {"swap_in_bytes_per_s": 5.0 * MIB}, {"swap_in_bytes_per_s": 3.0 * MIB}),
    (Danger.ENGINE_SWAPPED, {"engine_swap_bytes": GIB}, {"engine_swap_bytes": 100 * MIB}),
    (Danger.REREAD, {"refault_bytes_per_s": 60.0 * MIB}, {"refault_bytes_per_s": 60.0 * MIB, "work": EngineWork()}),
    (Danger.WEIGHTS, MISSING, MISSING | {"weights_evicted_bytes": 0}),
    (Danger.WEIGHTS, MISSING, MISSING | {"work": replace(WRITING, reads_mapped_weights=False)}),
    (
        Danger.VRAM,
        {"gpus": (replace(GPU, vram_used_bytes=23 * GIB),)},
        {"gpus": (replace(GPU, vram_used_bytes=21 * GIB),)},
    ),
    (
        Danger.VRAM,
        {"gpus": (replace(GPU, vram_total_bytes=3 * GIB, vram_used_bytes=3 * GIB - 500 * MIB),)},
        {"gpus": (replace(GPU, vram_total_bytes=2**29, vram_used_bytes=2**29, kind=GpuKind.UNIFIED),)},  # a carve-out
    ),
    (
        Danger.VRAM_OF_OTHERS,
        {"gpus": (replace(GPU, vram_used_bytes=23 * GIB, engine_bytes=0),)},
        {"gpus": (replace(GPU, vram_used_bytes=23 * GIB, engine_bytes=None),)},  # whose it is is not known
    ),
    (
        Danger.VRAM,
        {"gpus": (replace(GPU, vram_used_bytes=23 * GIB, engine_bytes=None),)},
        {"gpus": (replace(GPU, vram_used_bytes=24 * GIB, engine_bytes=0),)},
    ),
    (
        Danger.GPU_IN_RAM,
        {"gpus": (GpuSample("g", "G", kind=GpuKind.UNIFIED, shared_total_bytes=100, shared_used_bytes=95),)},
        {"gpus": (GpuSample("g", "G", kind=GpuKind.DISCRETE, shared_total_bytes=100, shared_used_bytes=95),)},
    ),
    (
        Danger.COMMIT,
        {"commit_used_bytes": 92, "commit_limit_bytes": 100},
        {"commit_used_bytes": 80, "commit_limit_bytes": 100},
    ),
    (Danger.PAGES_INPUT, {"pages_input_bytes_per_s": 60.0 * MIB}, {"pages_input_bytes_per_s": 10.0 * MIB}),
    (Danger.MAC_PRESSURE, {"pressure_level": 2}, {"pressure_level": 1}),
    (
        Danger.THROTTLE,
        {"gpus": (replace(GPU, throttle=(Throttle.THERMAL,)),)},
        {"gpus": (replace(GPU, throttle=(Throttle.POWER_CAP,)),)},  # normal under load
    ),
]
CRITICAL: list[tuple[Danger, dict[str, object]]] = [
    (Danger.RAM, {"ram_available_bytes": 2 * GIB}),
    (Danger.STALLED, {"psi_full_percent": 12.0}),
    (Danger.SWAPPING, {"swap_in_bytes_per_s": 40.0 * MIB}),
    (Danger.REREAD, {"refault_bytes_per_s": 300.0 * MIB}),
    (Danger.WEIGHTS, {"weights_resident_bytes": 7 * GIB, "weights_evicted_bytes": 3 * GIB}),
    (Danger.VRAM, {"gpus": (replace(GPU, vram_used_bytes=24 * GIB - 100 * MIB),)}),
    (Danger.SPILL, {"gpus": (replace(GPU, vram_used_bytes=22 * GIB, evicted_bytes=300 * MIB),)}),
    (Danger.SPILL, {"gpus": (replace(GPU, vram_used_bytes=22 * GIB, evicted_bytes=None, engine_shared_bytes=GIB),)}),
]

FULL = replace(GPU, vram_used_bytes=22 * GIB)
NO_SPILL: dict[str, GpuSample] = {
    "room is left, and what was evicted before has not come back": replace(GPU, evicted_bytes=2 * GIB),
    "full, and a little in RAM as Windows always keeps": replace(
        FULL, evicted_bytes=None, engine_shared_bytes=200 * MIB
    ),
    "full, and nothing had to go": FULL,
    "full, and nobody knows what had to go": replace(FULL, evicted_bytes=None),
    "computes in RAM, its carve-out is full": replace(
        FULL, kind=GpuKind.UNIFIED, evicted_bytes=None, engine_shared_bytes=8 * GIB
    ),
}


def watched(changes: dict[str, object], seconds: float = 12.0) -> dict[Danger, Severity]:
    """What is warned of after so long."""
    watch = AlertWatch()
    alerts = {}
    for tick in range(int(seconds * 4) + 1):
        sample = replace(CALM, taken_at=tick / 4, **changes)  # type: ignore[arg-type] # by name
        alerts = {alert.danger: alert.severity for alert in watch.take(sample)}
    return alerts


def test_a_calm_machine_is_left_alone() -> None:
    assert watched({}) == {}
    assert AlertWatch().take(HardwareSample(0.0)) == ()  # nothing is known


@pytest.mark.parametrize(("danger", "bad", "good"), WARNINGS, ids=lambda value: value if isinstance(value, str) else "")
def test_each_warning_has_a_case_that_fires_it_and_one_that_does_not(
    danger: Danger, bad: dict[str, object], good: dict[str, object]
) -> None:
    assert danger in watched(bad)
    assert danger not in watched(good)


@pytest.mark.parametrize(("danger", "bad"), CRITICAL, ids=lambda value: value if isinstance(value, str) else "")
def test_what_hurts_is_critical(danger: Danger, bad: dict[str, object]) -> None:
    assert watched(bad)[danger] is Severity.CRITICAL


@pytest.mark.parametrize("gpu", NO_SPILL.values(), ids=NO_SPILL)
def test_a_gpu_that_has_not_spilled_is_not_said_to_have(gpu: GpuSample) -> None:
    assert Danger.SPILL not in watched({"gpus": (gpu,)})


def test_a_spill_that_passes_within_two_seconds_is_not_warned_of() -> None:
    spilled: dict[str, object] = {"gpus": (replace(FULL, evicted_bytes=GIB),)}
    assert Danger.SPILL not in watched(spilled, seconds=2.0)
    assert Danger.SPILL in watched(spilled, seconds=4.0)


def test_every_rule_has_a_case() -> None:
    tested = {danger for danger, _, _ in WARNINGS} | {danger for danger, _ in CRITICAL}
    assert tested == set(Danger) == {rule.danger for rule in RULES}


def test_a_moment_is_not_enough() -> None:
    assert Danger.REREAD not in watched({"refault_bytes_per_s": 60.0 * MIB}, 2.5)
    assert Danger.REREAD in watched({"refault_bytes_per_s": 60.0 * MIB}, 3.5)


def test_compressed_ram_is_given_four_times_as_much() -> None:
    rate: dict[str, object] = {"swap_in_bytes_per_s": 10.0 * MIB}
    assert Danger.SWAPPING in watched(rate)
    assert Danger.SWAPPING not in watched(rate | {"swap_kind": SwapKind.ZRAM})


def test_an_episode_is_one_message_that_ends_ten_seconds_after_it_is_well_below() -> None:
    watch = AlertWatch()

    def take(at: float, psi: float) -> list[tuple[float, Severity]]:
        alerts = watch.take(replace(CALM, taken_at=at, psi_some_percent=psi))
        return [(alert.since, alert.severity) for alert in alerts]

    assert [take(at, 20.0) for at in (0.0, 5.0, 6.0)] == [[], [(5.0, Severity.WARN)], [(5.0, Severity.WARN)]]
    assert take(7.0, 9.0) == [(5.0, Severity.WARN)]  # below, but not well below
    assert take(30.0, 9.0) == [(5.0, Severity.WARN)]
    assert take(31.0, 1.0) == [(5.0, Severity.WARN)]
    assert take(36.0, 15.0) == [(5.0, Severity.WARN)]  # it comes back: still the same episode
    assert take(37.0, 1.0) == [(5.0, Severity.WARN)]
    assert take(46.9, 1.0) == [(5.0, Severity.WARN)]
    assert take(47.0, 1.0) == []


def test_an_episode_keeps_its_worst() -> None:
    watch = AlertWatch()
    for at in range(20):
        watch.take(replace(CALM, taken_at=float(at), psi_some_percent=50.0))
    (alert,) = watch.take(replace(CALM, taken_at=20.0, psi_some_percent=12.0))
    assert (alert.severity, alert.value) == (Severity.CRITICAL, 12.0)


def test_the_worst_comes_first() -> None:
    bad: dict[str, object] = {"psi_some_percent": 12.0, "ram_available_bytes": GIB}
    assert list(watched(bad)) == [Danger.RAM, Danger.PRESSURE]


def test_a_measure_of_work_that_is_over_calms_down() -> None:
    watch = AlertWatch()
    for at in range(10):
        watch.take(replace(CALM, taken_at=float(at), refault_bytes_per_s=300.0 * MIB))
    for at in range(10, 25):
        alerts = watch.take(replace(CALM, taken_at=float(at), work=EngineWork()))
    assert alerts == ()


LOST = replace(GPU, vram_total_bytes=None, vram_used_bytes=None, engine_bytes=None, evicted_bytes=None)
OVER: dict[Danger, tuple[dict[str, object], dict[str, object]]] = {
    Danger.VRAM: ({"gpus": (replace(GPU, vram_used_bytes=24 * GIB),)}, {"gpus": (LOST,)}),
    Danger.SPILL: (
        {"gpus": (replace(FULL, evicted_bytes=2 * GIB),)},
        {"gpus": (replace(GPU, vram_used_bytes=8 * GIB, evicted_bytes=GIB),)},
    ),
    Danger.WEIGHTS: (
        {"weights_resident_bytes": 5 * GIB, "weights_evicted_bytes": 5 * GIB},
        {"weights_resident_bytes": 9 * GIB, "weights_evicted_bytes": 0},
    ),
}


@pytest.mark.parametrize("danger", OVER)
def test_what_can_no_longer_be_told_is_not_acute_and_not_said_for_longer_than_ten_seconds(danger: Danger) -> None:
    bad, unknown = OVER[danger]
    watch = AlertWatch()

    def take(at: float, changes: dict[str, object]) -> list[bool]:
        alerts = watch.take(replace(CALM, taken_at=at, **changes))  # type: ignore[arg-type] # by name
        return [alert.is_acute for alert in alerts if alert.danger is danger]

    for at in range(10):
        seen = take(float(at), bad)
    assert seen == [True]
    assert take(10.0, unknown) == take(19.9, unknown) == [False]
    assert take(20.0, unknown) == []
