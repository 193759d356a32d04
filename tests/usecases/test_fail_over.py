"""A remote expert that fails is replaced before the user's eyes, and what it wrote is kept."""

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason, PromptMessage, Role, SamplingParams
from layadesk.domain.routing import Draft, OutReason, PoolExpert, RouterAnswer, RouteReason
from layadesk.domain.strengths import Strengths
from layadesk.protocol.events import Failed, Finished, TextDelta
from layadesk.settings import definitions
from layadesk.usecases.answer_order import AnswerEvent, AnswerOrder, FailedOver, RouteChosen
from layadesk.usecases.turns import TurnRestarted, TurnText
from tests.fakes.answering import PlayedDesk

CODE = RouterAnswer("played", 0.1, {"code": 0.9, "chat": 0.1}, {"programming": 1.0}, 3, "en")
HOST = "api.example.com"
GONE = ErrorReport(ErrorCode.REMOTE_CUT_OFF, {"host": HOST})


def far(model_id: str = "remote:big") -> PoolExpert:
    return PoolExpert(model_id, is_loaded=True, strengths=Strengths({"code": 0.95}), host=HOST)


@pytest.fixture
def cloud(desk: PlayedDesk) -> PlayedDesk:
    """A small local expert, and a better one elsewhere that Auto may use."""
    desk.remotes = [far()]
    desk.router.answer = CODE
    desk.settings.set(definitions.ALLOW_REMOTE, True)
    return desk


def break_off(desk: PlayedDesk, number: int = 0) -> None:
    desk.remote.tell(Failed(desk.remote.request(number).request_id, GONE), number)


def test_the_better_one_is_asked_where_it_is_and_the_engine_is_not(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    assert cloud.remote.request().model_id == "remote:big"
    cloud.remote.say("sorted", end=FinishReason.STOP)
    message = cloud.log.ended(started.answer.message_id).message
    assert (message.text, message.expert_id) == ("sorted", "remote:big")
    assert message.route is not None
    assert message.route.host == HOST
    assert cloud.engine.n_asked == 0


def test_without_leave_nothing_is_sent_away(cloud: PlayedDesk) -> None:
    cloud.settings.set(definitions.ALLOW_REMOTE, False)
    cloud.whole_turn("sort a list", "sorted")
    assert cloud.remote.n_asked == 0


def test_one_that_dies_in_mid_answer_is_replaced_and_its_text_is_kept_with_the_message(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    cloud.remote.say("half an ", "ans")
    break_off(cloud)
    cloud.engine.say("a whole answer", end=FinishReason.STOP)
    message = cloud.log.ended(started.answer.message_id).message
    assert (message.text, message.expert_id, message.status) == ("a whole answer", "alpha", MessageStatus.COMPLETE)
    route = message.route
    assert route is not None
    assert (route.reason, route.instead_of, route.host) == (RouteReason.FAILED_OVER, "remote:big", None)
    assert route.drafts == (Draft("remote:big", "half an ans", GONE),)
    assert [(one.model_id, one.out) for one in route.ranking] == [
        ("alpha", None),
        ("remote:big", OutReason.REMOTE_DOWN),
    ]
    stored = cloud.result(cloud.conversations.open(message.conversation_id)).branch[-1]
    assert (stored.text, stored.route) == (message.text, route)


def test_views_are_told_that_the_text_begins_anew(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    cloud.remote.say("half an ", "ans")
    break_off(cloud)
    cloud.engine.say("a whole", end=FinishReason.STOP)
    cloud.log.ended(started.answer.message_id)
    told = [event for event in cloud.log.events if isinstance(event, TurnText | TurnRestarted)]
    assert [type(event) for event in told] == [TurnText, TurnText, TurnRestarted, TurnText]
    assert isinstance(told[-1], TurnText)
    assert (told[-1].text, told[-1].offset) == ("a whole", 0)


def test_one_that_fails_before_its_first_word_is_replaced_too(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    break_off(cloud)
    cloud.engine.say("here", end=FinishReason.STOP)
    message = cloud.log.ended(started.answer.message_id).message
    assert message.text == "here"
    assert message.route is not None
    assert message.route.drafts == (Draft("remote:big", "", GONE),)


def test_two_that_fail_are_both_named(cloud: PlayedDesk) -> None:
    cloud.remotes.append(far("remote:other"))
    started = cloud.ask("sort a list")
    cloud.remote.say("one")
    break_off(cloud, 0)
    cloud.remote.say("two", number=1)
    break_off(cloud, 1)
    cloud.engine.say("three", end=FinishReason.STOP)
    route = cloud.log.ended(started.answer.message_id).message.route
    assert route is not None
    assert [draft.text for draft in route.drafts] == ["one", "two"]
    assert {draft.expert for draft in route.drafts} == {"remote:big", "remote:other"}


@pytest.mark.parametrize("is_pinned", [True, False])
def test_a_wish_is_a_wish_and_is_not_answered_by_another(cloud: PlayedDesk, is_pinned: bool) -> None:
    conversation = cloud.conversations.create()
    if is_pinned:
        cloud.result(cloud.conversations.pin_expert(conversation.conversation_id, "remote:big"))
        started = cloud.ask("sort a list", conversation)
        number = 0
    else:
        first = cloud.ask("sort a list", conversation)
        cloud.remote.say("x", end=FinishReason.STOP)
        answer_id = cloud.log.ended(first.answer.message_id).message.message_id
        again = cloud.regenerate(conversation.conversation_id, answer_id, expert="remote:big")
        started, number = cloud.result(again), 1
    cloud.remote.say("half", number=number)
    break_off(cloud, number)
    message = cloud.log.ended(started.answer.message_id).message
    assert (message.text, message.status, message.error) == ("half", MessageStatus.FAILED, GONE)
    assert cloud.engine.n_asked == 0


def test_with_nobody_left_the_first_failure_is_told(cloud: PlayedDesk) -> None:
    cloud.engine.suspects.add("alpha")
    started = cloud.ask("sort a list")
    cloud.remote.say("half")
    break_off(cloud)
    message = cloud.log.ended(started.answer.message_id).message
    assert (message.text, message.error) == ("half", GONE)


def test_a_client_that_cannot_take_text_back_hears_of_the_failure(cloud: PlayedDesk) -> None:
    heard: list[AnswerEvent] = []

    def order(name: str) -> AnswerOrder:
        prompt = (PromptMessage(Role.USER, "sort a list"),)
        return AnswerOrder(name, prompt, SamplingParams(), may_restart=False)

    cloud.answers.start(order("a"), heard.append)
    cloud.remote.say("half")
    break_off(cloud)
    assert [type(event) for event in heard if isinstance(event, RouteChosen | FailedOver | TextDelta | Failed)] == [
        RouteChosen,
        TextDelta,
        Failed,
    ]
    heard.clear()
    cloud.answers.start(order("b"), heard.append)
    break_off(cloud, 1)
    cloud.engine.say("whole", end=FinishReason.STOP)
    assert any(isinstance(event, FailedOver) for event in heard), "nothing was said yet, so nothing is taken back"
    assert isinstance(heard[-1], Finished)


def test_stopping_while_another_one_takes_over_ends_it(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    cloud.remote.say("half")
    cloud.engine.at_generate = lambda _: cloud.stop(started.answer.message_id)
    break_off(cloud)
    message = cloud.log.ended(started.answer.message_id).message
    assert message.status is MessageStatus.CANCELLED
    assert message.route is not None
    assert message.route.drafts[0].text == "half", "what was written is not lost"


def test_stopping_the_remote_one_is_no_failure(cloud: PlayedDesk) -> None:
    started = cloud.ask("sort a list")
    cloud.remote.say("half")
    cloud.stop(started.answer.message_id)
    message = cloud.log.ended(started.answer.message_id).message
    assert (message.status, message.expert_id) == (MessageStatus.CANCELLED, "remote:big")
    assert cloud.engine.n_asked == 0
