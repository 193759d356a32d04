"""The window as a whole: what it says of failures, adding a model, folding, keys, room."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.hardware import GpuSample, HardwareSample
from layadesk.ui.bridge import Bridge
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.theme.theme import Theme
from tests.fakes.usecases import House
from tests.ui.conftest import Stage
from tests.ui.hands import press
from tests.ui.looks import cut_texts, overlaps


def test_the_window_says_once_that_it_has_been_painted(house: House, qapp: QApplication, qtbot: QtBot) -> None:
    bridge, theme = Bridge(), Theme(qapp)
    appearance = Appearance(house.settings, language=Language(qapp), theme=theme)
    window = MainWindow(house.use_cases, bridge=bridge, appearance=appearance)
    qtbot.addWidget(window)
    painted: list[bool] = []
    window.painted.connect(lambda: painted.append(window.isVisible()))
    assert painted == []
    window.show()
    qtbot.waitUntil(lambda: painted == [True])
    window.resize(900, 600)
    window.repaint()
    QApplication.processEvents()
    assert painted == [True]
    bridge.close()
    theme.deleteLater()


def test_on_a_narrow_screen_the_panel_begins_folded_and_can_be_unfolded(
    house: House, qapp: QApplication, qtbot: QtBot
) -> None:
    bridge, theme = Bridge(), Theme(qapp)
    window = MainWindow(
        house.use_cases, bridge=bridge, appearance=Appearance(house.settings, language=Language(qapp), theme=theme)
    )
    qtbot.addWidget(window)
    assert window.screen().availableGeometry().width() == 800
    assert window.panel.isHidden()
    window.panel_button.click()
    assert not window.panel.isHidden()
    bridge.close()
    theme.deleteLater()


@pytest.mark.logs_warnings
def test_a_damaged_settings_file_is_told_at_the_start(tmp_path: Path, qapp: QApplication, qtbot: QtBot) -> None:
    (tmp_path / "settings.json").write_text("{ not json", encoding="utf-8")
    house = House(tmp_path)
    bridge, theme = Bridge(), Theme(qapp)
    window = MainWindow(
        house.use_cases, bridge=bridge, appearance=Appearance(house.settings, language=Language(qapp), theme=theme)
    )
    qtbot.addWidget(window)
    assert "The settings file cannot be read." in window.failure.text()
    bridge.close()
    house.close()
    theme.deleteLater()


def test_a_model_that_was_added_is_there_at_once(stage: Stage) -> None:
    stage.house.experts.installed = ()
    stage.window.models.page.doing.import_paths(["/models/模型 📦.gguf"])
    stage.settle()
    assert stage.window.toast.text() == "模型 📦 was added."
    assert stage.window.page.composer.hint.text() == "→ 模型 📦 · is loaded first"


def test_a_file_that_is_no_model_is_refused_in_words(stage: Stage) -> None:
    stage.window.models.page.doing.import_paths(["/pictures/cat.png"])
    stage.settle()
    assert stage.window.failure.text().startswith("The file /pictures/cat.png is not a GGUF model")
    stage.open(stage.house.converse("a", "b"))
    assert stage.window.failure.isHidden()


def test_the_file_dialog_does_not_block(stage: Stage) -> None:
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    stage.window.page.add_model_requested.emit()
    dialog = stage.window.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.filesSelected.emit(["/models/new.gguf"])
    dialog.close()
    stage.settle()
    assert "new was added." in stage.window.toast.text()
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs, on=False)


def test_a_failure_shows_what_the_library_said_as_a_detail(stage: Stage) -> None:
    stage.window.show_failure(ErrorReport(ErrorCode.MODEL_LOAD_FAILED, {"expert": "x", "detail": "bad tensor"}))
    stage.window.failure.details.click()
    assert stage.window.failure.log_text() == "bad tensor"


def test_f9_folds_the_panel(stage: Stage) -> None:
    press(stage.window.page.composer.text_box, Qt.Key.Key_F9)
    assert stage.window.panel.isHidden()
    press(stage.window.page.composer.text_box, Qt.Key.Key_F9)
    assert not stage.window.panel.isHidden()


def test_ctrl_l_goes_to_the_field(stage: Stage) -> None:
    stage.window.list.view.setFocus()
    press(stage.window.list.view, Qt.Key.Key_L, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is stage.window.page.composer.text_box


def test_the_options_switch_the_theme_and_the_language(stage: Stage) -> None:
    menu = stage.window.side_bar.options.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    themes = next(a.menu() for a in menu.actions() if a.menu() is not None and a.text() == "Appearance")
    languages = next(a.menu() for a in menu.actions() if a.menu() is not None and a.text() == "Language")
    next(action for action in themes.actions() if action.text() == "Dark").trigger()  # type: ignore[attr-defined] # a QMenu
    assert stage.house.settings.get("ui.theme") == "dark"
    next(action for action in languages.actions() if action.text() == "简体中文").trigger()  # type: ignore[attr-defined]
    assert stage.house.settings.get("ui.language") == "zh_CN"
    stage.appearance.choose_language("en")
    stage.appearance.choose_theme("light")


@pytest.mark.parametrize("size", [(900, 600), (1280, 800), (1920, 1080)], ids=str)
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_no_text_is_cut_and_nothing_overlaps(stage: Stage, language: str, size: tuple[int, int]) -> None:
    gpu = GpuSample("g", "NVIDIA GeForce RTX 4090 with a long name", 24 * 2**30, 18 * 2**30, 16 * 2**30)
    stage.house.resources.feed.publish(HardwareSample(1.0, 2**36, 2**35, 2**30, 2**28, 2**33, 0, gpus=(gpu,)))
    stage.open(stage.house.converse("A question " * 40, "An answer " * 200, title="A rather long title " * 5))
    answer_id = stage.send("Another one")
    stage.house.prompt(answer_id, n_dropped=2)
    stage.house.finish(answer_id)
    stage.appearance.choose_language(language)
    stage.window.resize(*size)
    stage.settle()
    QApplication.processEvents()
    assert (stage.window.width(), stage.window.height()) == size
    assert cut_texts(stage.window) == []
    assert overlaps(stage.window) == []
    stage.appearance.choose_language("en")


def test_ctrl_q_closes_the_window(stage: Stage) -> None:
    press(stage.window.page.composer.text_box, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert not stage.window.isVisible()
