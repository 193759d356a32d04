"""What was really asked for, said on the message itself."""

import re

import pytest

from layadesk.domain.chat import Correction, Rating
from layadesk.domain.routing import Route, RouteReason
from layadesk.domain.routing_labels import DOMAINS, TASKS
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.texts.label_names import domain_name, task_name
from tests.ui.conftest import Stage


def task_actions(stage: Stage, answer_id: str) -> dict[str, object]:
    menu_button = stage.answer(answer_id).menu_button
    menu_button.fill()
    menu = next(one.menu() for one in menu_button.menu().actions() if one.text() == "The task was")
    assert menu is not None
    return {action.text(): action for action in menu.actions()}  # type: ignore[attr-defined]  # a QMenu


def test_the_task_of_a_route_is_corrected_in_the_menu_of_the_message_and_taken_back(stage: Stage) -> None:
    answer_id = stage.send("Translate this")
    stage.house.route(answer_id, Route("smol", RouteReason.ROUTER, task="code", confidence=0.6))
    stage.house.finish(answer_id)
    stage.settle()
    actions = task_actions(stage, answer_id)
    assert len(actions) == len(TASKS)
    conversation_id = stage.window.page.conversation.conversation_id
    actions["translation"].trigger()  # type: ignore[attr-defined]  # a QAction
    stage.settle()
    kept = stage.house.books.messages[conversation_id][answer_id].correction
    assert kept == Correction(Rating.WRONG, task="translate")
    again = task_actions(stage, answer_id)["translation"]
    assert again.isChecked()  # type: ignore[attr-defined]
    again.trigger()  # type: ignore[attr-defined]
    stage.settle()
    assert stage.house.books.messages[conversation_id][answer_id].correction is None


@pytest.mark.parametrize("label", [*TASKS, *DOMAINS])
def test_every_label_has_a_name_in_the_language_of_the_window(stage: Stage, label: str) -> None:
    def name() -> str:
        return task_name(label) if label in TASKS else domain_name(label)

    assert "_" not in name()
    stage.appearance.choose_language(CHINESE)
    stage.qtbot.waitUntil(lambda: bool(re.search("[\u4e00-\u9fff]", name())))
    stage.appearance.choose_language(ENGLISH)


def test_the_chip_speaks_the_language_of_the_window(stage: Stage) -> None:
    answer_id = stage.send("Write quicksort")
    stage.house.route(answer_id, Route("smol", RouteReason.ROUTER, task="code", confidence=0.6, domain="daily_life"))
    stage.house.finish(answer_id)
    stage.settle()
    assert "code 0.60" in stage.answer(answer_id).route_text()
    assert "daily life" in stage.answer(answer_id).route_text()
