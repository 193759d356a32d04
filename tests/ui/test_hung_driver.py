"""A GPU whose driver does not answer, beside an open window: everything else goes on."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from layadesk.telemetry import gpu_lane
from layadesk.telemetry.amdgpu import AmdSensor
from layadesk.telemetry.pace import Pace
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed
from layadesk.ui.monitor.columns import HOST, Column
from tests.fakes.roots import break_file, make_amd_card
from tests.fakes.sensors import FakeHost
from tests.ui.conftest import Stage
from tests.ui.test_timeline import join_import

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe in the file system")


@pytest.fixture
def card(tmp_path: Path) -> Iterator[Path]:
    """The folder of an AMD GPU; whatever waits for its load is let go at the end."""
    folder = make_amd_card(tmp_path / "sys")
    yield folder
    load = folder / "gpu_busy_percent"
    if load.is_fifo():
        let_go(load)


def let_go(pipe: Path) -> None:
    """End the reading that waits, and give the next ones a file."""
    held = pipe.with_name("held")
    pipe.rename(held)
    pipe.write_text("37\n", encoding="ascii")
    held.write_text("37\n", encoding="ascii")  # returns when the reader is there


def test_while_a_reading_of_the_gpu_hangs_the_window_and_the_ram_curve_go_on(
    stage: Stage, card: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_lane, "STALE_AFTER_S", 0.5)
    sampler = Sampler(
        Observed(lambda: None, lambda: None),
        pace=Pace(idle_hz=10, busy_hz=10, hidden_hz=10),
        make_host_sensors=lambda: [FakeHost()],
        make_gpu_sensors=lambda: [AmdSensor(sys_root=tmp_path / "sys", proc_root=tmp_path / "proc")],
    )
    sampler.feed.subscribe(stage.house.resources.feed.publish)
    panel = stage.window.panel.resources
    stage.window.load_charts()
    sampler.start()

    def gpu_card() -> str:
        return panel.cards()[0].text() if panel.cards() else ""

    stage.qtbot.waitUntil(lambda: "6.0 / 15.0 GiB" in gpu_card() and panel.timeline is not None, timeout=20_000)
    timeline = panel.timeline
    assert timeline is not None
    break_file(card / "gpu_busy_percent", "hang")
    stage.qtbot.waitUntil(lambda: "the driver does not answer" in gpu_card(), timeout=20_000)

    n_before = timeline.n_samples
    stage.qtbot.waitUntil(lambda: timeline.n_samples >= n_before + 5, timeout=20_000)
    _, newest = timeline._store.row_at(timeline.n_samples - 1)
    assert newest[HOST, Column.RAM_OTHERS] is not None
    assert newest[0, "busy"] is None
    assert "RAM" in panel.cards()[1].text()
    assert "n/a" not in panel.cards()[1].text().split("GiB")[0]
    QTest.keyClicks(stage.window.page.composer.text_box, "still here")
    assert stage.window.page.composer.text_box.toPlainText() == "still here"
    QTest.mouseClick(panel._ranges[1], Qt.MouseButton.LeftButton)
    assert timeline.window_s == 300.0

    let_go(card / "gpu_busy_percent")
    stage.qtbot.waitUntil(lambda: "6.0 / 15.0 GiB" in gpu_card(), timeout=20_000)
    sampler.stop()
    stage.settle()
    join_import()
