"""From the window: finding what was said, ordering the list, files in and out, other experts and corrections."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from layadesk.domain.chat import Rating
from layadesk.domain.routing import Route, RouteReason
from layadesk.ui.chat.conversation_item_model import Age
from tests.fakes.usecases import expert
from tests.ui.conftest import Stage
from tests.ui.hands import click, press


def look_for(stage: Stage, text: str) -> None:
    search = stage.window.list.search
    search.setFocus()
    search.setText(text)
    stage.qtbot.waitUntil(lambda: bool(stage.window.list.results.hits))


def test_last_weeks_answer_is_found_and_shown_where_it_stands(stage: Stage) -> None:
    talk = [
        text for i in range(60) for text in (f"question {i}", f"answer {i} 成都的公园" if i == 3 else f"answer {i}")
    ]
    conversation_id = stage.house.converse(*talk, age_s=7 * 86_400)
    stage.house.conversations.changed.publish("")
    look_for(stage, "的公园")
    (hit,) = stage.window.list.results.hits
    assert stage.window.list.view.isHidden()
    press(stage.window.list.search, Qt.Key.Key_Down)
    press(stage.window.list.results, Qt.Key.Key_Return)
    page = stage.window.page
    stage.qtbot.waitUntil(lambda: page.conversation.conversation_id == conversation_id)
    stage.settle()
    assert hit.message_id is not None
    view = page.transcript.view_of(hit.message_id)
    assert view is not None
    assert 0 <= view.mapTo(page.transcript, view.rect().topLeft()).y() <= 80
    press(stage.window.list.search, Qt.Key.Key_Escape)
    assert not stage.window.list.view.isHidden()
    assert stage.window.list.results.isHidden()


def test_a_find_on_another_branch_brings_that_branch(stage: Stage) -> None:
    stage.open(stage.house.converse("Where?", "To Chengdu."))
    page = stage.window.page
    first = page.transcript.branch[-1].message_id
    stage.answer(first).again_button.click()
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    other = stage.house.running_id()
    stage.house.say(other, "To Lhasa.")
    stage.house.finish(other)
    stage.settle()
    assert page.transcript.branch[-1].message_id == other
    look_for(stage, "Chengdu")
    stage.window.list.results.hit_chosen.emit(stage.window.list.results.hits[0])
    stage.settle()
    assert page.transcript.branch[-1].message_id == first


def test_nothing_found_is_said(stage: Stage) -> None:
    stage.window.list.search.setText("xyzzy")
    stage.qtbot.waitUntil(lambda: not stage.window.list.results.isHidden())
    stage.settle()
    assert stage.window.list._empty.text() == "Nothing was found."


def test_pinned_conversations_and_folders_stand_above_the_rest(stage: Stage) -> None:
    ids = [stage.house.converse("a", "b", title=title) for title in ("one", "two", "three")]
    stage.house.conversations.changed.publish("")
    stage.settle()
    stage.window.list.menu.pin_requested.emit(ids[0], True)
    stage.window.list.menu.folder_requested.emit(ids[1], "食谱")
    stage.settle()
    rows = stage.window.list.model._rows
    assert [(row.age, row.folder) for row in rows if row.conversation is None] == [
        (Age.PINNED, ""),
        (Age.FOLDER, "食谱"),
        (Age.TODAY, ""),
    ]
    assert [row.conversation.title for row in rows if row.conversation is not None] == ["one", "two", "three"]


def test_a_new_folder_is_asked_for_by_name(stage: Stage) -> None:
    conversation_id = stage.house.converse("a", "b")
    menu = stage.window.list.menu
    menu.ask_folder(conversation_id)
    assert menu.dialog is not None
    menu.dialog.setTextValue(" Trips ")
    menu.dialog.accept()
    stage.settle()
    assert stage.house.books.conversations[conversation_id].folder == "Trips"


def test_a_file_of_conversations_is_taken_in_and_one_that_is_none_is_told(stage: Stage, tmp_path: Path) -> None:
    conversation_id = stage.house.converse("a", "b")
    stage.house.moves.import_result = type(stage.house.moves.import_result)(2, 7, 1, conversation_id)
    actions = stage.window._actions
    actions.import_file("/x/chats.json")
    stage.settle()
    assert stage.window.toast.text() == "2 conversations came in. 1 record could not be read."
    assert stage.window.page.conversation.conversation_id == conversation_id
    actions.import_file("/x/picture.png")
    stage.settle()
    assert "No conversations could be read" in stage.window.failure.text()


def test_one_conversation_or_all_are_written_to_a_file(stage: Stage) -> None:
    conversation_id = stage.house.converse("a", "b", title='A "talk": one/two')
    stage.house.conversations.changed.publish("")
    stage.settle()
    actions = stage.window._actions
    actions.choose_export(conversation_id, "markdown")
    assert actions.dialog is not None
    assert "A  talk   one two.md" in actions.dialog.selectedFiles()[0]
    actions.dialog.fileSelected.emit("/x/talk.md")
    actions.choose_export_of_all()
    actions.dialog.fileSelected.emit("/x/all.json")
    stage.settle()
    assert stage.house.moves.exported == [((conversation_id,), "/x/talk.md", "markdown"), ((), "/x/all.json", "json")]
    actions.dialog.close()


def answered(stage: Stage) -> str:
    stage.house.experts.installed = (expert("smol", name="SmolLM2 135M"), expert("coder", name="Coder 7B"))
    stage.house.experts.changed.publish(None)
    answer_id = stage.send("Hello")
    stage.house.route(answer_id, Route("smol", RouteReason.ROUTER, route_ms=0.2))
    stage.house.say(answer_id, "Good day.")
    stage.house.finish(answer_id)
    stage.settle()
    return answer_id


def test_another_expert_can_answer_instead(stage: Stage) -> None:
    answer_id = answered(stage)
    button = stage.answer(answer_id).menu_button
    button.fill()
    others = button.menu().actions()[0].menu()
    assert isinstance(others, QMenu)
    assert [action.text() for action in others.actions()] == ["SmolLM2 135M", "Coder 7B"]
    others.actions()[1].trigger()
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    stage.settle()
    assert stage.house.turns.experts_asked == ["coder"]
    assert stage.window.page.transcript.branch[-1].message_id == stage.house.running_id()
    stage.house.finish(stage.house.running_id())
    stage.settle()


def test_a_wrong_route_is_kept_and_taken_back(stage: Stage) -> None:
    answer_id = answered(stage)
    conversation_id = stage.window.page.conversation.conversation_id
    for expected in (Rating.WRONG, None):
        button = stage.answer(answer_id).menu_button
        button.fill()
        wrong = next(action for action in button.menu().actions() if action.text() == "Wrong route")
        assert wrong.isChecked() == (expected is None)
        wrong.trigger()
        stage.settle()
        correction = stage.house.books.messages[conversation_id][answer_id].correction
        assert (None if correction is None else correction.rating) == expected


def test_the_chip_opens_the_whole_route(stage: Stage) -> None:
    answer_id = answered(stage)
    stage.window.panel_button.setChecked(False)
    click(stage.answer(answer_id).chip)
    assert not stage.window.panel.isHidden()
    assert "SmolLM2 135M" in stage.window.panel.route.text()
