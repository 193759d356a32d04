"""Laya is given a deadline; the bundled answer stands where it is late, busy, broken or still loading, and says so."""

import threading
from collections.abc import Sequence

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.routing import RouterAnswer
from layadesk.router.reading import Reading
from layadesk.router.standing_in import Lack, StandingIn

PATIENCE_S = 10.0


class Quick:
    """The stand-in."""

    router_id = "bundled"

    def answer(self, text: str, history: Sequence[str]) -> RouterAnswer:
        return RouterAnswer("bundled", 0.1, {"chat": 1.0}, complexity=4, effort_signs=("depth",))


class Slow:
    """Answers when `go` is set; fails while `fails`."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.go.set()
        self.fails = False
        self.asked: list[tuple[str, str | None, tuple[str, ...]]] = []

    def ask(self, reading: Reading, language: str | None, history: Sequence[str]) -> RouterAnswer:
        self.asked.append((reading.prose, language, tuple(history)))
        self.go.wait(PATIENCE_S)
        if self.fails:
            raise RuntimeError("no such tensor")
        return RouterAnswer("laya:tiny", 5.0, {"code": 1.0}, complexity=2, language=language)

    def decide(self, state: str, questions: str) -> str:
        self.go.wait(PATIENCE_S)
        return f"{state} {questions}"


def standing_in(slow: Slow, deadline_ms: float = PATIENCE_S * 1000) -> StandingIn:
    model = StandingIn("laya:/x", lambda: slow, Quick(), deadline_ms=deadline_ms)
    assert model.wait_loaded(PATIENCE_S)
    return model


def test_in_time_the_slow_answer_counts_with_the_effort_of_the_rules() -> None:
    slow = Slow()
    answer = standing_in(slow).answer("写一个函数", ("before",))
    assert (answer.router_id, answer.task_probs, answer.wanted) == ("laya:tiny", {"code": 1.0}, None)
    assert (answer.complexity, answer.effort_signs) == (4, ("depth",))
    assert slow.asked == [("写一个函数", "zh", ("before",))]


def test_a_late_answer_is_not_waited_for_and_a_next_request_finds_it_busy() -> None:
    slow = Slow()
    model = standing_in(slow, deadline_ms=20)
    slow.go.clear()
    late = model.answer("a b c", ())
    assert (late.router_id, late.wanted, late.wanted_lack) == ("bundled", "laya:/x", Lack.LATE)
    assert model.answer("d e f", ()).wanted_lack == Lack.BUSY
    slow.go.set()
    assert model._running is not None
    model._running.result(PATIENCE_S)
    assert model.answer("g h i", ()).router_id in ("laya:tiny", "bundled")
    assert len(slow.asked) == 2


@pytest.mark.logs_warnings
def test_after_three_failures_it_is_not_asked_any_more() -> None:
    slow = Slow()
    slow.fails = True
    model = standing_in(slow)
    assert [model.answer(str(k), ()).wanted_lack for k in range(5)] == [Lack.BROKEN] * 5
    assert len(slow.asked) == 3


def test_while_it_loads_and_when_it_cannot_be_loaded_the_answer_says_so() -> None:
    release = threading.Event()

    def load() -> Slow:
        release.wait(PATIENCE_S)
        raise fail(ErrorCode.ROUTER_MODEL_DAMAGED, path="/x", detail="cut off")

    model = StandingIn("laya:/x", load, Quick(), deadline_ms=1000)
    assert model.answer("hello", ()).wanted_lack == Lack.LOADING
    release.set()
    assert not model.wait_loaded(PATIENCE_S)
    assert model.answer("hello", ()).wanted_lack == "router_model_damaged"


def test_a_package_that_is_not_there_is_broken_and_not_the_end() -> None:
    def load() -> Slow:
        raise ImportError("laya")

    model = StandingIn("laya:/x", load, Quick(), deadline_ms=1000)
    assert not model.wait_loaded(PATIENCE_S)
    assert model.answer("hello", ()).wanted_lack == Lack.BROKEN


def test_a_client_s_own_questions_are_answered_by_the_slow_model_alone() -> None:
    slow = Slow()
    model = standing_in(slow)
    assert model.decide("state", "questions") == "state questions"
    late = StandingIn("laya:/x", lambda: slow, Quick(), deadline_ms=1)
    assert late.wait_loaded(PATIENCE_S)
    slow.go.clear()
    assert late.answer("hello", ()).wanted_lack == Lack.LATE
    with pytest.raises(LayaDeskError) as busy:
        late.decide("state", "questions")
    assert busy.value.code is ErrorCode.ROUTER_AWAY
    slow.go.set()


def test_where_laya_cannot_be_loaded_its_own_code_says_so() -> None:
    def load() -> Slow:
        raise fail(ErrorCode.ROUTER_MODEL_MISSING, path="/x")

    model = StandingIn("laya:/x", load, Quick(), deadline_ms=1000)
    assert not model.wait_loaded(PATIENCE_S)
    with pytest.raises(LayaDeskError) as refusal:
        model.decide("state", "questions")
    assert refusal.value.code is ErrorCode.ROUTER_MODEL_MISSING
