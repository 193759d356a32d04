"""The Server page: switched on and off, its key shown once, its log without what was said."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from layadesk.domain.server import ServedRequest, ServerState, ServerStatus
from layadesk.settings import definitions
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.server.server_page import ServerPage
from layadesk.ui.server.snippets import snippets
from layadesk.ui.shell.navigation_rail import Destination
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts, overlaps

ASKED = ServedRequest(1_800_000_000.0, "OpenAI/Python", "/v1/chat/completions", 200, 1234.0, "smol", 12, 40)


@pytest.fixture
def page(stage: Stage) -> ServerPage:
    stage.window.show_page(Destination.SERVER)
    stage.settle()
    (found,) = stage.window.findChildren(ServerPage)
    return found


def cells(page: ServerPage, row: int = 0) -> list[str]:
    return [page.log.index(row, column).data() for column in range(page.log.columnCount())]


def test_it_is_switched_on_and_off(page: ServerPage, stage: Stage) -> None:
    assert page.told.text().startswith("It is off.")
    page.switch.click()
    stage.qtbot.waitUntil(lambda: page.switch.text() == "Switch off")
    assert page.told.text() == "It is on. Programs on this machine can ask."
    page.switch.click()
    stage.qtbot.waitUntil(lambda: page.switch.text() == "Switch on")


def test_a_port_in_use_is_named_and_another_one_is_offered(page: ServerPage, stage: Stage) -> None:
    facts: dict[str, Fact] = {"host": "127.0.0.1", "port": 8000, "owner": "python", "pid": 7, "free_port": 8001}
    stage.house.serve.error = ErrorReport(ErrorCode.PORT_IN_USE, facts)
    page.switch.click()
    stage.qtbot.waitUntil(page.other_port.isVisible)
    assert "8000" in page.told.text()
    assert page.other_port.text() == "Use port 8001"
    stage.house.serve.error = None
    page.other_port.click()
    stage.qtbot.waitUntil(lambda: page.switch.text() == "Switch off")
    assert stage.house.settings.get(definitions.SERVER_PORT) == 8001
    assert page.address.text() == "http://127.0.0.1:8001/v1"
    assert not page.other_port.isVisible()


def test_a_new_key_is_shown_once_and_known_by_its_end_later(page: ServerPage, stage: Stage) -> None:
    assert page.key_told.text().startswith("No key is asked for.")
    assert not page.made_key.isVisible()
    page.new_key.click()
    stage.qtbot.waitUntil(lambda: page.made_key.text() == "ld-very-secret-wxyz")
    page.copy_key.click()
    assert QGuiApplication.clipboard().text() == "ld-very-secret-wxyz"
    stage.window.show_page(Destination.CHAT)
    stage.window.show_page(Destination.SERVER)
    stage.qtbot.waitUntil(lambda: "ends in wxyz" in page.key_told.text())
    assert not page.made_key.isVisible()
    assert page.made_key.text() == ""
    page.forget_key.click()
    stage.qtbot.waitUntil(lambda: page.key_told.text().startswith("No key is asked for."))


def test_a_name_that_comes_later_and_is_longer_is_not_cut(page: ServerPage, stage: Stage) -> None:
    stage.house.serve.serve(ServedRequest(1_800_000_000.0, "curl", "/v1/models", 200, 2.0))
    stage.settle()
    stage.house.serve.serve(ASKED)
    stage.settle()
    stage.qtbot.waitUntil(lambda: page.table.columnWidth(1) >= page.table.sizeHintForColumn(1))
    assert page.table.horizontalHeader().length() >= page.table.viewport().width()


def test_the_log_names_time_client_expert_tokens_and_status_the_newest_first(page: ServerPage, stage: Stage) -> None:
    assert "Nothing yet." in page.log_told.text()
    stage.house.serve.serve(ASKED)
    stage.house.serve.serve(ServedRequest(1_800_000_001.0, "curl", "/v1/models", 401, 2.0, code="invalid_api_key"))
    stage.settle()
    assert cells(page, 1)[1:5] == ["OpenAI/Python", "/v1/chat/completions", "SmolLM2 135M", "12 → 40"]
    assert cells(page, 0)[1] == "curl"
    assert cells(page, 0)[-1] == "401 invalid_api_key"
    header = page.log.headerData(0, Qt.Orientation.Horizontal)
    assert header == "Time"
    for number in range(300):
        stage.house.serve.log_feed.publish(ServedRequest(1.8e9 + number, "flood", "/v1/models", 200, 1.0))
    stage.settle()
    assert page.log.rowCount() == 200


def test_what_came_while_the_page_was_away_is_there_when_it_is_shown(page: ServerPage, stage: Stage) -> None:
    stage.window.show_page(Destination.CHAT)
    stage.house.serve.serve(ASKED)
    stage.settle()
    assert page.log.rowCount() == 0
    stage.window.show_page(Destination.SERVER)
    assert page.log.rowCount() == 1


def test_what_is_to_be_pasted_has_the_address_and_never_the_key(page: ServerPage, stage: Stage) -> None:
    assert [tab.text() for tab in page.snippets.tabs] == ["curl", "Python", "aider"]
    for index, tab in enumerate(page.snippets.tabs):
        tab.click()
        page.snippets.copy_button.click()
        assert QGuiApplication.clipboard().text() == snippets("http://127.0.0.1:8000/v1", needs_key=False)[index].code
        assert "http://127.0.0.1:8000/v1" in page.snippets.code.toPlainText()
    page.new_key.click()
    stage.qtbot.waitUntil(lambda: "LAYADESK_API_KEY" in page.snippets.code.toPlainText())
    assert "very-secret" not in page.snippets.code.toPlainText()
    compile(snippets("http://127.0.0.1:8000/v1", needs_key=True)[1].code, "snippet", "exec")


def test_an_open_server_says_that_it_is_not_encrypted(page: ServerPage, stage: Stage) -> None:
    stage.house.serve.status_feed.publish(ServerStatus(ServerState.ON, "0.0.0.0", 8000))
    stage.settle()
    assert "not encrypted" in page.told.text()
    assert page.address.text() == "http://127.0.0.1:8000/v1"


@pytest.mark.parametrize("language", [ENGLISH, CHINESE])
def test_nothing_is_cut_or_overlaps(page: ServerPage, stage: Stage, language: str) -> None:
    stage.house.serve.serve(ASKED)
    page.new_key.click()
    stage.settle()
    stage.appearance.choose_language(language)
    stage.settle()
    assert cut_texts(page) == []
    assert overlaps(page) == []
    stage.appearance.choose_language(ENGLISH)


def test_the_last_line_of_the_code_is_not_cut(page: ServerPage, stage: Stage) -> None:
    stage.settle()
    code = page.snippets.code
    assert code.verticalScrollBar().maximum() == 0
    last = code.document().lastBlock()
    bottom = code.blockBoundingGeometry(last).translated(code.contentOffset()).bottom()
    assert bottom <= code.viewport().height()
