"""Remote experts in the window: marked wherever they stand, entered, tested and removed on the Settings page."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason, Timings
from layadesk.domain.remote import EndpointTest, RemoteState
from layadesk.domain.routing import Draft, OutReason, RankedExpert, Route, RouteReason
from layadesk.domain.strengths import Strengths
from layadesk.settings import definitions
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.language import CHINESE, ENGLISH
from layadesk.ui.preferences.remote_dialog import RemoteDialog
from layadesk.ui.preferences.remote_rows import RemoteRows
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.usecases.turns import TurnRestarted, TurnRouted
from tests.fakes.remotes import BIG, DOWN
from tests.ui.conftest import Stage
from tests.ui.looks import cut_texts, overlaps

HOST = "api.example.com"
ROUTE = Route("remote:big", RouteReason.PINNED, (RankedExpert("remote:big", None, host=HOST),), host=HOST)


@pytest.fixture
def far(stage: Stage) -> Stage:
    stage.house.remotes.have(BIG)
    stage.settle()
    return stage


@pytest.fixture
def rows(far: Stage) -> RemoteRows:
    far.window.show_page(Destination.SETTINGS)
    far.settle()
    return far.window.settings_page.remotes


def hint(stage: Stage) -> str:
    return stage.window.page.composer.hint.text()


def pin(stage: Stage, expert_id: str) -> None:
    conversation_id = stage.house.converse("hi", "hello")
    stage.house.conversations.pin_expert(conversation_id, expert_id).result(5)
    stage.window.show_conversation(conversation_id)
    stage.settle()


def test_before_send_the_line_says_where_the_words_would_go(far: Stage) -> None:
    assert HOST not in hint(far), "Auto may not use it, so nothing can leave"
    far.house.settings.set(definitions.ALLOW_REMOTE, True)
    far.settle()
    assert hint(far) == f"may leave this machine → {HOST} · The router chooses among 2 experts"
    far.house.settings.set(definitions.ALLOW_REMOTE, False)
    pin(far, "remote:big")
    assert hint(far) == f"leaves this machine → {HOST} · Big (remote)"
    far.house.remotes.states["remote:big"] = DOWN
    far.house.remotes.changed.publish(None)
    far.settle()
    assert hint(far).endswith("its server does not answer")


def test_with_none_but_remote_experts_auto_says_why_it_cannot(far: Stage) -> None:
    far.house.experts.installed = ()
    far.house.experts.changed.publish(None)
    far.settle()
    assert "Auto may not use remote experts" in hint(far)
    pin(far, "remote:big")
    assert HOST in hint(far)


def test_the_picker_names_it_with_its_host(far: Stage) -> None:
    picker = far.window.page.header.picker
    picker.menu().aboutToShow.emit()
    texts = [action.text() for action in picker.menu().actions()]
    assert f"Big (remote: {HOST})" in texts
    far.house.remotes.states["remote:big"] = DOWN
    picker.menu().aboutToShow.emit()
    assert f"Big (remote: {HOST}): no answer" in [action.text() for action in picker.menu().actions()]
    pin(far, "remote:big")
    assert picker.text() == "Expert: Big (remote)"


def view_of(stage: Stage, message_id: str) -> AnswerView:
    view = stage.window.page.transcript.view_of(message_id)
    assert isinstance(view, AnswerView)
    return view


def test_an_answer_and_its_route_say_where_it_came_from_also_when_the_entry_is_gone(far: Stage) -> None:
    message_id = far.send("hi")
    running = far.house.books.running[message_id]
    far.house.turns.feed.publish(TurnRouted(running.conversation_id, message_id, ROUTE))
    far.settle()
    assert view_of(far, message_id).route_text().startswith(f"leaves this machine → {HOST} · ")
    assert view_of(far, message_id).chip.text() == "Big (remote)"
    assert f"Leaves this machine → {HOST}" in far.window.panel.route.text()
    assert f"Big (remote) → {HOST}" in far.window.panel.route.text()
    far.house.remotes.entries.clear()
    far.house.remotes.changed.publish(None)
    far.settle()
    assert HOST in view_of(far, message_id).route_text()
    assert "remote:big" in far.window.panel.route.text(), "the id alone has the mark"


def test_counts_that_nobody_gave_are_not_shown_as_none(far: Stage) -> None:
    message_id = far.send("hi")
    far.house.say(message_id, "hello")
    running = far.house.books.running[message_id]
    ended = replace(
        running, text="hello", status=MessageStatus.COMPLETE, expert_id="remote:big", route=ROUTE,
        finish_reason=FinishReason.STOP, timings=Timings(ttft_ms=100.0, total_ms=300.0, is_counted=False),
    )  # fmt: skip
    view = view_of(far, message_id)
    view.show_message(ended, ())
    assert view.figures() == "first token 0.1 s · tokens: n/a"


def test_one_that_fails_in_mid_answer_leaves_its_text_in_a_draft_and_another_begins_anew(far: Stage) -> None:
    message_id = far.send("hi")
    far.house.say(message_id, "half an ans")
    far.settle()
    running = far.house.books.running[message_id]
    gone = ErrorReport(ErrorCode.REMOTE_CUT_OFF, {"host": HOST})
    route = Route(
        "smol", RouteReason.FAILED_OVER,
        (RankedExpert("smol", None), RankedExpert("remote:big", None, OutReason.REMOTE_DOWN)),
        instead_of="remote:big", drafts=(Draft("remote:big", "half an ans", gone),),
    )  # fmt: skip
    far.house.turns.feed.publish(TurnRestarted(running.conversation_id, message_id, route))
    far.settle()
    view = view_of(far, message_id)
    assert view.shown_text() == ""
    assert view.route_text().startswith("in place of Big (remote), which failed · ")
    assert "half an ans" in view.drafts.shown_text()
    assert "The connection to api.example.com ended in mid-answer." in view.drafts.shown_text()
    live = far.window.page.live.find(message_id)
    assert live is not None
    assert live.text == ""


def test_the_page_lists_them_with_what_their_servers_do(rows: RemoteRows, far: Stage) -> None:
    assert f"big-70b · leaves this machine → {HOST} · not looked at yet" in rows.text()
    far.house.remotes.states["remote:big"] = RemoteState(True)
    far.house.remotes.changed.publish(None)
    far.settle()
    assert "its server answers" in rows.text()
    far.house.remotes.states["remote:big"] = DOWN
    far.house.remotes.changed.publish(None)
    far.settle()
    assert "The server api.example.com of Big cannot be reached." in rows.text()
    for language in (CHINESE, ENGLISH):
        far.appearance.choose_language(language)
        far.settle()
        assert cut_texts(rows) == []
        assert overlaps(rows) == []


def opened(rows: RemoteRows) -> RemoteDialog:
    assert rows.dialog is not None
    return rows.dialog


def test_one_is_entered_tested_and_kept_with_its_key(rows: RemoteRows, far: Stage) -> None:
    rows.add_button.click()
    dialog = opened(rows)
    dialog.url.setText("http://192.168.1.7:8000")
    assert "leaves this machine → 192.168.1.7:8000" in dialog.remark.text()
    assert "not encrypted" in dialog.remark.text()
    dialog.url.setText("https://gpu.example/v1")
    assert "not encrypted" not in dialog.remark.text()
    dialog.model.setText("qwen-72b")
    dialog.key.setText("sk-1")
    dialog.context.setValue(32768)
    dialog.good_at.setText("code, math")
    dialog.test_button.click()
    far.qtbot.waitUntil(lambda: "It answers in 0.4 s: OK" in dialog.told.text())
    dialog.keep_button.click()
    far.qtbot.waitUntil(lambda: len(far.house.remotes.entries) == 2)
    far.settle()
    kept = far.house.remotes.entries["remote:qwen-72b"]
    assert (kept.base_url, kept.n_ctx) == ("https://gpu.example/v1", 32768)
    assert kept.strengths is not None
    assert kept.strengths.at("code") == 0.9
    assert far.house.remotes.keys == {"remote:qwen-72b": "sk-1"}
    assert "keyring" in rows.text()
    assert "sk-1" not in rows.text()


def test_what_is_wrong_is_said_in_the_dialog_which_stays_open(rows: RemoteRows, far: Stage) -> None:
    rows.add_button.click()
    dialog = opened(rows)
    dialog.url.setText("nowhere")
    assert "This is not an address of a server: nowhere." in dialog.remark.text()
    dialog.keep_button.click()
    far.qtbot.waitUntil(lambda: bool(dialog.told.text()))
    assert dialog.keep_button.isEnabled()
    dialog.url.setText("https://gpu.example/v1")
    dialog.model.setText("x")
    dialog.good_at.setText("cooking")
    dialog.test_button.click()
    assert "cooking" in dialog.told.text()
    dialog.good_at.clear()
    refused = RemoteState(False, ErrorReport(ErrorCode.REMOTE_KEY_REFUSED, {"host": "gpu.example", "status": "401"}))
    far.house.remotes.found = EndpointTest(refused)
    dialog.test_button.click()
    far.qtbot.waitUntil(lambda: "does not accept the key" in dialog.told.text())
    far.house.remotes.found = EndpointTest(RemoteState(True, None, ("a", "b")), False, "OK", 10.0)
    dialog.test_button.click()
    far.qtbot.waitUntil(lambda: "it lists: a, b" in dialog.told.text())
    assert cut_texts(dialog) == []
    dialog.reject()


def test_a_change_leaves_the_key_and_finer_strengths_alone(rows: RemoteRows, far: Stage) -> None:
    fine = Strengths({"code": 0.93, "math": 0.61}, {"law": 0.9}, ("de",), cost=0.33)
    far.house.remotes.have(replace(BIG, strengths=fine))
    far.settle()
    rows.buttons[0].click()
    dialog = opened(rows)
    assert (dialog.url.text(), dialog.model.text(), dialog.good_at.text()) == (BIG.base_url, "big-70b", "code")
    dialog.name.setText("Bigger")
    dialog.keep_button.click()
    far.qtbot.waitUntil(lambda: far.house.remotes.entries["remote:big"].name == "Bigger")
    assert far.house.remotes.entries["remote:big"].strengths == fine
    assert far.house.remotes.keys == {}


def test_a_removal_can_be_undone(rows: RemoteRows, far: Stage) -> None:
    far.house.remotes.keys["remote:big"] = "sk-1"
    rows.buttons[1].click()
    far.qtbot.waitUntil(lambda: far.window.toast.text() == "Big and its key are removed.")
    assert far.house.remotes.entries == {}
    far.window.toast.button.click()
    far.qtbot.waitUntil(lambda: "remote:big" in far.house.remotes.entries)
    assert far.house.remotes.keys == {"remote:big": "sk-1"}


def test_every_control_has_a_name_and_is_reached_by_the_keyboard(rows: RemoteRows, far: Stage) -> None:
    names = [button.accessibleName() for button in rows.findChildren(QPushButton)]
    assert set(names) == {"Add a remote expert…", "Change Big", "Remove Big"}
    assert set(rows.stops()) <= set(far.window.settings_page.focus_chain())
    rows.add_button.click()
    dialog = opened(rows)
    fields = (dialog.url, dialog.model, dialog.key, dialog.name, dialog.context, dialog.languages, dialog.good_at)
    assert all(field.accessibleName() for field in fields)
    dialog.reject()
