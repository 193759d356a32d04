"""Two experts draft, the main one writes the final answer from both; cancel works in each phase."""

from collections.abc import Callable

import pytest

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason
from layadesk.domain.routing import RouterAnswer
from layadesk.protocol.events import Failed
from layadesk.settings import definitions
from layadesk.usecases.turns import TurnDraft, TurnStarted
from tests.fakes.answering import PlayedDesk

CODE = RouterAnswer("played", 0.1, {"code": 0.9, "chat": 0.1}, {"programming": 1.0}, 3, "en")


@pytest.fixture
def two(desk: PlayedDesk) -> PlayedDesk:
    desk.install("star-coder")
    desk.router.answer = CODE
    desk.settings.set(definitions.TOPK, 2)
    return desk


def load_both(desk: PlayedDesk) -> None:
    desk.engine.loaded = dict.fromkeys(("alpha", "star-coder"))  # type: ignore[assignment]


def end_of(desk: PlayedDesk, started: TurnStarted) -> Message:
    return desk.log.ended(started.answer.message_id).message


def test_one_after_the_other_where_not_both_are_in_memory_and_the_main_one_is_loaded_once(two: PlayedDesk) -> None:
    started = two.ask("sort a list")
    assert two.engine.request(0).model_id == "alpha"
    two.engine.say("use ", "sorted", number=0, end=FinishReason.STOP)
    assert two.engine.request(1).model_id == "star-coder"
    two.engine.say("use quicksort", number=1, end=FinishReason.STOP)
    final = two.engine.request(2)
    assert (final.model_id, final.request_id) == ("star-coder", final.request_id.split("/", maxsplit=1)[0])
    assert "use quicksort" in final.messages[-1].text
    assert "use sorted" in final.messages[-1].text
    assert "sort a list" in final.messages[-1].text
    two.engine.say("the final ", "answer", number=2, end=FinishReason.STOP)
    message = end_of(two, started)
    assert (message.text, message.expert_id, message.status) == (
        "the final answer",
        "star-coder",
        MessageStatus.COMPLETE,
    )
    assert message.route is not None
    assert [(draft.expert, draft.text) for draft in message.route.drafts] == [
        ("alpha", "use sorted"),
        ("star-coder", "use quicksort"),
    ]
    stored = two.result(two.conversations.open(message.conversation_id)).branch[-1]
    assert stored.route == message.route, "both drafts are kept"
    told = [event for event in two.log.events if isinstance(event, TurnDraft)]
    assert "".join(event.text for event in told if event.expert == "alpha") == "use sorted"


def test_side_by_side_where_both_are_in_memory(two: PlayedDesk) -> None:
    load_both(two)
    two.ask("sort a list")
    assert {two.engine.request(0).model_id, two.engine.request(1).model_id} == {"alpha", "star-coder"}
    assert two.engine.n_asked == 2


def test_the_next_question_sees_the_final_answer_and_not_the_drafts(two: PlayedDesk) -> None:
    started = two.ask("sort a list")
    for number, text in enumerate(("first", "second", "final")):
        two.engine.say(text, number=number, end=FinishReason.STOP)
    conversation = two.result(two.conversations.open(end_of(two, started).conversation_id)).conversation
    two.ask("make it shorter", conversation)
    assert [m.text for m in two.engine.request(3).messages] == ["sort a list", "final", "make it shorter"]


def first_draft(desk: PlayedDesk) -> None:
    desk.engine.request(0)


def second_draft(desk: PlayedDesk) -> None:
    desk.engine.say("one", number=0, end=FinishReason.STOP)
    desk.engine.request(1)


def final(desk: PlayedDesk) -> None:
    second_draft(desk)
    desk.engine.say("two", number=1, end=FinishReason.STOP)
    desk.engine.say("so far", number=2)


@pytest.mark.parametrize(("until", "text"), [(first_draft, ""), (second_draft, ""), (final, "so far")])
def test_stopping_works_in_each_phase(two: PlayedDesk, until: Callable[[PlayedDesk], None], text: str) -> None:
    started = two.ask("sort a list")
    until(two)
    two.stop(started.answer.message_id)
    message = end_of(two, started)
    assert (message.text, message.status) == (text, MessageStatus.CANCELLED)
    assert two.engine.n_asked <= 3


def test_where_one_fails_the_other_draft_is_the_answer_and_the_failure_stays_readable(two: PlayedDesk) -> None:
    started = two.ask("sort a list")
    request_id = two.engine.request(0).request_id
    two.engine.tell(Failed(request_id, ErrorReport(ErrorCode.OUT_OF_MEMORY)), 0)
    two.engine.say("use quicksort", number=1, end=FinishReason.STOP)
    message = end_of(two, started)
    assert (message.text, message.status) == ("use quicksort", MessageStatus.COMPLETE)
    assert message.route is not None
    failed = message.route.drafts[0]
    assert (failed.expert, failed.text) == ("alpha", "")
    assert failed.error is not None
    assert failed.error.code is ErrorCode.OUT_OF_MEMORY


def test_where_both_fail_the_answer_fails_with_the_main_experts_reason(two: PlayedDesk) -> None:
    started = two.ask("sort a list")
    for number, code in enumerate((ErrorCode.OUT_OF_MEMORY, ErrorCode.ENGINE_DIED)):
        request_id = two.engine.request(number).request_id
        two.engine.tell(Failed(request_id, ErrorReport(code)), number)
    message = end_of(two, started)
    assert message.status is MessageStatus.FAILED
    assert message.error is not None
    assert message.error.code is ErrorCode.ENGINE_DIED


def test_it_is_off_unless_it_is_wanted(desk: PlayedDesk) -> None:
    desk.install("star-coder")
    desk.router.answer = CODE
    desk.ask("sort a list")
    desk.engine.say("done", number=0, end=FinishReason.STOP)
    assert desk.engine.n_asked == 1
