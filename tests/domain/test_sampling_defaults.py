from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.inference import SamplingParams
from layadesk.domain.sampling_defaults import (
    BUILT_IN,
    FIELDS,
    FLOAT_RANGES,
    INT_RANGES,
    SamplingDefaults,
    from_metadata,
    resolve,
)

numbers = st.one_of(st.floats().map(str), st.integers(-5, 10**7).map(str), st.text(max_size=6))


def test_without_any_advice_the_built_in_numbers_hold() -> None:
    found = resolve(SamplingParams(), SamplingDefaults(), SamplingDefaults())
    assert (found.temperature, found.repeat_penalty, found.top_k) == (0.6, 1.1, 40)
    assert all(getattr(found, name) == getattr(BUILT_IN, name) for name in FIELDS)


def test_what_is_asked_wins_over_advice_and_the_catalogue_over_the_file() -> None:
    catalogue, file = SamplingDefaults(temperature=0.7), SamplingDefaults(temperature=1.0, top_p=0.8)
    found = resolve(SamplingParams(temperature=0.0), catalogue, file)
    assert (found.temperature, found.top_p) == (0.0, 0.8)
    assert resolve(SamplingParams(), catalogue, file).temperature == 0.7


def test_a_model_whose_makers_advise_gets_no_penalty_of_ours_on_top() -> None:
    found = resolve(SamplingParams(), SamplingDefaults(temperature=1.0, top_p=0.95))
    assert (found.repeat_penalty, found.min_p, found.top_k) == (1.0, 0.0, 40)


def test_what_a_file_recommends_is_read_and_nonsense_left_out() -> None:
    texts = {
        "temperature": "0.7",
        "top_k": "20",
        "top_p": "1.5",
        "min_p": "nan",
        "mirostat": "9",
        "repeat_penalty": "x",
    }
    assert from_metadata(texts) == SamplingDefaults(temperature=0.7, top_k=20)


@given(st.dictionaries(st.sampled_from(FIELDS), numbers))
def test_whatever_a_file_says_the_resolved_numbers_are_possible_ones(texts: dict[str, str]) -> None:
    found = resolve(replace(SamplingParams(), seed=1), from_metadata(texts))
    for name in FIELDS:
        low, high = {**FLOAT_RANGES, **INT_RANGES}[name]
        assert low <= getattr(found, name) <= high
