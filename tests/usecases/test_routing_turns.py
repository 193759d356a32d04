"""The router's word, the conversation so far, and the user's wishes meet in each turn."""

from dataclasses import replace

import pytest

from layadesk.domain.inference import PromptMessage, Role, SamplingParams
from layadesk.domain.routing import Route, RouterAnswer, RouteReason
from layadesk.settings import definitions
from layadesk.usecases.answer_order import AnswerOrder, RouteChosen, turn_of
from tests.fakes.answering import PlayedDesk

CODE = RouterAnswer("played", 0.1, {"code": 0.9, "chat": 0.1}, {"programming": 1.0}, 3, "en")
CHAT = RouterAnswer("played", 0.1, {"chat": 0.95, "code": 0.05}, {"general": 1.0}, 1, "en")


def pool(desk: PlayedDesk) -> None:
    desk.install("star-coder")
    desk.settings.set(definitions.DEFAULT_EXPERT, "alpha")


def last_route(desk: PlayedDesk, conversation_id: str) -> Route:
    branch = desk.result(desk.conversations.open(conversation_id)).branch
    route = branch[-1].route
    assert route is not None
    return route


def test_the_router_sends_code_to_the_coder_and_a_follow_up_stays_there(desk: PlayedDesk) -> None:
    pool(desk)
    desk.router.answer = CODE
    conversation = desk.whole_turn("sort this list in Python", "done").answer.conversation_id
    assert (last_route(desk, conversation).expert, last_route(desk, conversation).reason) == (
        "star-coder",
        RouteReason.ROUTER,
    )
    desk.router.answer = CHAT
    current = desk.result(desk.conversations.open(conversation)).conversation
    desk.whole_turn("make it shorter", "ok", current)
    assert last_route(desk, conversation).reason is RouteReason.FOLLOW_UP
    desk.whole_turn("tell me something nice about the sea in winter please", "blue", current)
    assert last_route(desk, conversation).expert == "alpha"
    assert last_route(desk, conversation).n_reprefill > 0


def test_a_pick_for_one_message_beats_the_pin(desk: PlayedDesk) -> None:
    pool(desk)
    heard: list[object] = []
    messages = (PromptMessage(Role.USER, "hello there"),)
    order = AnswerOrder("r1", messages, SamplingParams(), pinned="alpha", picked="star-coder")
    desk.answers.start(order, heard.append)
    chosen = heard[0]
    assert isinstance(chosen, RouteChosen)
    assert (chosen.route.expert, chosen.route.reason) == ("star-coder", RouteReason.PICKED)


def test_what_the_policy_weighs_is_told_from_the_messages_alone() -> None:
    said = (
        PromptMessage(Role.SYSTEM, "You are brief."),
        PromptMessage(Role.USER, "写一首诗" * 10),
        PromptMessage(Role.ASSISTANT, "a" * 400),
        PromptMessage(Role.USER, "/fix it"),
    )
    turn = turn_of(AnswerOrder("r", said, SamplingParams(), current="alpha"))
    assert (turn.slash, turn.is_follow_up, turn.current) == ("fix", False, "alpha")
    assert turn.n_prompt > turn.n_history > 100 > (turn.n_least or 0)
    again = turn_of(AnswerOrder("r", (*said[:-1], PromptMessage(Role.USER, "继续")), SamplingParams()))
    assert again.is_follow_up
    assert not turn_of(AnswerOrder("r", (said[0], replace(said[1], text="继续")), SamplingParams())).is_follow_up


def test_a_heavy_request_is_thought_about_on_an_expert_that_can_and_only_where_that_is_wanted(desk: PlayedDesk) -> None:
    desk.install("think-r1")
    heavy = RouterAnswer("played", 0.1, {"math": 1.0}, {"math": 1.0}, 5, "en")
    desk.router.answer = heavy
    desk.whole_turn("prove it", "done")
    desk.settings.set(definitions.ENHANCE, True)
    desk.whole_turn("prove it", "done")
    desk.router.answer = replace(heavy, complexity=1)
    desk.whole_turn("prove it", "done")
    assert [desk.engine.request(n).thinking.enabled for n in range(3)] == [None, True, None]


def test_a_slow_router_is_waited_for_a_little_longer_than_its_own_deadline(desk: PlayedDesk) -> None:
    quick = desk.pool.route_deadline_s()
    desk.settings.set(definitions.ROUTER, "laya:/somewhere")
    desk.settings.set(definitions.ROUTER_DEADLINE_MS, 900)
    assert desk.pool.route_deadline_s() - quick == 0.9


def test_every_decision_is_a_line_of_the_log_without_a_word_of_the_request(
    desk: PlayedDesk, caplog: pytest.LogCaptureFixture
) -> None:
    desk.router.answer = CODE
    desk.whole_turn("a very secret question", "done")
    (line,) = [record.getMessage() for record in caplog.records if "route_decision" in record.getMessage()]
    assert "expert=alpha reason=only_expert task=code confidence=0.9" in line
    assert "secret" not in line
