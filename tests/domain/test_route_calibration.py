"""Fitting the router to corrections, and what wrong answers say about effort."""

import random
from dataclasses import replace

import pytest

from layadesk.domain.chat import Correction, Rating
from layadesk.domain.corrections import JudgedAnswer, effort_raises, right_task, task_behind
from layadesk.domain.inference import FinishReason
from layadesk.domain.route_calibration import NO_FIT, Fit, Labelled, applied, fit_corrections, report
from layadesk.domain.routing import Route, RouteReason
from layadesk.domain.routing_labels import TASKS
from layadesk.domain.strengths import Strengths


def confused(n: int, seed: int = 1) -> list[Labelled]:
    """A router that takes advice for knowledge, and is rightly sure of code."""
    rng = random.Random(seed)
    found = []
    for k in range(n):
        noise = rng.uniform(-0.1, 0.1)
        if k % 3:
            probs = {"knowledge": 0.55 + noise, "advise": 0.45 - noise, "code": 0.0}
            found.append(Labelled({**dict.fromkeys(TASKS, 0.0), **probs}, "advise"))
        else:
            found.append(Labelled({**dict.fromkeys(TASKS, 0.0), "code": 0.9, "advise": 0.1}, "code"))
    return found


def test_a_steady_confusion_is_learned_and_the_rest_stays() -> None:
    fit = fit_corrections(confused(30))
    assert fit.offsets["advise"] > fit.offsets["knowledge"]
    found = report(confused(30), NO_FIT)
    assert (found.n, found.right_after) == (30, 1.0)
    assert found.right_before < 0.7
    assert found.loss_after < found.loss_before
    probs = applied(fit, {**dict.fromkeys(TASKS, 0.0), "code": 0.9, "chat": 0.1})
    assert max(probs, key=lambda task: probs[task]) == "code"
    assert sum(probs.values()) == pytest.approx(1.0)


def test_few_corrections_move_little_and_none_nothing() -> None:
    small, large = fit_corrections(confused(4)), fit_corrections(confused(60))
    assert abs(small.offsets.get("advise", 0.0)) < abs(large.offsets["advise"])
    assert fit_corrections([]) == Fit()
    assert small.confidence is None
    assert large.confidence is not None


def test_the_same_corrections_give_the_same_fit() -> None:
    assert fit_corrections(confused(20)) == fit_corrections(confused(20))


def test_choosing_a_coder_speaks_for_code_and_choosing_an_equal_for_nothing() -> None:
    probs = {"knowledge": 0.6, "code": 0.3, "chat": 0.1}
    coder, general = Strengths({"code": 0.95}, otherwise=0.3), Strengths()
    assert task_behind(probs, coder, general) == "code"
    assert task_behind(probs, general, coder) == "knowledge"
    assert task_behind(probs, general, general) is None


def test_wrong_answers_raise_the_effort_of_their_task_alone_and_one_is_no_evidence() -> None:
    def answers(task: str, n: int, **fields: object) -> list[JudgedAnswer]:
        route = Route("a", RouteReason.ROUTER, task=task)
        return [replace(JudgedAnswer("q", "", route, None, FinishReason.STOP), **fields) for _ in range(n)]  # type: ignore[arg-type]

    raises = effort_raises(
        [
            *answers("code", 4, finish_reason=FinishReason.LENGTH),
            *answers("math", 2, finish_reason=FinishReason.LENGTH),
            *answers("writing", 99, n_answers=2),
            *answers("extract", 3, correction=Correction(Rating.WRONG)),
            *answers("advise", 3, finish_reason=FinishReason.LOOP),
            *answers("chat", 9),
        ]
    )
    assert raises == {"code": 1.0, "writing": 1.5, "extract": 0.75, "advise": 0.75}


def test_what_the_user_says_tells_the_task_and_a_good_route_confirms_its_own() -> None:
    route = Route("general", RouteReason.ROUTER, task="knowledge", task_probs={"knowledge": 0.6, "code": 0.4})
    strengths = {"coder": Strengths({"code": 0.95}, otherwise=0.3), "general": Strengths()}

    def task(correction: Correction | None) -> str | None:
        return right_task(JudgedAnswer("q", "", route, correction, None), strengths)

    assert task(None) is None
    assert task(Correction(Rating.GOOD)) == "knowledge"
    assert task(Correction(Rating.WRONG)) is None
    assert task(Correction(Rating.WRONG, expert="coder")) == "code"
    assert task(Correction(Rating.WRONG, expert="general")) is None
    assert task(Correction(Rating.WRONG, task="advise")) == "advise"
    assert task(Correction(Rating.WRONG, task="cooking")) is None
