"""The Settings page: every setting of the table, in words, and what happens to a file of another program."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QPlainTextEdit, QSpinBox

from layadesk.settings.definitions import ALL_SETTINGS, Applies
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.preferences.settings_page import SettingsPage
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.texts import setting_texts
from tests.ui.conftest import Stage
from tests.ui.hands import turn_wheel
from tests.ui.looks import cut_texts, overlaps


@pytest.fixture
def page(stage: Stage) -> SettingsPage:
    stage.window.show_page(Destination.SETTINGS)
    stage.settle()
    return stage.window.settings_page


def test_every_setting_has_a_row_with_a_name_and_what_it_does(page: SettingsPage, stage: Stage) -> None:
    assert set(page.rows) == {setting.key for setting in ALL_SETTINGS}
    for language in (ENGLISH, CHINESE):
        stage.appearance.choose_language(language)
        stage.settle()
        for setting in ALL_SETTINGS:
            assert page.rows[setting.key].name.text() == setting_texts.setting_name(setting.key)
    stage.appearance.choose_language(ENGLISH)
    assert all(setting_texts.applies_words(one) or one is Applies.NOW for one in Applies)


def test_the_editor_follows_the_type(page: SettingsPage) -> None:
    kinds = {
        "ui.theme": QComboBox,
        "ui.panel_visible": QCheckBox,
        "inference.n_ctx": QSpinBox,
        "sampling.temperature": QDoubleSpinBox,
        "chat.system_prompt": QPlainTextEdit,
    }
    assert {key: type(page.rows[key].editor) for key in kinds} == kinds


def test_a_change_holds_at_once_and_can_be_taken_back(page: SettingsPage, stage: Stage) -> None:
    row = page.rows["sampling.temperature"]
    assert isinstance(row.editor, QDoubleSpinBox)
    assert not row.reset.isEnabled()
    row.editor.setValue(1.25)
    stage.qtbot.waitUntil(lambda: stage.house.settings.get("sampling.temperature") == 1.25)
    assert row.reset.isEnabled()
    row.reset.click()
    assert stage.house.settings.get("sampling.temperature") == 0.6
    assert row.editor.value() == 0.6


def test_what_was_typed_last_is_kept_when_the_page_is_left(page: SettingsPage, stage: Stage) -> None:
    row = page.rows["chat.system_prompt"]
    assert isinstance(row.editor, QPlainTextEdit)
    row.editor.setPlainText("Sei kurz. 简短。")
    stage.window.show_page(Destination.CHAT)
    assert stage.house.settings.get("chat.system_prompt") == "Sei kurz. 简短。"


def test_language_and_colours_follow_the_page_while_it_is_open(page: SettingsPage, stage: Stage) -> None:
    box = page.rows["ui.language"].editor
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData("zh_CN"))
    stage.settle()
    assert page.header.title.text() == "设置"
    box.setCurrentIndex(box.findData("en"))
    stage.settle()
    assert page.header.title.text() == "Settings"


def test_what_the_options_menu_sets_stands_on_the_open_page_too(page: SettingsPage, stage: Stage) -> None:
    stage.appearance.choose_theme("dark")
    box = page.rows["ui.theme"].editor
    assert isinstance(box, QComboBox)
    assert box.currentData() == "dark"
    stage.appearance.choose_theme("light")


def test_the_wheel_scrolls_the_page_and_changes_nothing_below_it(page: SettingsPage, stage: Stage) -> None:
    for key in ("inference.n_ctx", "ui.theme"):
        row = page.rows[key]
        before = row.value()
        assert not row.editor.hasFocus()
        turn_wheel(row.editor)
        assert row.value() == before
    number = page.rows["inference.n_ctx"].editor
    number.setFocus()
    turn_wheel(number)
    assert page.rows["inference.n_ctx"].value() != 8192
    page.rows["inference.n_ctx"].reset.click()


def test_two_sentences_stand_together_as_the_language_has_it(page: SettingsPage, stage: Stage) -> None:
    row = page.rows["sampling.top_k"]
    assert ". Felt from" in row.description.text()
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    said = row.description.text()
    stage.appearance.choose_language(ENGLISH)
    assert "。" in said
    assert "。 " not in said


def test_an_error_is_said_anew_in_another_language(page: SettingsPage, stage: Stage, tmp_path: Path) -> None:
    page.import_file(str(tmp_path / "none.yaml"))
    stage.settle()
    assert "could not be read" in stage.window.failure.text()
    stage.appearance.choose_language(CHINESE)
    stage.settle()
    said = stage.window.failure.text()
    stage.window.failure.hide()
    stage.appearance.choose_language(ENGLISH)
    stage.settle()
    assert "无法" in said
    assert stage.window.failure.isHidden()


def test_reset_all_leaves_the_look_alone(page: SettingsPage, stage: Stage) -> None:
    stage.house.settings.set("sampling.top_k", 7)
    stage.house.settings.set("ui.theme", "dark")
    page.reset_button.click()
    assert stage.house.settings.get("sampling.top_k") == 40
    assert stage.house.settings.get("ui.theme") == "dark"
    stage.house.settings.set("ui.theme", "light")


def test_a_yaml_of_another_program_is_taken_and_what_is_not_is_named(
    page: SettingsPage, stage: Stage, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "router: {device: 'cuda:0', precision: fp16, max_batch: 8, topk: 2}\n"
        "expert_pool:\n- {name: coder, model: qwen/coder-7b, device: cuda, precision: q4}\n"
        "inference: {max_seq_len: 4096, max_batch: 2, enable_prefix_cache: true, kv_cache_quant: q8}\n",
        encoding="utf-8",
    )
    page.import_file(str(file))
    stage.settle()
    get = stage.house.settings.get
    assert (get("router.use_gpu"), get("router.topk")) == (True, 2)
    assert (get("inference.n_ctx"), get("inference.n_parallel")) == (4096, 2)
    told = page.told.text()
    assert told.startswith("4 settings were taken.")
    for key in ("router.precision", "router.max_batch", "inference.enable_prefix_cache", "inference.kv_cache_quant"):
        assert key in told
    assert "qwen/coder-7b" in told
    assert page.rows["inference.n_ctx"].value() == 4096


def test_a_file_that_is_no_such_thing_changes_nothing(page: SettingsPage, stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("- just\n- a list\n", encoding="utf-8")
    page.import_file(str(tmp_path / "x.yaml"))
    stage.settle()
    assert "could not be read as settings" in stage.window.failure.text()
    assert page.told.isHidden()


def test_the_shortcuts_are_listed(page: SettingsPage) -> None:
    texts = [label.text() for label in page.findChildren(QLabel)]
    assert "Ctrl+F" in texts
    assert "Search all conversations" in texts


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_on_the_page_is_cut(page: SettingsPage, stage: Stage, language: str) -> None:
    stage.appearance.choose_language(language)
    stage.settle()
    cut, over = cut_texts(page), overlaps(page)
    stage.appearance.choose_language(ENGLISH)
    assert cut == []
    assert over == []
