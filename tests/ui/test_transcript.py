"""Messages on screen: streaming, scrolling, long conversations, and what is said when an answer does not end well."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason, Role, Timings
from layadesk.domain.routing import Route, RouteReason
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.chat.question_view import QuestionView
from layadesk.ui.chat.transcript_view import TranscriptView
from layadesk.ui.language import Language
from layadesk.ui.markup.parts import MAX_PLAIN
from layadesk.ui.markup.thinking_head import ThinkingHead
from layadesk.usecases.turns import TurnPhase, TurnProgress, TurnText, TurnThinking
from tests.fakes.markup import still_kit
from tests.ui.hands import click, press


def question(number: int, text: str = "Why?") -> Message:
    return Message(f"q{number}", "c", f"a{number - 1}" if number else None, Role.USER, text, float(number))


def answer(
    number: int, text: str = "Because.", status: MessageStatus = MessageStatus.COMPLETE, **rest: object
) -> Message:
    message = Message(f"a{number}", "c", f"q{number}", Role.ASSISTANT, text, number + 0.5, status, expert_id="smol")
    return message if not rest else _with(message, **rest)


def _with(message: Message, **changes: object) -> Message:
    from dataclasses import replace

    return replace(message, **changes)  # type: ignore[arg-type] # by name


def talk(n_turns: int, length: int = 200) -> tuple[Message, ...]:
    return tuple(m for i in range(n_turns) for m in (question(i), answer(i, f"{i} " + "word " * (length // 5))))


@pytest.fixture
def transcript(qtbot: QtBot, qapp: QApplication) -> TranscriptView:
    Language(qapp).use("en")
    names = {"smol": "SmolLM2 135M"}
    view = TranscriptView(name_of=names.__getitem__, kit=still_kit(), experts=lambda: [("smol", "SmolLM2 135M")])
    view.resize(700, 500)
    qtbot.addWidget(view)
    view.show()
    qtbot.waitExposed(view)
    return view


def filled(transcript: TranscriptView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: transcript.is_settled)
    QApplication.processEvents()
    QApplication.processEvents()


def answer_view(transcript: TranscriptView, number: int) -> AnswerView:
    view = transcript.view_of(f"a{number}")
    assert isinstance(view, AnswerView)
    return view


def question_view(transcript: TranscriptView, number: int) -> QuestionView:
    view = transcript.view_of(f"q{number}")
    assert isinstance(view, QuestionView)
    return view


def test_the_branch_stands_in_order(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch(talk(2, 20), {})
    filled(transcript, qtbot)
    assert [view.message.message_id for view in transcript.shown_views()] == ["q0", "a0", "q1", "a1"]
    tops = [view.mapTo(transcript, view.rect().topLeft()).y() for view in transcript.shown_views()]
    assert tops == sorted(tops)
    assert len(set(tops)) == len(tops)


def test_streamed_text_is_whole_and_keeps_the_end_in_view(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch((question(0), answer(0, "", MessageStatus.STREAMING)), {})
    text = ""
    for i in range(200):
        piece = f"word{i}\n" if i % 5 == 0 else f"word{i} "
        transcript.append_text(TurnText("c", "a0", piece, len(text), i))
        text += piece
    filled(transcript, qtbot)
    assert answer_view(transcript, 0).shown_text().split() == text.split()
    bar = transcript.verticalScrollBar()
    assert bar.maximum() > 0
    assert bar.value() == bar.maximum()


def test_text_that_is_shown_already_is_not_shown_twice(transcript: TranscriptView) -> None:
    """A view that was opened in mid-answer hears again what it has."""
    transcript.show_branch((question(0), answer(0, "Good mor", MessageStatus.STREAMING)), {})
    transcript.append_text(TurnText("c", "a0", "od mor", 2, 3))
    transcript.append_text(TurnText("c", "a0", "morning", 5, 4))
    transcript.append_text(TurnText("c", "a0", "!", 12, 5))
    assert answer_view(transcript, 0).shown_text() == "Good morning!"


def test_the_view_stays_where_the_reader_has_scrolled_to(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch((*talk(10), question(10), answer(10, "", MessageStatus.STREAMING)), {})
    filled(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    filled(transcript, qtbot)
    place = bar.value()
    for i in range(30):
        transcript.append_text(TurnText("c", "a10", "one more line\n", i * 14, i))
    filled(transcript, qtbot)
    assert bar.value() == place
    assert not transcript.to_end_button.isHidden()
    click(transcript.to_end_button)
    assert bar.value() == bar.maximum()
    assert transcript.follows_end
    assert transcript.to_end_button.isHidden()


def y_of(transcript: TranscriptView, message_id: str) -> int:
    view = transcript.view_of(message_id)
    assert view is not None
    return view.mapTo(transcript, view.rect().topLeft()).y()


def test_a_thousand_messages_open_with_those_that_are_seen(transcript: TranscriptView, qtbot: QtBot) -> None:
    """Reported faults F06, F07, F10."""
    transcript.show_branch(talk(500), {})
    filled(transcript, qtbot)
    assert 2 <= len(transcript.shown_views()) <= 30
    assert transcript.shown_views()[-1].message.message_id == "a499"
    assert transcript.verticalScrollBar().value() == transcript.verticalScrollBar().maximum()


def test_the_views_go_with_the_reader_from_end_to_end(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch(talk(500), {})
    filled(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    for part in (0.75, 0.5, 0.25, 0.0):
        bar.setValue(int(bar.maximum() * part))
        filled(transcript, qtbot)
        assert len(transcript.shown_views()) <= 60
        tops = [y_of(transcript, view.message.message_id) for view in transcript.shown_views()]
        assert tops == sorted(tops)
        ends = [top + view.height() for top, view in zip(tops, transcript.shown_views(), strict=True)]
        assert all(end <= later for end, later in zip(ends[:-1], tops[1:], strict=True))
    assert transcript.shown_views()[0].message.message_id == "q0"
    assert y_of(transcript, "q0") >= 0


def test_what_is_read_stays_in_place_while_heights_above_it_are_measured(
    transcript: TranscriptView, qtbot: QtBot
) -> None:
    odd = tuple(
        m
        for i in range(60)
        for m in (question(i), answer(i, "# Head\n\n```\n" + "code\n" * (i % 7) + "```\n| a |\n|---|\n"))
    )
    transcript.show_branch(odd, {})
    filled(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    filled(transcript, qtbot)
    seen = next(v for v in transcript.shown_views() if y_of(transcript, v.message.message_id) > 20)
    message_id = seen.message.message_id
    y = y_of(transcript, message_id)
    for _ in range(10):
        before = bar.value()
        bar.setValue(before - 30)
        filled(transcript, qtbot)
        y += 30
        assert abs(y_of(transcript, message_id) - y) <= 1


def test_a_message_in_which_something_is_edited_keeps_its_view_however_far_away(
    transcript: TranscriptView, qtbot: QtBot
) -> None:
    transcript.show_branch(talk(200), {})
    filled(transcript, qtbot)
    view = question_view(transcript, 199)
    view.begin_edit()
    transcript.verticalScrollBar().setValue(0)
    filled(transcript, qtbot)
    assert transcript.view_of("q199") is view
    assert transcript.view_of("a198") is None


def test_a_message_can_be_shown_wherever_it_is(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch(talk(300), {})
    filled(transcript, qtbot)
    transcript.show_message("a40")
    filled(transcript, qtbot)
    assert 0 <= y_of(transcript, "a40") <= 60


def test_thinking_is_folded_and_unfolds_on_demand(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch((question(0), answer(0, "", MessageStatus.STREAMING)), {})
    transcript.append_thinking(TurnThinking("c", "a0", "The pivot ", 0, 1))
    transcript.append_thinking(TurnThinking("c", "a0", "matters.", 10, 2))
    transcript.append_text(TurnText("c", "a0", "Take the middle.", 0, 3))
    filled(transcript, qtbot)
    view = answer_view(transcript, 0)
    assert view.shown_text() == "Take the middle."
    head = view.findChild(ThinkingHead)
    assert head is not None
    head.show_state(is_running=False, n_chars=1_234_567)
    assert head.width() >= head.sizeHint().width(), "its text is cut"
    click(head)
    filled(transcript, qtbot)
    assert view.shown_text() == "The pivot matters.\nTake the middle."
    click(head)
    filled(transcript, qtbot)
    assert view.shown_text() == "Take the middle."


def test_an_answer_with_nothing_but_thinking_shows_it(transcript: TranscriptView, qtbot: QtBot) -> None:
    """Reported fault G29."""
    transcript.show_branch((question(0), answer(0, "", thinking="Hello! How are you?")), {})
    filled(transcript, qtbot)
    view = answer_view(transcript, 0)
    assert view.shown_text() == "Hello! How are you?"
    click(view.copy_button)
    assert QGuiApplication.clipboard().text() == "Hello! How are you?"


def test_a_new_leaf_keeps_the_views_above_it(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch(talk(3), {})
    filled(transcript, qtbot)
    kept = question_view(transcript, 2)
    other = _with(answer(2, "Another answer."), message_id="b2")
    transcript.show_branch((*talk(3)[:-1], other), {"b2": ("a2", "b2")})
    assert transcript.view_of("q2") is kept
    assert transcript.view_of("a2") is None
    view = transcript.view_of("b2")
    assert isinstance(view, AnswerView)
    assert view.switcher.label.text() == "2/2"


def test_the_switcher_asks_for_the_other_sibling(transcript: TranscriptView, qtbot: QtBot) -> None:
    asked: list[str] = []
    transcript.sibling_requested.connect(asked.append)
    transcript.show_branch((question(0), answer(0)), {"a0": ("x", "a0", "y")})
    switcher = answer_view(transcript, 0).switcher
    assert switcher.label.text() == "2/3"
    click(switcher.earlier)
    click(switcher.later)
    assert asked == ["x", "y"]


def test_an_only_child_has_no_switcher(transcript: TranscriptView) -> None:
    transcript.show_branch((question(0), answer(0)), {})
    assert answer_view(transcript, 0).switcher.isHidden()


def test_copy_takes_the_message_and_not_its_look(transcript: TranscriptView) -> None:
    text = "first\n\tsecond  " + "x" * (2 * MAX_PLAIN)
    transcript.show_branch((question(0), answer(0, text)), {})
    click(answer_view(transcript, 0).copy_button)
    assert QGuiApplication.clipboard().text() == text
    assert answer_view(transcript, 0).copy_button.accessibleName() == "Copied"


def test_an_answer_without_text_has_nothing_to_copy(transcript: TranscriptView) -> None:
    failed = answer(0, "", MessageStatus.FAILED, error=ErrorReport(ErrorCode.OUT_OF_MEMORY))
    transcript.show_branch((question(0), failed), {})
    assert answer_view(transcript, 0).copy_button.isHidden()
    assert not answer_view(transcript, 0).again_button.isHidden()


def test_markup_is_shown_as_it_was_written_and_nothing_is_fetched(transcript: TranscriptView) -> None:
    """Reported fault G43."""
    text = "<b>bold</b> ![x](https://attacker.example/p.png?leak=1) <img src='file:///etc/passwd'>"
    transcript.show_branch((question(0), answer(0, text)), {})
    shown = answer_view(transcript, 0).shown_text()
    assert shown == "<b>bold</b> [picture, not loaded: x] <img src='file:///etc/passwd'>"


@pytest.mark.parametrize(
    ("message", "says", "offers"),
    [
        (answer(0, "half", MessageStatus.CANCELLED), "You stopped this answer.", "Answer again"),
        (
            answer(0, "half", MessageStatus.INTERRUPTED),
            "The program ended before this answer was complete. What was written until then is kept.",
            "Try again",
        ),
        (
            answer(0, "half", MessageStatus.FAILED, error=ErrorReport(ErrorCode.OUT_OF_MEMORY)),
            "There was not enough memory. Choose a smaller expert or a shorter context, or close other programs.",
            "Try again",
        ),
        (
            answer(0, "half", finish_reason=FinishReason.LENGTH),
            "The answer was cut off at its length limit.",
            "Try again",
        ),
    ],
    ids=["cancelled", "interrupted", "failed", "length"],
)
def test_an_answer_that_did_not_end_well_says_so_keeps_its_text_and_offers_another_try(
    transcript: TranscriptView, qtbot: QtBot, message: Message, says: str, offers: str
) -> None:
    asked: list[str] = []
    transcript.again_requested.connect(asked.append)
    transcript.show_branch((question(0), message), {})
    view = answer_view(transcript, 0)
    assert view.shown_text() == "half"
    assert view.status.text() == says
    assert view.status.again.text() == offers
    click(view.status.again)
    assert asked == ["a0"]


def test_a_complete_answer_says_nothing_more_than_its_figures(transcript: TranscriptView) -> None:
    timings = Timings(ttft_ms=412.0, decode_ms=1000.0, n_prompt=2100, n_cached=1900, n_decoded=62, n_ctx=8192)
    transcript.show_branch((question(0), answer(0, timings=timings)), {})
    view = answer_view(transcript, 0)
    assert view.status.text() == ""
    assert view.figures() == "first token 0.4 s · 61 tok/s · 62 tokens · reused 1.9k of 2.1k"


def test_an_answer_in_the_making_says_what_it_waits_for(transcript: TranscriptView) -> None:
    transcript.show_branch((question(0), answer(0, "", MessageStatus.STREAMING)), {})
    view = answer_view(transcript, 0)
    assert view.status.text() == "Choosing an expert…"
    transcript.show_progress(TurnProgress("c", "a0", TurnPhase.LOADING, 0.42))
    assert view.status.text() == "Loading the expert… 42 %"
    transcript.show_progress(TurnProgress("c", "a0", TurnPhase.QUEUED, position=2))
    assert view.status.text() == "Waiting, 2 requests ahead…"
    transcript.append_text(TurnText("c", "a0", "Hel", 0, 1))
    assert view.status.text() == "Writing…"
    transcript.update_message(answer(0, "Hello"))
    assert view.status.text() == ""
    assert view.shown_text() == "Hello"


@pytest.mark.parametrize(("n", "words"), [(1, "1 older message was"), (2, "2 older messages were")])
def test_messages_that_were_left_out_are_counted_in_words(transcript: TranscriptView, n: int, words: str) -> None:
    transcript.show_branch((question(0), answer(0, n_dropped=n)), {})
    view = answer_view(transcript, 0)
    assert not view.dropped.isHidden()
    assert view.dropped.text().startswith(words)


def test_the_route_stands_above_the_answer(transcript: TranscriptView) -> None:
    route = Route("smol", RouteReason.ONLY_EXPERT, route_ms=0.21)
    transcript.show_branch((question(0), answer(0, route=route)), {})
    view = answer_view(transcript, 0)
    assert view.chip.text() == "SmolLM2 135M"
    assert view.route_text() == "only expert · 0.2 ms"


def test_a_message_is_edited_in_its_place(transcript: TranscriptView, qtbot: QtBot) -> None:
    sent: list[tuple[str, str]] = []
    transcript.edit_submitted.connect(lambda *both: sent.append(both))
    transcript.show_branch((question(0, "Wy?"), answer(0)), {})
    view = question_view(transcript, 0)
    click(view.edit_button)
    box = view.edit_box
    assert box is not None
    assert box.toPlainText() == "Wy?"
    assert view.body.isHidden()
    box.setPlainText("Why?")
    press(box, Qt.Key.Key_Return)
    assert sent == [("q0", "Why?")]
    assert not view.body.isHidden()


def test_escape_leaves_the_message_as_it_was(transcript: TranscriptView, qtbot: QtBot) -> None:
    sent: list[tuple[str, str]] = []
    transcript.edit_submitted.connect(lambda *both: sent.append(both))
    transcript.show_branch((question(0, "Why?"), answer(0)), {})
    view = question_view(transcript, 0)
    view.begin_edit()
    assert view.edit_box is not None
    view.edit_box.setPlainText("changed")
    press(view.edit_box, Qt.Key.Key_Escape)
    assert sent == []
    assert not view.body.isHidden()
    assert view.body.shown_text() == "Why?"


def test_streaming_does_not_disturb_an_edit(transcript: TranscriptView, qtbot: QtBot) -> None:
    branch = (question(0), answer(0), question(1), answer(1, "", MessageStatus.STREAMING))
    transcript.show_branch(branch, {})
    view = question_view(transcript, 0)
    view.begin_edit()
    box = view.edit_box
    assert box is not None
    box.setPlainText("half typed")
    transcript.append_text(TurnText("c", "a1", "text", 0, 1))
    transcript.show_branch((*branch[:-1], answer(1, "text")), {})
    assert view.edit_box is box
    assert not box.isHidden()
    assert box.toPlainText() == "half typed"


def test_while_an_answer_is_made_nothing_can_be_edited_or_made_again(transcript: TranscriptView, qtbot: QtBot) -> None:
    sent: list[tuple[str, str]] = []
    transcript.edit_submitted.connect(lambda *both: sent.append(both))
    transcript.show_branch((question(0), answer(0)), {})
    question_view(transcript, 0).begin_edit()
    transcript.set_busy(True)
    assert not question_view(transcript, 0).edit_button.isEnabled()
    assert not answer_view(transcript, 0).again_button.isEnabled()
    box = question_view(transcript, 0).edit_box
    assert box is not None
    press(box, Qt.Key.Key_Return)
    assert sent == []
    send = question_view(transcript, 0).findChild(QPushButton, "edit-send")
    assert send is not None
    assert not send.isEnabled()
    transcript.set_busy(False)
    press(box, Qt.Key.Key_Return)
    assert sent == [("q0", "Why?")]


def test_page_keys_in_a_message_scroll_the_transcript(transcript: TranscriptView, qtbot: QtBot) -> None:
    transcript.show_branch(talk(10), {})
    filled(transcript, qtbot)
    bar = transcript.verticalScrollBar()
    end = bar.value()
    press(answer_view(transcript, 9).body.views[0], Qt.Key.Key_PageUp)
    assert bar.value() < end
