"""The list of conversations, drafts, and opening one in mid-answer."""

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import FinishReason
from tests.fakes.answering import PlayedDesk


def test_a_conversation_opened_in_mid_answer_shows_the_live_text(desk: PlayedDesk) -> None:  # E10, E23
    started = desk.ask("hello")
    desk.engine.say("half an ")
    screen = desk.result(desk.conversations.open(started.conversation_id))
    assert screen.branch[-1].text == "half an "
    assert screen.branch[-1].route is not None
    other = desk.ask("elsewhere")
    desk.engine.say("answer")
    desk.result(desk.conversations.open(other.conversation_id))
    assert desk.result(desk.conversations.open(started.conversation_id)).branch[-1].text == "half an answer"


def test_the_title_comes_from_the_first_message(desk: PlayedDesk) -> None:
    desk.whole_turn("# Plan a trip to Chengdu\nwith my mother", "gladly")
    (conversation,) = desk.result(desk.conversations.list())
    assert conversation.title == "Plan a trip to Chengdu"


def test_an_empty_new_conversation_is_not_listed_but_one_with_a_draft_is(desk: PlayedDesk) -> None:
    desk.conversations.create()
    kept = desk.conversations.create()
    desk.result(desk.conversations.save_draft(kept.conversation_id, "half a thought"))
    listed = desk.result(desk.conversations.list())
    assert [(c.conversation_id, c.draft) for c in listed] == [(kept.conversation_id, "half a thought")]
    desk.result(desk.conversations.save_draft(kept.conversation_id, ""))
    assert desk.result(desk.conversations.list()) == ()


def test_a_draft_does_not_take_the_place_of_the_first_message(desk: PlayedDesk) -> None:
    conversation = desk.conversations.create()
    desk.result(desk.conversations.save_draft(conversation.conversation_id, "hel"))
    started = desk.whole_turn("hello", "x", conversation)
    screen = desk.result(desk.conversations.open(started.conversation_id))
    assert screen.conversation.conversation_id == conversation.conversation_id
    assert [m.text for m in screen.branch] == ["hello", "x"]
    assert screen.conversation.title == "hello"


def test_deleting_hides_and_restoring_brings_everything_back(desk: PlayedDesk) -> None:
    started = desk.whole_turn("hello", "x")
    heard: list[str] = []
    desk.conversations.changed.subscribe(heard.append)
    desk.result(desk.conversations.delete(started.conversation_id))
    assert desk.result(desk.conversations.list()) == ()
    desk.result(desk.conversations.restore(started.conversation_id))
    assert len(desk.result(desk.conversations.list())) == 1
    assert [m.text for m in desk.result(desk.conversations.open(started.conversation_id)).branch] == ["hello", "x"]
    assert heard == ["", ""]


def test_renaming_is_kept(desk: PlayedDesk) -> None:
    started = desk.whole_turn("hello", "x")
    desk.result(desk.conversations.rename(started.conversation_id, "  旅行计划 \ud800"))
    (conversation,) = desk.result(desk.conversations.list())
    assert conversation.title == "旅行计划 \ufffd"


@pytest.mark.parametrize("conversation_id", ["", "nobody", "'; drop table messages; --"])
def test_a_conversation_that_is_not_there_is_named_as_such(desk: PlayedDesk, conversation_id: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        desk.result(desk.conversations.open(conversation_id))
    assert refused.value.code is ErrorCode.UNKNOWN_CONVERSATION


def test_an_edit_of_a_foreign_message_is_refused(desk: PlayedDesk) -> None:
    first = desk.whole_turn("hello", "x")
    other = desk.whole_turn("elsewhere", "y")
    conversation = desk.result(desk.conversations.open(first.conversation_id)).conversation
    assert other.question is not None
    with pytest.raises(LayaDeskError) as refused:
        desk.ask("edited", conversation, edit_of=other.question.message_id)
    assert refused.value.code is ErrorCode.UNKNOWN_CONVERSATION
    assert desk.engine.n_asked == 2


def test_an_answer_goes_on_after_its_conversation_was_deleted_and_is_there_when_it_is_restored(
    desk: PlayedDesk,
) -> None:
    started = desk.ask("hello")
    desk.result(desk.conversations.delete(started.conversation_id))
    desk.engine.say("whole", end=FinishReason.STOP)
    desk.log.ended(started.answer.message_id)
    desk.result(desk.conversations.restore(started.conversation_id))
    assert desk.result(desk.conversations.open(started.conversation_id)).branch[-1].text == "whole"


def test_with_a_deleted_conversation_the_engine_forgets_what_it_computed(desk: PlayedDesk) -> None:
    started = desk.whole_turn("hello", "x")
    desk.result(desk.conversations.delete(started.conversation_id))
    assert desk.forgotten == [started.conversation_id]
