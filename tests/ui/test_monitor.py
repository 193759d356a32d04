"""The machine in the window: figures, shares, curves, and words for what is not known."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from layadesk.domain.hardware import GpuKind, GpuSample, HardwareSample, Throttle, Why
from layadesk.ui.monitor.readings import Place, Reading, readings
from layadesk.ui.monitor.resource_card import ResourceCard
from layadesk.ui.texts.numbers import (
    gib,
    milliseconds,
    per_second,
    percent,
    seconds,
    size,
    tokens,
    used_of_total,
)
from tests.fakes.examples import BUSY_GPU
from tests.ui.conftest import Stage

GIB = 2**30


def sample(at: float = 0.0, **rest: object) -> HardwareSample:
    values: dict[str, object] = {
        "ram_total_bytes": 64 * GIB,
        "ram_available_bytes": 40 * GIB,
        "engine_bytes": 5 * GIB,
        "router_bytes": GIB,
        "swap_total_bytes": 8 * GIB,
        "swap_used_bytes": 2 * GIB,
        "swap_in_bytes_per_s": 0.0,
        "swap_out_bytes_per_s": 2.0**20,
    }
    return HardwareSample(at, **(values | rest))  # type: ignore[arg-type] # by name


GPU = GpuSample("gpu-1", "RTX 4090", 24 * GIB, 18 * GIB, 16 * GIB)


def publish(stage: Stage, *samples: HardwareSample) -> None:
    stage.house.resources.samples = (*stage.house.resources.samples, *samples)
    for one in samples:
        stage.house.engine.wait(lambda one=one: stage.house.resources.feed.publish(one))  # type: ignore[misc] # bound now
    stage.settle()


def cards(stage: Stage) -> list[str]:
    return [card.text() for card in stage.window.panel.resources.cards()]


def test_used_ours_others_and_free_add_up() -> None:
    ram = next(r for r in readings(sample()) if r.place is Place.RAM)
    assert (ram.used_bytes, ram.ours_bytes, ram.others_bytes, ram.free_bytes) == (24 * GIB, 6 * GIB, 18 * GIB, 40 * GIB)


def test_what_the_driver_keeps_for_itself_is_nobodys() -> None:
    gpu = GpuSample("g", "G", 24 * GIB, 10 * GIB, 4 * GIB, vram_reserved_bytes=GIB)
    vram = readings(sample(gpus=(gpu,)))[0]
    assert vram.total_bytes == 23 * GIB
    assert vram.free_bytes == 13 * GIB


def test_the_panel_shows_gpus_ram_and_swap_with_their_units(stage: Stage) -> None:
    publish(stage, sample(gpus=(GPU,)))
    assert cards(stage) == [
        "VRAM 18.0 / 24.0 GiB ours 16.0 · others 2.0 · free 6.0 GiB",
        "RAM 24.0 / 64.0 GiB ours 6.0 · others 18.0 · free 40.0 GiB",
        "Swap 2.0 / 8.0 GiB in 0.0 MiB/s · out 1.0 MiB/s",
    ]


def test_what_is_not_known_is_said_with_its_reason_and_never_shown_as_0(stage: Stage) -> None:
    """Reported faults I04, I05, I11."""
    gpu = GpuSample("g", "G", 24 * GIB, 10 * GIB, None, reasons={"engine_bytes": Why.WDDM})
    publish(
        stage,
        sample(
            gpus=(gpu,),
            swap_total_bytes=None,
            swap_used_bytes=None,
            ram_available_bytes=None,
            reasons={"swap_used_bytes": Why.NO_SWAP, "ram_available_bytes": Why.NO_PERMISSION},
        ),
    )
    vram, ram, swap = cards(stage)
    assert vram == "VRAM 10.0 / 24.0 GiB ours n/a · others 10.0 · free 14.0 GiB"
    assert ram == "RAM n/a n/a, because the system does not allow reading it"
    assert swap == "Swap n/a n/a, because this machine has no swap"
    assert "0.0" not in ram + swap


def test_a_machine_without_a_gpu_says_so_in_words(stage: Stage) -> None:
    publish(stage, sample(reasons={"gpus": Why.NO_DRIVER}))
    assert stage.window.panel.resources.remark() == "VRAM: n/a, because the driver is not there"
    assert [card.split()[0] for card in cards(stage)] == ["RAM", "Swap"]


def test_a_gpu_that_comes_and_goes_has_a_card_while_it_is_there(stage: Stage) -> None:
    publish(stage, sample(0.0))
    publish(stage, sample(0.5, gpus=(GPU,)))
    assert [card.split()[0] for card in cards(stage)] == ["VRAM", "RAM", "Swap"]
    publish(stage, sample(1.0))
    assert [card.split()[0] for card in cards(stage)] == ["RAM", "Swap"]


def test_a_gpus_load_power_and_temperature_stand_on_its_card(stage: Stage) -> None:
    publish(stage, sample(gpus=(replace(BUSY_GPU, throttle=(Throttle.THERMAL,)),)))
    assert cards(stage)[0].endswith("GPU 97 % · memory busy 88 % · 312 / 450 W · 64 °C · slowed: too hot")


def test_why_nothing_is_known_of_a_gpu_is_said_once(stage: Stage) -> None:
    reasons = dict.fromkeys(("vram_total_bytes", "vram_used_bytes", "engine_bytes", "utilization_percent"), Why.LOST)
    publish(stage, sample(gpus=(GpuSample("g", "RTX 4090", reasons=reasons),)))
    assert cards(stage)[0] == "VRAM n/a n/a, because the GPU is not there any more"
    publish(stage, sample(1.0, gpus=(GpuSample("g", "G", 8, 4, 2, reasons={"utilization_percent": Why.WSL_BLIND}),)))
    assert "GPU n/a, because " in cards(stage)[0]


def test_a_gpu_that_works_in_ram_is_shown_by_that_and_not_by_its_carve_out(stage: Stage) -> None:
    gpu = GpuSample(  # monitoring.md rows 14, 15
        "g",
        "Radeon 780M",
        2**29,
        2**28,
        2**20,
        kind=GpuKind.UNIFIED,
        shared_total_bytes=16 * GIB,
        shared_used_bytes=7 * GIB,
        engine_shared_bytes=6 * GIB,
        utilization_percent=50.0,
    )
    publish(stage, sample(gpus=(gpu,)))
    assert cards(stage)[0] == "GPU in RAM 7.0 / 16.0 GiB ours 6.0 · others 1.0 · free 9.0 GiB GPU 50 %"


def test_weights_in_ram_are_told_apart_from_what_is_ours(stage: Stage) -> None:
    publish(stage, sample(weights_bytes=14 * GIB, weights_resident_bytes=11 * GIB))
    assert cards(stage)[0].endswith("weights in RAM 11.0 / 14.0 GiB")


def test_a_limit_of_a_container_is_said_beside_the_figure(stage: Stage) -> None:
    publish(stage, sample(reasons={"ram_total_bytes": Why.CGROUP_LIMIT, "ram_available_bytes": Why.CGROUP_LIMIT}))
    assert cards(stage)[0].startswith("RAM 24.0 / 64.0 GiB")
    assert cards(stage)[0].endswith("the limit of this container is shown")


def test_sampling_that_was_slowed_down_says_so(stage: Stage) -> None:
    publish(stage, sample(slowed_by_ms=180.4))
    assert stage.window.panel.resources.footer() == "Sampling is slowed down: one reading took 180 ms."
    publish(stage, sample(1.0))
    assert stage.window.panel.resources.footer() == ""


def test_a_hidden_panel_asks_for_fewer_samples_and_catches_up_when_it_is_shown(stage: Stage) -> None:
    stage.window.panel_button.setChecked(False)
    publish(stage, sample())
    assert cards(stage) == []
    stage.window.panel_button.setChecked(True)
    assert len(cards(stage)) == 2
    assert stage.house.resources.told == [True, False, True]


def test_the_panel_stays_folded_when_the_settings_say_so(stage: Stage) -> None:
    stage.window.panel_button.click()
    assert stage.house.settings.get("ui.panel_visible") is False
    assert stage.window.panel.isHidden()


def test_a_card_tells_a_screen_reader_what_it_shows(qtbot: QtBot) -> None:
    card = ResourceCard(Reading(Place.RAM, "ram", total_bytes=64 * GIB, used_bytes=24 * GIB, ours_bytes=6 * GIB))
    qtbot.addWidget(card)
    assert card.accessibleName() == "RAM"
    assert card.accessibleDescription() == "24.0 / 64.0 GiB, ours 6.0 · others 18.0 · free 40.0 GiB"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (gib(0), "0.0"),
        (gib(24 * GIB), "24.0"),
        (used_of_total(GIB, None), "1.0 GiB"),
        (size(5 * GIB + GIB // 10), "5.1 GiB"),
        (size(98 * 2**20), "98 MiB"),
        (size(12_300), "12 KiB"),
        (size(5), "5 B"),
        (tokens(999), "999"),
        (tokens(2_100), "2.1k"),
        (tokens(128_000), "128k"),
        (milliseconds(0.004), "< 0.1 ms"),
        (milliseconds(0.21), "0.2 ms"),
        (milliseconds(31.4), "31 ms"),
        (seconds(412), "0.4 s"),
        (seconds(12_400), "12 s"),
        (per_second(7.44), "7.4"),
        (per_second(61.2), "61"),
        (percent(0.999), "99 %"),
        (percent(1.0), "100 %"),
    ],
)
def test_figures_are_written_with_their_units(text: str, expected: str) -> None:
    assert text == expected


@given(used=st.integers(0, 2**40), ours=st.none() | st.integers(0, 2**40), total=st.none() | st.integers(1, 2**40))
def test_shares_are_never_negative_whatever_a_driver_says(used: int, ours: int | None, total: int | None) -> None:
    reading = Reading(Place.RAM, "ram", total_bytes=total, used_bytes=used, ours_bytes=ours)
    assert (reading.others_bytes or 0) >= 0
    assert (reading.free_bytes or 0) >= 0
