"""Fitting the router to corrections, and what wrong answers say about effort."""

import random

import pytest

from layadesk.domain.corrections import Correction, CorrectionKind, effort_raises, is_looping, task_behind
from layadesk.domain.route_calibration import NO_FIT, Fit, Labelled, applied, fit_corrections, report
from layadesk.domain.route_statistics import summarise_routes
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
    def evidence(task: str, n: int) -> list[Correction]:
        return [Correction(0.0, CorrectionKind.CUT_OFF, task, "a") for _ in range(n)]

    user = [Correction(0.0, CorrectionKind.WRONG_ROUTE, "chat", "a", "code")] * 9
    raises = effort_raises([*evidence("code", 4), *evidence("math", 2), *evidence("writing", 99), *user])
    assert raises == {"code": 1.0, "writing": 1.5}


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("a story. " + "and then again " * 60, True),
        ("x" * 500, True),
        ("好的" * 300, True),
        ("word " * 20, False),
        (" ".join(str(n * n) for n in range(300)), False),
        ("text" + " " * 500, False),
        ("", False),
    ],
)
def test_an_answer_that_goes_round_in_circles_is_seen(text: str, *, loops: bool) -> None:
    assert is_looping(text) is loops


def test_routes_are_summed_up_and_nothing_is_made_of_none() -> None:
    routes = [
        Route("a", RouteReason.ROUTER, task="code", confidence=0.9, route_ms=0.2),
        Route("b", RouteReason.PINNED, previous="a", n_reprefill=120, route_ms=0.4),
    ]
    found = summarise_routes(routes, n_corrections=1)
    assert (found.n, found.n_switches, found.n_reprefill, found.n_corrections) == (2, 1, 120, 1)
    assert found.expert_share == {"a": 0.5, "b": 0.5}
    assert found.task_share == {"code": 1.0}
    assert found.route_ms_p50 == pytest.approx(0.3)
    empty = summarise_routes([], n_corrections=0)
    assert (empty.n, empty.route_ms_p50, empty.expert_share) == (0, None, {})
