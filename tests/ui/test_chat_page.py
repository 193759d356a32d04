"""A conversation in the window, from the first key to the last token, with answers that arrive on other threads."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.inference import Role
from layadesk.domain.routing import Route, RouteReason
from layadesk.usecases.turns import TurnPhase
from tests.fakes.usecases import expert
from tests.ui.conftest import Stage
from tests.ui.hands import press, type_text


def texts(stage: Stage) -> list[tuple[Role, str]]:
    """The branch on screen."""
    return [(message.role, message.text) for message in stage.window.page.transcript.branch]


def test_a_question_is_written_sent_and_answered_by_keyboard(stage: Stage) -> None:
    """Reported fault J17."""
    page = stage.window.page
    type_text(page.composer.text_box, "Name three colours.")
    press(page.composer.text_box, Qt.Key.Key_Return)
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    answer_id = stage.house.running_id()
    stage.settle()
    assert page.composer.text() == ""
    assert page.composer.button.accessibleName() == "Stop"
    stage.house.route(answer_id, Route("smol", RouteReason.ONLY_EXPERT, route_ms=0.2))
    stage.house.prompt(answer_id)
    for piece in ("Red, ", "green ", "and blue."):
        stage.house.say(answer_id, piece)
    stage.house.finish(answer_id)
    stage.settle()
    view = stage.answer(answer_id)
    assert view.shown_text() == "Red, green and blue."
    assert view.chip.text() == "SmolLM2 135M"
    assert view.status.text() == ""
    assert page.composer.button.accessibleName() == "Send"
    assert page.header.title.text() == "Name three colours."
    assert page.header.gauge.text() == "context 182 of 8.2k"


def test_both_bubbles_are_on_screen_before_the_answer_has_any_text(stage: Stage) -> None:
    answer_id = stage.send("Hello")
    assert texts(stage) == [(Role.USER, "Hello"), (Role.ASSISTANT, "")]
    assert stage.answer(answer_id).status.text() == "Choosing an expert…"
    stage.house.progress(answer_id, TurnPhase.LOADING, 0.5)
    stage.qtbot.waitUntil(lambda: stage.answer(answer_id).status.text() == "Loading the expert… 50 %")
    stage.house.finish(answer_id)


def test_an_answer_goes_on_while_another_conversation_is_shown_and_nothing_of_it_is_lost(stage: Stage) -> None:
    """Reported faults E10, E23: the stream is bound to its message, not to what is on screen."""
    other = stage.house.converse("Old question", "Old answer", title="Other")
    answer_id = stage.send("Count")
    here = stage.window.page.conversation.conversation_id
    stage.house.say(answer_id, "one ")
    stage.open(other)
    stage.house.say(answer_id, "two ")
    stage.settle()
    assert texts(stage) == [(Role.USER, "Old question"), (Role.ASSISTANT, "Old answer")]
    assert stage.window.page.composer.button.accessibleName() == "Send"
    stage.window.page.show_conversation(here)
    stage.house.say(answer_id, "three ")  # while the store is being asked
    stage.settle()
    stage.house.say(answer_id, "four")
    stage.house.finish(answer_id)
    stage.settle()
    assert stage.answer(answer_id).shown_text() == "one two three four"


def test_switching_quickly_between_two_running_answers_mixes_nothing(stage: Stage) -> None:
    first_answer = stage.send("First")
    first = stage.window.page.conversation.conversation_id
    stage.window.page.show_new()
    second_answer = stage.send("Second")
    second = stage.window.page.conversation.conversation_id
    for i in range(20):
        stage.window.page.show_conversation(first if i % 2 else second)
        stage.house.say(first_answer, f"a{i} ")
        stage.house.say(second_answer, f"b{i} ")
        QApplication.processEvents()
    stage.open(first)
    assert stage.answer(first_answer).shown_text() == " ".join(f"a{i}" for i in range(20))
    stage.open(second)
    assert stage.answer(second_answer).shown_text() == " ".join(f"b{i}" for i in range(20))
    stage.house.finish(first_answer)
    stage.house.finish(second_answer)


def test_the_last_one_asked_for_is_shown_however_late_the_others_are(stage: Stage) -> None:
    ids = [stage.house.converse(f"q{i}", f"a{i}") for i in range(5)]
    for conversation_id in ids:
        stage.window.page.show_conversation(conversation_id)
    stage.settle()
    assert texts(stage) == [(Role.USER, "q4"), (Role.ASSISTANT, "a4")]


def test_stop_keeps_the_text_and_says_so(stage: Stage) -> None:
    answer_id = stage.send("Tell me everything")
    stage.house.say(answer_id, "Everything is")
    stage.settle()
    press(stage.window.page.composer.text_box, Qt.Key.Key_Escape)
    stage.qtbot.waitUntil(lambda: stage.answer(answer_id).status.text() == "You stopped this answer.")
    assert stage.house.turns.stopped == [answer_id]
    assert stage.answer(answer_id).shown_text() == "Everything is"


def test_a_stopped_answer_goes_on_in_the_same_message_by_keyboard(stage: Stage) -> None:
    answer_id = stage.send("Tell me everything")
    stage.house.route(answer_id, Route("smol", RouteReason.ONLY_EXPERT))
    stage.house.say(answer_id, "# Everything\n\nis **fi")
    stage.house.finish(answer_id, MessageStatus.CANCELLED)
    stage.settle()
    view = stage.answer(answer_id)
    assert view.status.go_on.text() == "Continue"
    assert view.status.go_on.isVisible()
    view.status.go_on.setFocus()
    press(view.status.go_on, Qt.Key.Key_Space)
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    stage.house.say(answer_id, "ne**, I think.")
    stage.house.finish(answer_id)
    stage.settle()
    assert stage.answer(answer_id).shown_text() == "Everything\nis fine, I think."
    assert [m.message_id for m in stage.window.page.transcript.branch].count(answer_id) == 1
    assert stage.answer(answer_id).status.isHidden()


def test_only_the_last_answer_offers_to_go_on(stage: Stage) -> None:
    first = stage.send("One")
    stage.house.route(first, Route("smol", RouteReason.ONLY_EXPERT))
    stage.house.say(first, "cut")
    stage.house.finish(first, MessageStatus.CANCELLED)
    stage.settle()
    assert not stage.answer(first).status.go_on.isHidden()
    second = stage.send("Two")
    stage.house.finish(second)
    stage.settle()
    assert stage.answer(first).status.go_on.isHidden()


def test_the_death_of_the_engine_keeps_the_text_and_says_what_happened(stage: Stage) -> None:
    answer_id = stage.send("Go on")
    stage.house.say(answer_id, "This far")
    report = ErrorReport(ErrorCode.ENGINE_DIED, {"kind": "killed", "detail": "SIGKILL"})
    stage.house.finish(answer_id, MessageStatus.FAILED, report)
    stage.settle()
    view = stage.answer(answer_id)
    assert view.shown_text() == "This far"
    assert "the system ended it, most likely because memory ran out (SIGKILL)" in view.status.text()
    assert view.status.again.text() == "Try again"


def test_another_try_is_a_sibling_and_the_first_one_stays(stage: Stage) -> None:
    first = stage.send("Say something")
    stage.house.say(first, "First.")
    stage.house.finish(first)
    stage.settle()
    stage.answer(first).again_button.click()
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    second = stage.house.running_id()
    stage.house.say(second, "Second.")
    stage.house.finish(second)
    stage.settle()
    view = stage.answer(second)
    assert view.shown_text() == "Second."
    assert view.switcher.label.text() == "2/2"
    view.switcher.earlier.click()
    stage.qtbot.waitUntil(lambda: stage.window.page.transcript.view_of(first) is not None)
    assert stage.answer(first).shown_text() == "First."
    assert stage.answer(first).switcher.label.text() == "1/2"


def test_an_edited_question_is_a_branch(stage: Stage) -> None:
    """Reported faults E14, E15: nothing is deleted, and the switcher knows all siblings."""
    conversation_id = stage.house.converse("Wht is 1+1?", "2", "And 2+2?", "4")
    stage.open(conversation_id)
    question_id = stage.window.page.transcript.branch[0].message_id
    stage.window.page.transcript.edit_submitted.emit(question_id, "What is 1+1?")
    stage.qtbot.waitUntil(lambda: bool(stage.house.books.running))
    answer_id = stage.house.running_id()
    stage.house.say(answer_id, "Two")
    stage.house.finish(answer_id)
    stage.settle()
    assert texts(stage) == [(Role.USER, "What is 1+1?"), (Role.ASSISTANT, "Two")]
    new_question = stage.window.page.transcript.branch[0].message_id
    assert stage.window.page.transcript.view_of(new_question).switcher.label.text() == "2/2"  # type: ignore[union-attr]
    stage.window.page.transcript.sibling_requested.emit(question_id)
    stage.qtbot.waitUntil(lambda: len(stage.window.page.transcript.branch) == 4)
    assert texts(stage)[0] == (Role.USER, "Wht is 1+1?")


def test_what_could_not_be_sent_is_back_in_the_field(stage: Stage) -> None:
    stage.house.turns.fail_next = fail(ErrorCode.CONVERSATION_BUSY)
    page = stage.window.page
    page.composer.set_text("my long question")
    press(page.composer.text_box, Qt.Key.Key_Return)
    stage.settle()
    assert page.composer.text() == "my long question"
    assert "An answer is still being written" in stage.window.failure.text()
    assert not stage.window.failure.isHidden()


def test_what_was_typed_meanwhile_is_kept_behind_it(stage: Stage) -> None:
    page = stage.window.page
    page.composer.set_text("first")
    stage.house.turns.fail_next = fail(ErrorCode.CONVERSATION_BUSY)
    press(page.composer.text_box, Qt.Key.Key_Return)
    type_text(page.composer.text_box, "second")
    stage.settle()
    assert page.composer.text() == "first\nsecond"


def test_each_conversation_keeps_its_draft(stage: Stage) -> None:
    one, two = stage.house.converse("a", "b"), stage.house.converse("c", "d")
    page = stage.window.page
    stage.open(one)
    type_text(page.composer.text_box, "for one")
    stage.open(two)
    assert page.composer.text() == ""
    type_text(page.composer.text_box, "for two")
    stage.open(one)
    assert page.composer.text() == "for one"
    stage.settle()
    assert stage.house.books.conversations[two].draft == "for two"


def test_a_draft_is_saved_while_one_pauses_and_is_gone_once_sent(stage: Stage) -> None:
    page = stage.window.page
    type_text(page.composer.text_box, "half a thought")
    stage.qtbot.waitUntil(lambda: bool(stage.house.conversations.drafts_saved))
    stage.settle()
    conversation_id = page.conversation.conversation_id
    assert stage.house.books.conversations[conversation_id].draft == "half a thought"
    press(page.composer.text_box, Qt.Key.Key_Return)
    stage.qtbot.waitUntil(lambda: stage.house.books.conversations[conversation_id].draft == "")
    stage.house.finish(stage.house.running_id())
    stage.settle()


def test_closing_the_window_saves_the_draft(stage: Stage) -> None:
    type_text(stage.window.page.composer.text_box, "not sent yet")
    stage.window.close()
    stage.house.store.wait(lambda: None)
    assert stage.house.conversations.drafts_saved[-1][1] == "not sent yet"


def test_new_chat_takes_the_one_that_was_begun_and_never_used(stage: Stage) -> None:
    page = stage.window.page
    first = page.conversation.conversation_id
    stage.open(stage.house.converse("a", "b"))
    page.show_new()
    assert page.conversation.conversation_id == first
    assert page.transcript.branch == ()
    type_text(page.composer.text_box, "a draft")
    page.show_new()
    assert page.conversation.conversation_id != first
    assert page.composer.text() == ""


def test_a_pinned_expert_is_shown_and_told_to_the_store(stage: Stage) -> None:
    stage.house.experts.installed = (*stage.house.experts.installed, expert("coder", name="Coder 7B"))
    stage.house.engine.wait(lambda: stage.house.experts.changed.publish(None))
    stage.settle()
    page = stage.window.page
    assert page.composer.hint.text() == "The router chooses among 2 experts"
    assert page.header.picker.text() == "Expert: Auto"
    page.header.picker.chosen.emit("coder")
    stage.qtbot.waitUntil(lambda: page.header.picker.text() == "Expert: Coder 7B")
    assert page.composer.hint.text() == "→ Coder 7B · is loaded first"
    assert stage.house.books.conversations[page.conversation.conversation_id].expert_id == "coder"
    page.header.picker.chosen.emit("")
    stage.qtbot.waitUntil(lambda: page.header.picker.text() == "Expert: Auto")


def test_after_an_expert_was_chosen_one_can_type_at_once(stage: Stage) -> None:
    page = stage.window.page
    page.header.picker.setFocus()
    menu = page.header.picker.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    assert page.header.picker.hasFocus()
    next(action for action in menu.actions() if action.text() == "SmolLM2 135M").trigger()
    assert page.composer.text_box.hasFocus()
    stage.settle()


def test_the_menu_of_experts_marks_the_pin_and_greys_out_what_is_missing(stage: Stage) -> None:
    stage.house.experts.installed = (expert("smol", name="Smol & Co"), expert("gone", name="Gone", is_present=False))
    stage.house.engine.wait(lambda: stage.house.experts.changed.publish(None))
    stage.settle()
    picker = stage.window.page.header.picker
    menu = picker.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    actions = {action.text(): action for action in menu.actions() if action.text()}
    assert list(actions) == ["Auto: the router chooses", "Smol && Co", "Gone (file missing)", "Add a model file…"]
    assert actions["Auto: the router chooses"].isChecked()
    assert not actions["Gone (file missing)"].isEnabled()


def test_a_file_that_vanished_meanwhile_is_marked_when_the_menu_opens(stage: Stage) -> None:
    assert stage.house.experts.installed[0].is_present
    stage.house.experts.installed = (expert("smol", name="SmolLM2 135M", is_present=False),)  # nobody says so
    menu = stage.window.page.header.picker.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    assert "SmolLM2 135M (file missing)" in [action.text() for action in menu.actions()]
    assert stage.window.page.composer.hint.text() == "There is no expert yet that could answer."


def test_experts_of_the_same_name_are_told_apart(stage: Stage) -> None:
    small = replace(expert("a", name="Twin"), quantization="Q4_0")
    large = replace(expert("b", name="Twin"), quantization="Q8_0")
    alike = [replace(expert(one, name="Same"), quantization="Q4_0") for one in ("c", "d")]
    stage.house.experts.installed = (small, large, *alike, expert("e", name="Other"))
    menu = stage.window.page.header.picker.menu()
    assert menu is not None
    menu.aboutToShow.emit()
    names = [action.text() for action in menu.actions() if action.data()]
    assert names == ["Twin (Q4_0)", "Twin (Q8_0)", "Same (c)", "Same (d)", "Other"]


def test_without_an_expert_the_empty_page_says_so_and_offers_to_add_one(stage: Stage) -> None:
    stage.house.experts.installed = ()
    stage.house.engine.wait(lambda: stage.house.experts.changed.publish(None))
    stage.settle()
    page = stage.window.page
    assert "There is no expert yet" in page.centre.empty.sentence()
    assert page.centre.empty.button.text() == "Add a model file…"
    asked: list[bool] = []
    page.add_model_requested.disconnect()
    page.add_model_requested.connect(lambda: asked.append(True))
    page.centre.empty.button.click()
    assert asked == [True]


def test_messages_that_were_left_out_are_said_while_the_answer_is_made(stage: Stage) -> None:
    answer_id = stage.send("Go on")
    stage.house.prompt(answer_id, n_dropped=3, n_prompt=8000)
    stage.qtbot.waitUntil(lambda: not stage.answer(answer_id).dropped.isHidden())
    assert stage.answer(answer_id).dropped.text().startswith("3 older messages were left out")
    assert stage.window.page.header.gauge.text() == "context 8.0k of 8.2k, almost full"
    stage.house.finish(answer_id)


@pytest.mark.parametrize("status", [MessageStatus.INTERRUPTED, MessageStatus.CANCELLED])
def test_an_answer_from_an_earlier_day_is_shown_as_it_was_left(stage: Stage, status: MessageStatus) -> None:
    conversation_id = stage.house.converse("q", "half an answ")
    messages = stage.house.books.messages[conversation_id]
    last = stage.house.books.conversations[conversation_id].leaf_id
    assert last is not None
    messages[last] = replace(messages[last], status=status)
    stage.open(conversation_id)
    assert stage.answer(last).shown_text() == "half an answ"
    assert stage.answer(last).status.text() != ""


def test_page_keys_in_the_composer_scroll_what_is_read(stage: Stage) -> None:
    stage.open(stage.house.converse(*(["word " * 200] * 10)))
    bar = stage.window.page.transcript.verticalScrollBar()
    end = bar.value()
    press(stage.window.page.composer.text_box, Qt.Key.Key_PageUp)
    assert bar.value() < end
