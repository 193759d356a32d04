"""A link of a message is opened only when the reader has seen where it leads and says so."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from layadesk.ui.chat.link_question import LinkQuestion
from tests.ui.conftest import Stage

ADDRESS = "https://ok.example/where?a=1"


@pytest.mark.parametrize(("button", "opened", "copied"), [(0, [ADDRESS], ""), (1, [], ADDRESS), (2, [], "")])
def test_the_address_is_shown_and_the_button_decides(qtbot: QtBot, button: int, opened: list[str], copied: str) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    urls: list[QUrl] = []
    question = LinkQuestion(window, urls.append)
    QGuiApplication.clipboard().clear()
    question.ask(ADDRESS)
    assert question.box is not None
    assert question.box.informativeText() == ADDRESS
    assert urls == []
    names = ["Open", "Copy the address", "Cancel"]
    next(one for one in question.box.buttons() if one.text() == names[button]).click()
    assert [url.toString() for url in urls] == opened
    assert QGuiApplication.clipboard().text() == copied


def test_a_link_in_an_answer_asks(stage: Stage) -> None:
    stage.open(stage.house.converse("Where?", "[There](https://ok.example)."))
    answer_id = stage.window.page.transcript.branch[-1].message_id
    stage.answer(answer_id).body.link_chosen.emit("https://ok.example")
    box = stage.window.page.link_question.box
    assert box is not None
    assert box.informativeText() == "https://ok.example"
    box.close()
