"""A message from Enter to its stored answer. Rows of the fault list are named where they are covered."""

import sqlite3
import threading

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import FinishReason, PromptMessage, Role, Timings
from layadesk.domain.routing import RouteReason
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, Loading, PrefillProgress, Queued, TextDelta, ThinkingDelta
from layadesk.settings import definitions
from layadesk.usecases.running_turns import SAVE_EVERY_S
from layadesk.usecases.turns import (
    TurnEnded,
    TurnEvent,
    TurnPhase,
    TurnProgress,
    TurnPrompt,
    TurnRouted,
    TurnStarted,
    TurnText,
    TurnThinking,
)
from tests.fakes.answering import PlayedDesk


def rows(desk: PlayedDesk, sql: str) -> list[tuple[object, ...]]:
    """What another program would read in the database now."""
    connection = sqlite3.connect(desk.paths.database)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_the_question_is_on_disk_before_the_engine_hears_of_it(desk: PlayedDesk) -> None:  # E02
    seen: list[list[tuple[object, ...]]] = []
    desk.engine.at_generate = lambda _: seen.append(rows(desk, "select role, text from message order by created_at"))
    desk.ask("Where is my text?")
    desk.engine.request()
    assert seen == [[("user", "Where is my text?"), ("assistant", "")]]


def test_the_text_so_far_is_on_disk_while_the_answer_is_still_being_made(desk: PlayedDesk) -> None:  # E02
    started = desk.ask("hello")
    saved = threading.Event()
    store_progress = desk.running._save

    def save(message_id: str, text: str, n_decoded: int, thinking: str) -> object:
        future = store_progress(message_id, text, n_decoded, thinking)
        future.add_done_callback(lambda _: saved.set())
        return future

    desk.running._save = save  # type: ignore[assignment]  # only to hear when it has happened
    desk.engine.say("half an ", "answer")
    assert saved.wait(20 * SAVE_EVERY_S)
    assert rows(desk, "select text, status from message where role = 'assistant'") == [("half an answer", "streaming")]
    assert desk.running.live_text(started.answer.message_id) == "half an answer"


def test_a_stop_while_the_question_is_still_on_its_way_to_the_disk_is_not_lost(desk: PlayedDesk) -> None:
    def stop_at_once(event: TurnEvent) -> None:
        if isinstance(event, TurnStarted):
            desk.stop(event.answer.message_id)

    desk.turns.subscribe(stop_at_once)
    started = desk.ask("hello")
    ended = desk.log.ended(started.answer.message_id)
    assert ended.message.status is MessageStatus.CANCELLED
    assert rows(desk, "select text from message where role = 'user'") == [("hello",)]


def test_a_finished_answer_is_stored_with_its_route_timings_and_memory(desk: PlayedDesk) -> None:
    started = desk.whole_turn("hello", "good day")
    screen = desk.result(desk.conversations.open(started.conversation_id))
    answer = screen.branch[-1]
    assert (answer.text, answer.status, answer.expert_id) == ("good day", MessageStatus.COMPLETE, "alpha")
    assert answer.route is not None
    assert answer.route.reason is RouteReason.ONLY_EXPERT
    assert answer.route.router_id == "played"
    assert answer.timings is not None
    assert answer.memory is not None
    assert answer.memory.weights_bytes == 1000


def test_one_answer_is_one_row_however_many_tokens_it_has(desk: PlayedDesk) -> None:  # E13
    started = desk.ask("count")
    desk.engine.say(*[f"{n} " for n in range(500)], end=FinishReason.STOP)
    desk.log.ended(started.answer.message_id)
    desk.result(desk.conversations.list())
    assert rows(desk, "select count(*) from message") == [(2,)]
    assert rows(desk, "select count(*) from conversation") == [(1,)]


def test_the_death_of_the_engine_keeps_the_text_and_says_why(desk: PlayedDesk) -> None:
    started = desk.ask("hello")
    desk.engine.say("half an ")
    died = ErrorReport(ErrorCode.ENGINE_DIED, {"kind": "killed", "detail": "SIGKILL"})
    desk.engine.tell(Failed(desk.engine.request().request_id, died))
    message = desk.log.ended(started.answer.message_id).message
    assert (message.text, message.status, message.error) == ("half an ", MessageStatus.FAILED, died)
    stored = desk.result(desk.conversations.open(started.conversation_id)).branch[-1]
    assert (stored.text, stored.status, stored.error) == ("half an ", MessageStatus.FAILED, died)


def test_the_deltas_carry_their_place_so_that_a_late_view_neither_doubles_nor_misses_any(desk: PlayedDesk) -> None:
    started = desk.ask("hello")
    desk.engine.say("ab", "cde", "f", end=FinishReason.STOP)
    desk.log.ended(started.answer.message_id)
    deltas = [e for e in desk.log.events if isinstance(e, TurnText)]
    assert [(e.offset, e.text) for e in deltas] == [(0, "ab"), (2, "cde"), (5, "f")]


def test_thinking_is_told_stored_and_never_mixed_with_the_answer(desk: PlayedDesk) -> None:  # G28, G35
    started = desk.ask("hello")
    request_id = desk.engine.request().request_id
    desk.engine.say()
    desk.engine.tell(ThinkingDelta(request_id, "Hm", 1))
    desk.engine.tell(ThinkingDelta(request_id, "m.", 2))
    assert desk.running.live_thinking(started.answer.message_id) == "Hmm."
    assert desk.result(desk.conversations.open(started.conversation_id)).branch[-1].thinking == "Hmm."
    desk.engine.tell(TextDelta(request_id, "Yes.", 3))
    desk.engine.tell(Finished(request_id, "Yes.", FinishReason.STOP, Timings(n_thinking=2), thinking="Hmm."))
    desk.log.ended(started.answer.message_id)
    told = [e for e in desk.log.events if isinstance(e, TurnThinking)]
    assert [(e.offset, e.text, e.n_decoded) for e in told] == [(0, "Hm", 1), (2, "m.", 2)]
    stored = desk.result(desk.conversations.open(started.conversation_id)).branch[-1]
    assert (stored.thinking, stored.text) == ("Hmm.", "Yes.")
    assert stored.timings is not None
    assert stored.timings.n_thinking == 2
    desk.ask("and now?", desk.result(desk.conversations.open(started.conversation_id)).conversation)
    assert [one.text for one in desk.engine.request(1).messages] == ["hello", "Yes.", "and now?"]


def test_phases_reach_the_front_rooms_in_order(desk: PlayedDesk) -> None:
    started = desk.ask("hello")
    request_id = desk.engine.request().request_id
    desk.engine.tell(Queued(request_id, 2))
    desk.engine.tell(Loading(request_id, "alpha", 0.5))
    desk.engine.say(n_dropped=3)
    desk.engine.tell(PrefillProgress(request_id, 5, 10))
    desk.engine.say("x", end=FinishReason.STOP)
    end = desk.log.ended(started.answer.message_id).message
    progress = [(e.phase, e.fraction, e.position) for e in desk.log.events if isinstance(e, TurnProgress)]
    assert progress == [
        (TurnPhase.QUEUED, None, 2),
        (TurnPhase.LOADING, 0.5, None),
        (TurnPhase.PREFILL, 0.5, None),
    ]
    prompt = next(e for e in desk.log.events if isinstance(e, TurnPrompt))
    assert (prompt.n_dropped, prompt.n_ctx) == (3, 512)
    assert any(isinstance(e, TurnRouted) for e in desk.log.events)
    assert end.n_dropped == 0  # what the last PromptBuilt said


def test_an_edit_is_a_branch_and_nothing_below_is_lost(desk: PlayedDesk) -> None:  # E14, E15
    first = desk.whole_turn("one", "1")
    conversation = desk.result(desk.conversations.open(first.conversation_id)).conversation
    second = desk.whole_turn("two", "2", conversation)
    assert first.question is not None
    number = desk.engine.n_asked
    edited = desk.ask("uno", conversation, edit_of=first.question.message_id)
    desk.engine.say("I", number=number, end=FinishReason.STOP)
    desk.log.ended(edited.answer.message_id)

    screen = desk.result(desk.conversations.open(first.conversation_id))
    assert [m.text for m in screen.branch] == ["uno", "I"]
    assert edited.question is not None
    siblings = (first.question.message_id, edited.question.message_id)
    assert screen.siblings[edited.question.message_id] == siblings
    back = desk.result(desk.conversations.switch_to(first.conversation_id, first.question.message_id))
    assert [m.text for m in back.branch] == ["one", "1", "two", "2"]
    assert desk.result(desk.conversations.open(first.conversation_id)).branch == back.branch
    assert second.question is not None


def test_a_regenerated_answer_stands_beside_the_old_one(desk: PlayedDesk) -> None:
    first = desk.whole_turn("one", "1")
    number = desk.engine.n_asked
    again = desk.result(desk.regenerate(first.conversation_id, first.answer.message_id))
    assert again.question is None
    desk.engine.say("I", number=number, end=FinishReason.STOP)
    desk.log.ended(again.answer.message_id)
    screen = desk.result(desk.conversations.open(first.conversation_id))
    assert [m.text for m in screen.branch] == ["one", "I"]
    assert screen.siblings[again.answer.message_id] == (first.answer.message_id, again.answer.message_id)
    assert [m.text for m in desk.engine.request(number).messages] == ["one"]


def test_the_prompt_is_the_shown_branch_with_the_system_prompt_in_front(desk: PlayedDesk) -> None:
    desk.settings.set(definitions.SYSTEM_PROMPT, "Be brief.")
    first = desk.whole_turn("one", "1")
    conversation = desk.result(desk.conversations.open(first.conversation_id)).conversation
    desk.whole_turn("two", "2", conversation)
    assert desk.engine.request(1).messages == (
        PromptMessage(Role.SYSTEM, "Be brief."),
        PromptMessage(Role.USER, "one"),
        PromptMessage(Role.ASSISTANT, "1"),
        PromptMessage(Role.USER, "two"),
    )
    assert desk.router.asked[1] == ("two", ("one",))


def test_a_second_message_waits_for_the_first_but_other_conversations_do_not(desk: PlayedDesk) -> None:
    started = desk.ask("one")
    conversation = desk.result(desk.conversations.open(started.conversation_id)).conversation
    with pytest.raises(LayaDeskError) as refused:
        desk.ask("two", conversation)
    assert refused.value.code is ErrorCode.CONVERSATION_BUSY
    with pytest.raises(LayaDeskError) as again:
        desk.result(desk.regenerate(started.conversation_id, started.answer.message_id))
    assert again.value.code is ErrorCode.CONVERSATION_BUSY
    other = desk.ask("elsewhere")
    assert desk.engine.request(1).messages[-1].text == "elsewhere"
    assert other.conversation_id != started.conversation_id


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x00"])
def test_an_empty_message_is_refused_and_nothing_is_stored(desk: PlayedDesk, text: str) -> None:
    with pytest.raises(LayaDeskError) as refused:
        desk.ask(text)
    assert refused.value.code is ErrorCode.EMPTY_PROMPT
    assert rows(desk, "select count(*) from conversation") == [(0,)]


def test_half_a_surrogate_pair_and_nul_do_not_break_the_message(desk: PlayedDesk) -> None:
    started = desk.ask("a\ud800b\x00c")
    assert started.question is not None
    assert started.question.text == "a\ufffdbc"
    assert desk.engine.request().messages[-1].text == "a\ufffdbc"


def test_without_an_expert_the_question_is_kept_and_the_answer_says_what_is_missing(desk: PlayedDesk) -> None:
    desk.inventory.remove("alpha")
    started = desk.ask("hello?")
    message = desk.log.ended(started.answer.message_id).message
    assert message.error is not None
    assert message.error.code is ErrorCode.NO_EXPERT_INSTALLED
    assert rows(desk, "select text from message where role = 'user'") == [("hello?",)]


def test_a_pinned_expert_answers_and_the_route_says_so(desk: PlayedDesk) -> None:
    desk.install("beta")
    conversation = desk.conversations.create()
    desk.result(desk.conversations.pin_expert(conversation.conversation_id, "beta"))
    started = desk.ask("hello", conversation)
    assert desk.engine.request().model_id == "beta"
    desk.engine.say("x", end=FinishReason.STOP)
    route = desk.log.ended(started.answer.message_id).message.route
    assert route is not None
    assert (route.expert, route.reason) == ("beta", RouteReason.PINNED)


def test_while_the_router_is_away_the_chat_goes_on_and_the_route_says_so(desk: PlayedDesk) -> None:
    desk.install("beta")
    desk.router.answer = None
    started = desk.whole_turn("hello", "x")
    route = desk.log.ended(started.answer.message_id).message.route
    assert route is not None
    assert route.reason is RouteReason.ROUTER_AWAY
    assert route.route_ms is None


def test_stopping_keeps_the_text_so_far(desk: PlayedDesk) -> None:
    started = desk.ask("hello")
    request = desk.engine.request()
    desk.engine.say("so ", "far")
    desk.stop(started.answer.message_id)
    assert desk.engine.cancelled == [request.request_id]


def test_stopping_while_the_request_is_routed_never_reaches_the_engine(desk: PlayedDesk) -> None:
    desk.router.holds = True
    started = desk.ask("hello")
    assert desk.router.arrived.wait(10)
    desk.stop(started.answer.message_id)
    message = desk.log.ended(started.answer.message_id).message
    assert message.status is MessageStatus.CANCELLED, "at once: a router that is starting may take seconds"
    desk.router.held[0](desk.router.answer)
    assert desk.engine.n_asked == 0
    assert message.route is None


def test_stopping_in_the_moment_of_handing_over_is_not_lost(desk: PlayedDesk) -> None:
    desk.router.holds = True
    started = desk.ask("hello")
    assert desk.router.arrived.wait(10)

    def stop_now(_: Generate) -> None:
        desk.stop(started.answer.message_id)

    desk.engine.at_generate = stop_now
    desk.router.held[0](desk.router.answer)
    assert desk.log.ended(started.answer.message_id).message.status is MessageStatus.CANCELLED
    assert desk.engine.cancelled == [desk.engine.request().request_id]


def test_stopping_what_has_ended_is_silent(desk: PlayedDesk) -> None:
    started = desk.whole_turn("hello", "x")
    desk.stop(started.answer.message_id)
    assert desk.engine.cancelled == []


def test_stopping_everything_waits_until_all_have_ended(desk: PlayedDesk) -> None:
    desk.ask("one")
    desk.ask("two")
    desk.engine.request(1)
    assert desk.stop.all(10)
    assert desk.running.message_ids() == ()


def test_a_subscriber_that_fails_does_not_lose_the_answer(desk: PlayedDesk, caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("a broken view")

    desk.turns.subscribe(broken)
    started = desk.whole_turn("hello", "x")
    assert desk.log.ended(started.answer.message_id).message.text == "x"
    assert "a subscriber of" in caplog.text
    caplog.clear()


def test_while_answers_are_paused_what_is_asked_waits_in_its_order_and_can_be_stopped(desk: PlayedDesk) -> None:
    desk.answers.pause()
    first, second = desk.ask("one"), desk.ask("two")
    for started in (first, second):
        desk.log.queued(started.answer.message_id)
    assert desk.engine.n_asked == 0
    desk.stop(second.answer.message_id)
    ended = desk.log.ended(second.answer.message_id).message
    assert (ended.status, ended.text) == (MessageStatus.CANCELLED, "")
    desk.answers.resume()
    desk.engine.say("here", end=FinishReason.STOP)
    assert desk.log.ended(first.answer.message_id).message.text == "here"
    assert desk.engine.n_asked == 1


def stopped(desk: PlayedDesk, text: str = "one two") -> TurnStarted:
    """A question whose answer was stopped after `text`."""
    number = desk.engine.n_asked
    started = desk.ask("Count.")
    desk.engine.say(text, number=number)
    desk.stop(started.answer.message_id)
    desk.log.ended(started.answer.message_id)
    return started


def test_an_answer_that_was_stopped_grows_in_the_same_message(desk: PlayedDesk) -> None:
    started = stopped(desk)
    answer_id = started.answer.message_id
    again = desk.result(desk.continue_answer(started.conversation_id, answer_id))
    assert (again.answer.message_id, again.answer.text, again.question) == (answer_id, "one two", None)
    request = desk.engine.request(1)
    assert [(m.role, m.text) for m in request.messages] == [(Role.USER, "Count."), (Role.ASSISTANT, "one two")]
    assert (request.continues, request.model_id) == (True, "alpha")
    assert desk.running.live_text(answer_id) == "one two"
    asked_before = len(desk.router.asked)
    desk.engine.say(" three", number=1, end=FinishReason.STOP)
    desk.log.wait(lambda event: isinstance(event, TurnEnded) and event.message.text == "one two three")
    stored = desk.result(desk.conversations.open(started.conversation_id)).branch
    assert [m.text for m in stored] == ["Count.", "one two three"]
    assert stored[-1].status is MessageStatus.COMPLETE
    assert stored[-1].route is not None, "the route of its beginning stays"
    assert stored[-1].timings is not None
    assert stored[-1].timings.n_before == 0, "a stop told of no tokens here"
    assert len(desk.router.asked) == asked_before == 1, "nothing is routed again"
    deltas = [e for e in desk.log.events if isinstance(e, TurnText)]
    assert [(e.offset, e.text) for e in deltas] == [(0, "one two"), (7, " three")]


def test_a_continuation_that_fails_keeps_all_that_was_there(desk: PlayedDesk) -> None:
    started = stopped(desk)
    desk.inventory.remove("alpha")
    desk.install("beta")
    desk.result(desk.continue_answer(started.conversation_id, started.answer.message_id))
    desk.log.wait(lambda event: isinstance(event, TurnEnded) and event.message.error is not None)
    message = desk.result(desk.conversations.open(started.conversation_id)).branch[-1]
    assert (message.text, message.status) == ("one two", MessageStatus.FAILED)
    assert message.error is not None
    assert message.error.code is ErrorCode.UNKNOWN_EXPERT, "nobody else writes on in its place"
    assert desk.engine.n_asked == 1


def test_only_the_last_answer_and_only_a_cut_one_is_gone_on_with(desk: PlayedDesk) -> None:
    whole = desk.whole_turn("one", "1")
    with pytest.raises(LayaDeskError) as refused:
        desk.result(desk.continue_answer(whole.conversation_id, whole.answer.message_id))
    assert refused.value.code is ErrorCode.CANNOT_CONTINUE
    started = stopped(desk, "half")
    conversation = desk.result(desk.conversations.open(started.conversation_id)).conversation
    desk.whole_turn("and then?", "more", conversation)
    with pytest.raises(LayaDeskError) as replied:
        desk.result(desk.continue_answer(started.conversation_id, started.answer.message_id))
    assert replied.value.facts == {"reason": "replied to"}
