"""The router child's own work, without a process."""

import queue
from collections.abc import Sequence

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import PoolExpert, RouterAnswer, RouteReason
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import Cancel, Ping, RouterCommand, RouteText, Shutdown
from layadesk.protocol.events import Failed, RouteAnswered, RouterEvent
from layadesk.protocol.options import RouterOptions
from layadesk.router.main import load_decision_model, serve
from layadesk.router.no_opinion import NoOpinion


class FakeLine(ChildLine[RouterCommand, RouterEvent]):
    """A line without threads or a pipe: everything is in the inbox from the start."""

    def __init__(self, *commands: RouterCommand) -> None:
        self.inbox = _Impatient()
        for command in commands:
            self.inbox.put(command)
        self.sent: list[RouterEvent] = []

    def send(self, message: RouterEvent) -> None:
        self.sent.append(message)

    def set_phase(self, phase: str, step: int) -> None:
        assert phase == "idle"


class _Impatient(queue.SimpleQueue[RouterCommand]):
    """An inbox that raises instead of waiting for a next command."""

    def get(self, block: bool = True, timeout: float | None = None) -> RouterCommand:
        return super().get(block=False)


class FakeModel:
    """Knows what it was asked; cannot bear the text `bad`."""

    router_id = "fake"

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:
        self.asked.append((text, tuple(history)))
        if text == "bad":
            raise ValueError("no such text")
        return RouterAnswer("fake", 1.0, {"code": 1.0})


def test_no_opinion_is_an_answer_that_leaves_the_choice_to_the_policy() -> None:
    answer = NoOpinion().answer("Write a sonnet", ())
    assert (answer.task_probs, answer.domain_probs, answer.complexity, answer.language) == ({}, {}, None, None)
    assert answer.route_ms >= 0.0
    route = choose(answer, (PoolExpert("a"), PoolExpert("b", is_default=True)))
    assert (route.expert, route.reason, route.router_id) == ("b", RouteReason.NO_OPINION, "none")
    assert (route.task, route.confidence) == (None, None), "unknown stays unknown"


def test_only_routers_that_exist_can_be_asked_for() -> None:
    assert load_decision_model(RouterOptions("none", "")).router_id == "none"
    with pytest.raises(LayaDeskError) as raised:
        load_decision_model(RouterOptions("oracle", ""))
    assert raised.value.code is ErrorCode.ROUTER_UNKNOWN


def test_questions_are_answered_in_order_with_their_history() -> None:
    line, model = (
        FakeLine(RouteText("1", "a", ("x", "y")), Ping(1), RouteText("2", "b"), RouteText("3", "c")),
        FakeModel(),
    )
    with pytest.raises(queue.Empty):
        serve(line, model)
    assert [event.request_id for event in line.sent if isinstance(event, RouteAnswered)] == ["1", "2", "3"]
    assert model.asked == [("a", ("x", "y")), ("b", ()), ("c", ())]


def test_a_question_cancelled_before_its_turn_costs_nothing() -> None:
    line, model = FakeLine(RouteText("1", "a"), RouteText("2", "b"), Cancel("1"), Cancel("9")), FakeModel()
    with pytest.raises(queue.Empty):
        serve(line, model)
    assert model.asked == [("b", ())]


def test_a_question_the_model_cannot_bear_fails_alone(caplog: pytest.LogCaptureFixture) -> None:
    line = FakeLine(RouteText("1", "bad"), RouteText("2", "good"))
    with pytest.raises(queue.Empty):
        serve(line, FakeModel())
    failed, answered = line.sent
    assert isinstance(failed, Failed)
    assert (failed.request_id, failed.error.code) == ("1", ErrorCode.INTERNAL)
    assert isinstance(answered, RouteAnswered)
    assert "no such text" not in failed.error.facts.values()
    assert "request 1 was not routed: ValueError" in caplog.text
    assert "no such text" not in caplog.text, "logs never hold what was written"


def test_shutdown_ends_it() -> None:
    line, model = FakeLine(RouteText("1", "a"), Shutdown()), FakeModel()
    serve(line, model)
    assert model.asked == [], "nobody waits for it any more"
