from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.residency import Limits, Resident, serves, who_goes

SPEC = ExpertSpec("a", "/models/a.gguf", LoadParams(n_ctx=4096))


def names(residents: list[Resident]) -> list[str]:
    return [one.model_id for one in residents]


def test_nobody_goes_where_there_is_room() -> None:
    here = [Resident("a", 100, 1.0, True)]
    assert who_goes(here, 50, Limits(2, 150), expert="x") == []
    assert who_goes(here, 10**12, Limits(2), expert="x") == [], "no limit by memory"


def test_the_longest_unused_idle_one_goes_first_and_no_more_than_needed() -> None:
    here = [Resident("old", 100, 1.0, True), Resident("new", 100, 2.0, True), Resident("busy", 100, 0.0, False)]
    assert names(who_goes(here, 100, Limits(9, 300), expert="x")) == ["old"]
    assert names(who_goes(here, 150, Limits(9, 300), expert="x")) == ["old", "new"]
    assert names(who_goes(here, 1, Limits(3), expert="x")) == ["old"]


def test_one_that_answers_goes_only_where_all_idle_ones_are_not_enough() -> None:
    here = [Resident("busy", 200, 0.0, False), Resident("idle", 50, 9.0, True)]
    assert names(who_goes(here, 200, Limits(9, 300), expert="x")) == ["idle", "busy"]


def test_what_would_not_fit_alone_is_refused_with_both_numbers() -> None:
    with pytest.raises(LayaDeskError) as refused:
        who_goes([], 301, Limits(2, 300), expert="x")
    assert refused.value.code is ErrorCode.OUT_OF_MEMORY
    assert (refused.value.facts["needed"], refused.value.facts["available"]) == (301, 300)


residents = st.lists(
    st.builds(
        Resident,
        st.uuids().map(str),
        st.one_of(st.none(), st.integers(0, 100)),
        st.floats(0, 9),
        st.booleans(),
    ),
    max_size=6,
)


@given(residents, st.integers(0, 200), st.integers(1, 6), st.integers(200, 400))
def test_those_who_stay_and_the_newcomer_are_within_the_limits_and_nobody_goes_in_vain(
    here: list[Resident], needed: int, n_max: int, memory: int
) -> None:
    going = who_goes(here, needed, Limits(n_max, memory), expert="x")
    staying = [one for one in here if one not in going]

    def fits(ones: list[Resident]) -> bool:
        return len(ones) < n_max and sum(one.size_bytes or 0 for one in ones) + needed <= memory

    assert fits(staying)
    if going:
        assert not fits([*staying, going[-1]])
    if any(not one.is_idle for one in going):
        assert not any(one.is_idle for one in staying)


def test_a_larger_context_of_the_same_file_serves_and_nothing_else_does() -> None:
    def wanted(**params: object) -> ExpertSpec:
        return replace(SPEC, params=replace(SPEC.params, **params))  # type: ignore[arg-type]  # by name

    assert serves(SPEC, SPEC)
    assert serves(SPEC, wanted(n_ctx=2048))
    assert serves(SPEC, replace(SPEC, needs_bytes=5)), "a new price is no reason to load again"
    assert not serves(SPEC, wanted(n_ctx=8192))
    assert not serves(SPEC, wanted(n_gpu_layers=3))
    assert not serves(SPEC, wanted(n_ctx=2048, type_k="q8_0"))
    assert not serves(SPEC, replace(SPEC, path="/models/b.gguf"))
