"""The charts: what they draw, what they say of a moment, and the way to a message and back."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from layadesk.domain.hardware import EngineWork, GpuKind, GpuSample, HardwareSample
from layadesk.ui.monitor.columns import HOST, KEYS, Column, row
from layadesk.ui.monitor.curve_store import CAPACITY, CurveStore, outline, thinned
from layadesk.ui.monitor.timeline_view import TimelineView
from layadesk.ui.theme.tokens import DARK, LIGHT
from layadesk.usecases.timeline import Band
from layadesk.usecases.turns import TurnPhase
from tests.ui.conftest import Stage
from tests.ui.hands import press

GIB, MIB = 2**30, 2**20
GPU = GpuSample(
    "g",
    "RTX 4090",
    24 * GIB,
    18 * GIB,
    12 * GIB,
    utilization_percent=90.0,
    power_watts=225.0,
    power_limit_watts=450.0,
    kind=GpuKind.DISCRETE,
)


def sample(at: float, **rest: object) -> HardwareSample:
    values: dict[str, object] = {
        "ram_total_bytes": 64 * GIB,
        "ram_available_bytes": 48 * GIB,
        "engine_bytes": 8 * GIB,
        "cpu_count": 8,
        "engine_cpu_cores": 2.0,
        "work": EngineWork(n_running=1, decode_tps=40.0, prefill_tps=0.0),
    }
    return HardwareSample(at, **(values | rest))  # type: ignore[arg-type] # by name


BANDS = (
    Band(TurnPhase.LOADING, 80.0, 85.0, "c", "m"),
    Band(TurnPhase.PREFILL, 85.0, 90.0, "c", "m"),
    Band(TurnPhase.DECODE, 90.0, None, "c", "m"),
)


@pytest.fixture
def view(qtbot: QtBot) -> TimelineView:
    view = TimelineView(lambda: BANDS)
    qtbot.addWidget(view)
    view.resize(280, 600)
    view.show()
    view.add(sample(60.0 + number / 2, gpus=(GPU,)) for number in range(81))
    view.draw()
    return view


def figures(one: HardwareSample, *gpu_ids: str) -> dict[tuple[int, str], float | None]:
    return dict(zip(KEYS, row(one, gpu_ids), strict=True))


def test_memory_is_a_share_of_its_own_total_and_the_parts_add_up() -> None:
    found = figures(sample(0.0, router_bytes=GIB, weights_resident_bytes=16 * GIB, gpus=(GPU,)), "g")
    assert found[HOST, Column.RAM_OURS] == 9 / 64
    assert found[HOST, Column.RAM_OTHERS] == 7 / 64
    assert found[HOST, Column.RAM_WEIGHTS] == 16 / 64  # page cache: on top of what is used
    assert (found[0, "ours"], found[0, "others"], found[0, "power"]) == (0.5, 0.25, 50.0)
    assert found[1, "ours"] is None


def test_what_a_gpu_holds_in_ram_is_a_slice_of_it_and_not_added_to_it() -> None:
    gpu = GpuSample("g", "780M", kind=GpuKind.UNIFIED, engine_shared_bytes=4 * GIB)
    found = figures(sample(0.0, gpus=(gpu,)), "g")
    assert found[HOST, Column.RAM_GPU] == 4 / 64
    assert found[HOST, Column.RAM_OTHERS] == 4 / 64  # 16 used, 8 ours, 4 by the GPU


def test_what_is_not_known_is_a_gap_and_never_0() -> None:
    found = figures(sample(0.0, ram_available_bytes=None, engine_cpu_cores=None, work=EngineWork()))
    for column in (Column.RAM_OTHERS, Column.CPU, Column.DECODE, Column.SWAP):
        assert found[HOST, column] is None


def test_the_store_keeps_the_newest_and_reads_in_one_piece() -> None:
    store = CurveStore()
    for number in range(CAPACITY + 100):
        store.append(float(number), (float(number), *[None] * (len(KEYS) - 1)))
    assert len(store) == CAPACITY
    assert store.times(-np.inf)[0] == 100.0
    assert list(store.values(KEYS[0], CAPACITY + 97.0)) == [CAPACITY + 97.0, CAPACITY + 98.0, CAPACITY + 99.0]
    assert np.isnan(store.values(KEYS[1], 0.0)).all()
    index = store.index_near(150.4)
    assert index is not None
    assert store.row_at(index)[0] == 150.0


@given(
    values=st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=400),
    n_buckets=st.integers(1, 50),
)
def test_thinning_loses_no_peak_and_makes_no_more_points_than_it_may(
    values: list[float | None], n_buckets: int
) -> None:
    y = np.array([np.nan if value is None else value for value in values])
    x, thin = thinned(np.arange(len(y), dtype=np.float64), y, n_buckets)
    n_gaps = int(np.isnan(thin[2:]).sum())
    assert len(x) == len(thin) <= 2 * n_buckets + min(n_gaps, n_buckets)
    known = y[np.isfinite(y)]
    if len(known):
        assert np.nanmax(thin) == known.max()
        assert np.nanmin(thin) == known.min()


def test_gpus_and_ram_have_a_lane_each_and_bands_lie_behind_all_charts(view: TimelineView) -> None:
    assert len(view.memory.lanes) == 2
    for chart in view.charts:
        assert [(one.phase, one.since, one.until) for one in chart.stretches] == [
            ("loading", -20.0, -15.0),
            ("prefill", -15.0, -10.0),
            ("decode", -10.0, 0.0),
        ]


def test_a_gpu_that_works_in_ram_has_no_lane_of_its_own(qtbot: QtBot) -> None:
    view = TimelineView(tuple)
    qtbot.addWidget(view)
    gpu = GpuSample("g", "780M", kind=GpuKind.UNIFIED, engine_shared_bytes=4 * GIB, shared_total_bytes=16 * GIB)
    view.add((sample(0.0, gpus=(gpu,)), sample(1.0, gpus=(gpu,))))
    view.draw()
    assert len(view.memory.lanes) == 1
    assert "GPU in RAM 6 %" in view.legend_texts()[0]


def test_what_is_drawn_is_really_there(view: TimelineView) -> None:
    assert "#2563d9" in colours_in(view.memory)  # the edge of what is ours
    image = view.memory.grab().toImage()
    width, height = image.width(), image.height()
    before, loading = (QColor(image.pixel(int(width * at), 3)).name() for at in (0.5, 0.71))
    assert before != loading
    lane = QColor(image.pixel(int(width * 0.5), int(height * 0.45))).name()
    assert lane != before  # half of the VRAM is ours


def test_a_gap_is_not_bridged(qtbot: QtBot) -> None:
    view = TimelineView(tuple)
    qtbot.addWidget(view)
    view.resize(280, 600)
    view.show()
    known = [sample(float(number)) for number in range(61)]
    known[20:41] = [HardwareSample(float(number)) for number in range(20, 41)]
    view.add(known)
    view.draw()
    image = view.memory.grab().toImage()
    bottom = image.height() - 6
    colours = [QColor(image.pixel(int(image.width() * at), bottom)).name() for at in (0.1, 0.5, 0.9)]
    assert colours[0] == colours[2] != colours[1]


def test_a_gap_is_seen_also_where_several_samples_fall_on_a_pixel() -> None:
    y = np.ones(4000)
    y[2000:2003] = np.nan
    _, thin = thinned(np.arange(4000.0), y, 200)
    assert np.isnan(thin).sum() == 1


@given(values=st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=400), n_buckets=st.integers(1, 50))
def test_what_is_filled_reaches_each_peak_and_is_not_filled_where_nothing_is_known(
    values: list[float | None], n_buckets: int
) -> None:
    top = np.array([np.nan if value is None else value for value in values])
    x, bottom, upper = outline(np.arange(len(top), dtype=np.float64), top / 2, top, n_buckets)
    n_gaps = int(np.isnan(upper).sum())
    assert len(x) == len(bottom) == len(upper) <= n_buckets + min(n_gaps, n_buckets)
    assert list(x) == sorted(x)
    assert (n_gaps > 0) == bool(np.isnan(top).any())
    known = np.isfinite(upper)
    if known.any():
        assert upper[known].max() == np.nanmax(top)
        assert (bottom[known] <= upper[known]).all()


def test_a_minute_is_drawn_with_each_sample_and_half_an_hour_once_a_second(view: TimelineView) -> None:
    n_pictures = {}
    for window_s in (60.0, 1800.0):
        view.set_window(window_s)
        start, seen = 100.0 + window_s, []
        view.add([sample(start)])
        view.draw()
        for number in range(1, 9):
            view.add([sample(start + number / 4, engine_bytes=number * GIB)])
            view.follow()
            seen.append(view.memory.lanes)
        n_pictures[window_s] = len({id(lanes) for lanes in seen})
    assert n_pictures == {60.0: 8, 1800.0: 3}
    view.set_window(60.0)
    assert view.memory.lanes[-1].curves[0].x[-1] == 0.0


def test_the_minutes_before_this_run_are_drawn_as_steps_with_a_gap_before_the_live_curve(stage: Stage) -> None:
    past = (
        sample(-600.0, engine_bytes=32 * GIB, ram_available_bytes=8 * GIB),
        sample(-540.1, engine_bytes=32 * GIB, ram_available_bytes=8 * GIB),
        sample(-540.0, engine_bytes=16 * GIB),
        sample(-480.1, engine_bytes=16 * GIB),
        HardwareSample(-480.0),
    )
    stage.house.resources.before = past
    stage.house.resources.samples = tuple(sample(number / 2) for number in range(1200))
    panel = stage.window.panel.resources
    stage.window.load_charts()
    stage.qtbot.waitUntil(lambda: panel.timeline is not None, timeout=20_000)
    timeline = panel.timeline
    assert timeline is not None
    stage.house.engine.wait(lambda: stage.house.resources.feed.publish(sample(600.0)))
    stage.settle()
    assert timeline.n_samples == len(past) + 1201
    panel.show_range(30)
    ours = timeline.memory.lanes[-1].curves[0]
    before = ours.x < -600.0
    assert set(ours.y[before][np.isfinite(ours.y[before])]) == {0.5, 0.25}
    assert np.isnan(ours.y[before]).any()
    assert np.nanmin(ours.x[~before]) == pytest.approx(-600.0)
    timeline.point_at(-1170.0)
    assert "RAM ours 50 %" in timeline.legend_texts()[0]
    timeline.point_at(-1110.0)
    assert "RAM ours 25 %" in timeline.legend_texts()[0]
    image = timeline.memory.grab().toImage()
    bottom = image.height() - 6
    past_colour, gap, live = (
        QColor(image.pixel(int(image.width() * (1 - ago / 1800)), bottom)).name() for ago in (1140, 900, 300)
    )
    assert past_colour == live != gap
    join_import()


def test_the_curves_take_the_colours_of_the_other_theme_at_once(stage: Stage) -> None:
    stage.house.resources.samples = tuple(sample(float(number), gpus=(GPU,)) for number in range(61))
    panel = stage.window.panel.resources
    stage.window.load_charts()
    stage.qtbot.waitUntil(lambda: panel.timeline is not None, timeout=20_000)
    assert panel.timeline is not None
    stage.house.engine.wait(lambda: stage.house.resources.feed.publish(sample(61.0, gpus=(GPU,))))
    stage.settle()
    for choice, ours, not_any_more in (("dark", DARK.accent, LIGHT.accent), ("light", LIGHT.accent, DARK.accent)):
        stage.house.settings.set("ui.theme", choice)
        stage.appearance.apply()
        found = colours_in(panel.timeline.memory)
        assert ours.lower() in found
        assert not_any_more.lower() not in found
    join_import()


def test_a_curve_lies_upon_the_bands_and_not_below_them(view: TimelineView) -> None:
    image = view.activity.grab().toImage()
    loading = range(int(image.width() * 0.69), int(image.width() * 0.74))
    assert all(LIGHT.text.lower() in {QColor(image.pixel(x, y)).name() for y in range(image.height())} for x in loading)


def test_a_curve_that_has_gone_is_drawn_no_longer(view: TimelineView) -> None:
    chart = view.activity
    chart.clearFocus()
    assert LIGHT.warn.lower() in colours_in(chart)  # power
    chart.show_picture(60.0, chart.lanes[:0], ())
    assert colours_in(chart) <= {LIGHT.surface.lower(), LIGHT.border.lower(), LIGHT.accent.lower()}


def test_curves_and_bands_follow_the_width_of_the_panel(view: TimelineView) -> None:
    for width in (280, 420):
        view.resize(width, 600)
        QApplication.processEvents()
        image = view.speed.grab().toImage()
        assert image.width() == width
        middle = image.height() // 2
        greens = [x for x in range(width) if QColor(image.pixel(x, middle)).name() == LIGHT.ok.lower()]
        assert greens == [round(width * 50 / 60)]  # the first token, ten seconds ago; the curve is above


def test_the_mouse_reaches_the_chart_through_what_draws_it(view: TimelineView) -> None:
    handle = view.windowHandle()
    assert handle is not None
    place = view.speed.mapTo(view, QPoint(view.speed.width() // 2, 5))
    QTest.mouseMove(handle, place)
    QApplication.processEvents()
    assert view.at_text().startswith("30.0 s ago")


def test_the_legends_tell_the_newest_figures_with_their_units(view: TimelineView) -> None:
    memory, activity, speed = view.legend_texts()
    assert memory == "VRAM ours 50 %, others 25 %, RAM ours 12 %, others 12 %"
    assert activity == "GPU 90 %, memory busy n/a, power 50 %, engine on the processor 25 %"
    assert speed == "writing 40 tok/s (top 40), reading 0.0 tok/s"


def test_what_any_machine_reads_again_now_and_then_is_not_drawn_and_what_hurts_is(qtbot: QtBot) -> None:
    heights: dict[float, float] = {}
    for most in (0.5, 10.0, 200.0):
        view = TimelineView(tuple)
        qtbot.addWidget(view)
        view.resize(280, 600)
        view.add(sample(float(at), refault_bytes_per_s=most * MIB if at == 30 else 0.0) for at in range(61))
        view.draw()
        told = "read again from disk" in view.legend_texts()[2]
        curves = [curve for curve in view.speed.lanes[0].curves if curve.token == "danger"]
        assert told == bool(curves)
        if curves:
            heights[most] = float(curves[0].y.max())
    assert list(heights) == [10.0, 200.0]
    assert 0.1 < heights[10.0] < 0.3  # of the chart
    assert heights[200.0] > 0.9


def test_pointing_reads_one_moment_in_all_charts_and_leaving_reads_now(view: TimelineView) -> None:
    view.add((sample(100.5, engine_bytes=0, work=EngineWork(decode_tps=80.0)),))
    view.draw()
    view.point_at(-12.5)
    assert view.at_text() == "12.5 s ago · Reading the conversation…"
    assert view.legend_texts()[2].startswith("writing 40 tok/s")
    view.charts[1].left.emit()
    assert view.at_text() == ""
    assert view.legend_texts()[2].startswith("writing 80 tok/s")


def test_the_arrow_keys_move_the_cursor_and_enter_goes_to_the_message(view: TimelineView, qtbot: QtBot) -> None:
    chart = view.speed
    for _ in range(12):
        press(chart, Qt.Key.Key_Left)
    assert view.at_text() == "12.0 s ago · Reading the conversation…"
    with qtbot.waitSignal(view.message_requested) as asked:
        press(chart, Qt.Key.Key_Return)
    assert asked.args == ["c", "m"]
    press(chart, Qt.Key.Key_Right)
    assert view.at_text().startswith("11.0 s ago")


def test_a_click_on_a_band_goes_to_its_message_and_one_beside_it_nowhere(view: TimelineView) -> None:
    asked: list[str] = []
    view.message_requested.connect(lambda conversation_id, message_id: asked.append(message_id))
    width = view.speed.width()
    for share in (0.2, 0.95):
        place = QPoint(int(width * share), 5)
        QTest.mouseClick(view.speed, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert asked == ["m"]


def test_the_way_back_from_a_message_points_at_its_first_token(view: TimelineView) -> None:
    assert view.show_message("m")
    assert view.at_text() == "10.0 s ago · Writing…"
    assert not view.show_message("another")
    view.add((sample(300.0), sample(300.5)))
    assert view.show_message("m")
    assert view.window_s == 300.0
    view.add((sample(9000.0),))
    assert not view.show_message("m")


def test_the_longest_range_is_drawn_with_no_more_points_than_pixels(view: TimelineView) -> None:
    view.add(sample(101.0 + number / 4) for number in range(7000))
    view.set_window(1800.0)
    curve = view.memory.lanes[-1].curves[0]
    assert len(curve.x) <= 2 * view.memory.width()
    assert view.n_samples == 7081


def test_the_charts_come_after_the_first_paint_and_bring_the_history_along(stage: Stage) -> None:
    stage.house.resources.samples = tuple(sample(float(number)) for number in range(30))
    panel = stage.window.panel.resources
    stage.window.load_charts()
    stage.qtbot.waitUntil(lambda: panel.timeline is not None, timeout=20_000)
    assert panel.timeline is not None
    stage.house.engine.wait(lambda: stage.house.resources.feed.publish(sample(30.0)))
    stage.settle()
    assert panel.timeline.n_samples == 31
    stage.window.panel.resources.show_range(5)
    assert panel.timeline.window_s == 300.0
    join_import()


def test_from_the_last_answer_a_button_leads_to_its_place_on_the_charts(stage: Stage) -> None:
    answer_id = stage.send("Hello")
    stage.house.say(answer_id, "Good day.")
    stage.house.finish(answer_id)
    stage.settle()
    stage.house.resources.done = (
        Band(TurnPhase.PREFILL, 80.0, 88.0, "c", answer_id),
        Band(TurnPhase.DECODE, 88.0, 95.0, "c", answer_id),
    )
    stage.house.resources.samples = tuple(sample(float(number)) for number in range(101))
    panel = stage.window.panel.resources
    stage.window.load_charts()
    stage.qtbot.waitUntil(lambda: panel.timeline is not None, timeout=20_000)
    stage.house.engine.wait(lambda: stage.house.resources.feed.publish(sample(101.0)))
    stage.settle()
    press(stage.window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert panel.timeline is not None
    assert panel.timeline.at_text() == "13.0 s ago · Writing…"
    stage.window.show_new()
    stage.settle()
    assert not panel.locate.isEnabled()
    press(stage.window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    assert panel.not_drawn() == ""  # there is no answer of which to say so
    join_import()


def choose_place(stage: Stage, answer_id: str) -> None:
    button = stage.answer(answer_id).menu_button
    button.fill()
    next(action for action in button.menu().actions() if action.text() == "Show on the charts").trigger()
    stage.settle()


def test_any_answer_leads_to_its_place_on_the_charts_and_an_old_one_is_said_not_to_be_there(stage: Stage) -> None:
    answers = []
    for _ in range(2):
        answers.append(stage.send("Hello"))
        stage.house.say(answers[-1], "Good day.")
        stage.house.finish(answers[-1])
        stage.settle()
    stage.house.resources.done = (Band(TurnPhase.DECODE, 88.0, 95.0, "c", answers[0]),)
    stage.house.resources.samples = tuple(sample(float(number)) for number in range(101))
    panel = stage.window.panel.resources
    stage.window.load_charts()
    stage.qtbot.waitUntil(lambda: panel.timeline is not None, timeout=20_000)
    stage.window.panel_button.setChecked(False)
    choose_place(stage, answers[0])
    assert panel.isVisible()
    assert panel.timeline is not None
    assert panel.timeline.at_text() == "12.0 s ago · Writing…"
    assert panel.not_drawn() == ""
    choose_place(stage, answers[1])
    assert panel.not_drawn().startswith("That answer is not on the charts")
    choose_place(stage, answers[0])
    assert panel.not_drawn() == ""
    join_import()


def test_a_band_leads_to_its_message_in_whatever_conversation_it_is(stage: Stage) -> None:
    other = stage.house.converse("Question", "Answer")
    stage.open(stage.house.converse("Hello", "Good day."))
    answer = stage.house.books.messages[other]
    message_id = list(answer)[-1]
    stage.window.panel.resources.message_requested.emit(other, message_id)
    stage.qtbot.waitUntil(lambda: stage.window.page.conversation.conversation_id == other)
    stage.settle()
    assert stage.window.page.transcript.view_of(message_id) is not None


def colours_in(chart: QWidget) -> set[str]:
    image = chart.grab().toImage()
    return {QColor(image.pixel(x, y)).name() for x in range(image.width()) for y in range(image.height())}


def join_import() -> None:
    for thread in threading.enumerate():
        if thread.name == "chart-import":
            thread.join(10)
