"""Switching languages, and the language of the system."""

import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from layadesk.ui.language import CHINESE, ENGLISH, Language, read_ts, system_language
from tests.ui.conftest import Stage

REPO = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (["zh-Hans-CN", "en-US"], CHINESE),
        (["zh-TW"], CHINESE),
        (["de-DE", "zh-CN"], CHINESE),
        (["en-GB", "zh-CN"], ENGLISH),
        (["fr-FR"], ENGLISH),
        (["C"], ENGLISH),
        ([], ENGLISH),
    ],
)
def test_the_first_language_of_the_system_that_there_is_is_taken(wanted: list[str], expected: str) -> None:
    assert system_language(wanted) == expected


def test_the_whole_window_speaks_another_language_while_it_runs(stage: Stage) -> None:
    stage.open(stage.house.converse("Hello", "Good day."))
    assert stage.window.list.new_button.text() == "New chat"
    stage.appearance.choose_language(CHINESE)
    stage.qtbot.waitUntil(lambda: stage.window.list.new_button.text() == "新对话")
    assert stage.window.page.composer.text_box.placeholderText() == "输入消息…"
    assert stage.window.side_bar.options.text() == "选项"
    assert stage.window.list.model.index(0).data() == "今天"
    stage.appearance.choose_language(ENGLISH)
    stage.qtbot.waitUntil(lambda: stage.window.list.new_button.text() == "New chat")
    assert stage.window.list.model.index(0).data() == "Today"


def test_the_choice_is_kept_in_the_settings(stage: Stage) -> None:
    stage.appearance.choose_language(CHINESE)
    assert stage.house.settings.get("ui.language") == CHINESE
    stage.appearance.choose_language(ENGLISH)


def test_qt_speaks_the_language_too(qapp: QApplication, qtbot: QtBot) -> None:
    language = Language(qapp)
    language.use(CHINESE)
    field = QLineEdit()
    qtbot.addWidget(field)
    menu = field.createStandardContextMenu()
    texts = " ".join(action.text() for action in menu.actions())
    menu.deleteLater()
    language.use(ENGLISH)
    assert "复制" in texts


def test_an_unfinished_translation_falls_back_to_english(tmp_path: Path) -> None:
    file = tmp_path / "layadesk_xx.ts"
    file.write_text(
        '<TS version="2.1" language="xx"><context><name>A</name>'
        "<message><source>done</source><translation>fait</translation></message>"
        '<message><source>begun</source><translation type="unfinished">comm</translation></message>'
        "<message><source>empty</source><translation></translation></message></context></TS>",
        encoding="utf-8",
    )
    assert read_ts(file) == {("A", "done"): ("fait",)}


def test_the_words_of_an_error_need_no_gui_library() -> None:
    """The command line runs where Qt's window libraries cannot be loaded."""
    code = (
        "import sys\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from layadesk.domain.errors import ErrorCode, ErrorReport\n"
        "from layadesk.ui.language import Language\n"
        "from layadesk.ui.texts.errors import sentence\n"
        "app = QCoreApplication([])\n"
        "Language(app).use('zh_CN')\n"
        "sys.stdout.reconfigure(encoding='utf-8')\n"
        "print(sentence(ErrorReport(ErrorCode.EMPTY_PROMPT)))\n"
        "print([name for name in sys.modules if name in ('PySide6.QtGui', 'PySide6.QtWidgets', 'PySide6.QtSvg')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=REPO, capture_output=True, encoding="utf-8", check=False)
    assert done.stdout.splitlines() == ["没有可回答的内容：消息是空的。请先写点什么。", "[]"], done.stderr


def test_switching_to_the_language_in_force_does_nothing(qapp: QApplication) -> None:
    language = Language(qapp)
    language.use(ENGLISH)
    language.use(ENGLISH)
    assert QCoreApplication.translate("AnswerView", "%n token(s)", "", 1) == "1 token"
