"""The policy: which expert answers, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.route_policy import choose
from layadesk.domain.routing import (
    OutReason,
    PoolExpert,
    RouterAnswer,
    RouteReason,
)

ANSWER = RouterAnswer(
    "laya",
    0.25,
    task_probs={"code": 0.7, "math": 0.3},
    domain_probs={"programming": 0.9, "daily life": 0.1},
    complexity=3,
    language="en",
)
NO_OPINION = RouterAnswer("none", 0.1)
POOLS = st.lists(
    st.tuples(st.booleans(), st.none() | st.sampled_from(OutReason)).map(lambda flags: flags), min_size=1, max_size=6
).map(lambda all_: [PoolExpert(f"e{n}", is_default=flags[0], out=flags[1]) for n, flags in enumerate(all_)])


def test_the_pin_comes_before_everything_else() -> None:
    pool = [PoolExpert("a", is_default=True), PoolExpert("b"), PoolExpert("c", out=OutReason.FILE_MISSING)]
    route = choose(ANSWER, pool, pinned="b")
    assert (route.expert, route.reason) == ("b", RouteReason.PINNED)
    assert [(one.model_id, one.out) for one in route.ranking] == [
        ("b", None),
        ("a", OutReason.NOT_PINNED),
        ("c", OutReason.FILE_MISSING),
    ]


def test_the_only_usable_expert_answers_alone() -> None:
    pool = [PoolExpert("a", is_default=True, out=OutReason.SUSPECT), PoolExpert("b")]
    assert (choose(None, pool).expert, choose(None, pool).reason) == ("b", RouteReason.ONLY_EXPERT)


@pytest.mark.parametrize(("answer", "reason"), [(None, RouteReason.ROUTER_AWAY), (NO_OPINION, RouteReason.NO_OPINION)])
def test_without_an_opinion_the_default_answers_and_the_route_says_why(
    answer: RouterAnswer | None, reason: RouteReason
) -> None:
    pool = [PoolExpert("a"), PoolExpert("b", is_default=True), PoolExpert("c")]
    assert (choose(answer, pool).expert, choose(answer, pool).reason) == ("b", reason)
    unmarked = [PoolExpert("a", out=OutReason.FILE_MISSING), PoolExpert("b"), PoolExpert("c")]
    assert choose(answer, unmarked).expert == "b"


def test_the_route_keeps_what_the_router_said_and_its_time() -> None:
    route = choose(ANSWER, [PoolExpert("a")])
    assert (route.router_id, route.route_ms) == ("laya", 0.25)
    assert (route.task, route.confidence, route.complexity) == ("code", 0.7, 3)
    assert (route.domain, route.language) == ("programming", "en")
    assert route.task_probs == ANSWER.task_probs


def test_what_nobody_said_is_none() -> None:
    for answer in (None, NO_OPINION):
        route = choose(answer, [PoolExpert("a")])
        assert (route.task, route.domain, route.complexity, route.language, route.confidence) == (None,) * 5
    assert choose(None, [PoolExpert("a")]).route_ms is None


@pytest.mark.parametrize(
    ("pool", "pinned", "code"),
    [
        ([], None, ErrorCode.NO_EXPERT_INSTALLED),
        ([], "a", ErrorCode.NO_EXPERT_INSTALLED),
        ([PoolExpert("a")], "b", ErrorCode.UNKNOWN_EXPERT),
        ([PoolExpert("a", out=OutReason.FILE_MISSING), PoolExpert("b")], "a", ErrorCode.MODEL_FILE_MISSING),
        ([PoolExpert("a", out=OutReason.SUSPECT), PoolExpert("b")], "a", ErrorCode.MODEL_SUSPECT),
        ([PoolExpert("a", out=OutReason.SUSPECT)], None, ErrorCode.MODEL_SUSPECT),
        ([PoolExpert("a", out=OutReason.FILE_MISSING)], None, ErrorCode.MODEL_FILE_MISSING),
    ],
)
def test_where_nobody_can_answer_the_obstacle_is_named(
    pool: list[PoolExpert], pinned: str | None, code: ErrorCode
) -> None:
    with pytest.raises(LayaDeskError) as caught:
        choose(NO_OPINION, pool, pinned=pinned)
    assert caught.value.code is code


@given(POOLS, st.sampled_from([None, NO_OPINION, ANSWER]), st.data())
def test_the_chosen_expert_can_answer_and_the_ranking_names_each_expert_once(
    pool: list[PoolExpert], answer: RouterAnswer | None, data: st.DataObject
) -> None:
    pinned = data.draw(st.none() | st.sampled_from([one.model_id for one in pool]))
    try:
        route = choose(answer, pool, pinned=pinned)
    except LayaDeskError:
        wanted = [one for one in pool if one.model_id == pinned or pinned is None]
        assert all(one.out is not None for one in wanted)
        return
    by_id = {one.model_id: one for one in pool}
    tried = {None, OutReason.REMOTE_DOWN} if pinned else {None}  # a wish is tried: the last look may be old
    assert by_id[route.expert].out in tried
    assert pinned in (None, route.expert)
    assert (route.ranking[0].model_id, route.ranking[0].out) == (route.expert, None)
    assert sorted(one.model_id for one in route.ranking) == sorted(by_id)
    assert all(one.out is (by_id[one.model_id].out or one.out) for one in route.ranking[1:])
