"""One question, one answer, nothing stored."""

import threading
from collections.abc import Callable

import pytest

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import FinishReason, SamplingParams
from layadesk.protocol.events import Failed, TextDelta
from layadesk.usecases.answer_order import AnswerEvent
from layadesk.usecases.ask import Answered, Ask
from layadesk.usecases.smoke_test import SmokeTest
from tests.fakes.answering import PATIENCE_S, PlayedDesk


def in_background(play: Callable[[], None]) -> threading.Thread:
    """Play the engine's part while this thread waits for the answer."""
    thread = threading.Thread(target=play, daemon=True)
    thread.start()
    return thread


def test_the_answer_comes_whole_with_its_route_and_measures(desk: PlayedDesk) -> None:
    ask = Ask(desk.answers, desk.settings)
    heard: list[str] = []

    def on_event(event: AnswerEvent) -> None:
        if isinstance(event, TextDelta):
            heard.append(event.text)

    player = in_background(lambda: desk.engine.say("red, ", "blue", end=FinishReason.STOP))
    answered = ask("Name colours", SamplingParams(seed=1), on_event=on_event)
    player.join(PATIENCE_S)
    assert answered.text == "red, blue" == "".join(heard)
    assert (answered.expert, answered.finish_reason, answered.error) == ("alpha", FinishReason.STOP, None)
    assert answered.memory is not None
    assert desk.engine.request().sampling.seed == 1
    assert desk.result(desk.conversations.list()) == ()


def test_a_failure_comes_with_the_text_before_it(desk: PlayedDesk) -> None:
    def play() -> None:
        desk.engine.say("half ")
        desk.engine.tell(Failed(desk.engine.request().request_id, ErrorReport(ErrorCode.ENGINE_DIED)))

    in_background(play)
    answered = Ask(desk.answers, desk.settings)("hello", SamplingParams())
    assert answered == Answered(
        "half ",
        "alpha",
        answered.route,
        FinishReason.ERROR,
        None,
        answered.memory,
        ErrorReport(ErrorCode.ENGINE_DIED),
    )


def test_nothing_to_ask_is_refused_before_anything_starts(desk: PlayedDesk) -> None:
    with pytest.raises(LayaDeskError) as refused:
        Ask(desk.answers, desk.settings)(" \n", SamplingParams())
    assert refused.value.code is ErrorCode.EMPTY_PROMPT
    assert desk.router.asked == []


def test_an_unknown_expert_fails_in_words(desk: PlayedDesk) -> None:
    answered = Ask(desk.answers, desk.settings)("hello", SamplingParams(), expert="zeta")
    assert answered.error is not None
    assert answered.error.code is ErrorCode.UNKNOWN_EXPERT


def test_the_smoke_test_passes_on_an_answer_and_fails_on_none(desk: PlayedDesk) -> None:
    smoke = SmokeTest(Ask(desk.answers, desk.settings))
    in_background(lambda: desk.engine.say("red", end=FinishReason.STOP))
    steps = smoke()
    assert [(s.name, s.passed) for s in steps] == [
        ("route", True),
        ("load", True),
        ("answer", True),
        ("measure", False),  # the played engine measures nothing, and that is said, not passed
    ]
    in_background(lambda: desk.engine.say("", number=1, end=FinishReason.STOP))
    assert not all(step.passed for step in smoke())
    in_background(lambda: desk.engine.say("re", number=2, end=FinishReason.CANCELLED))
    assert not all(step.passed for step in smoke())  # interrupted is not passed
    desk.inventory.remove("alpha")
    (only,) = smoke()
    assert only.error is not None
    assert only.error.code is ErrorCode.NO_EXPERT_INSTALLED
