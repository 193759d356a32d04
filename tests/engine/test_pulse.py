from hypothesis import given
from hypothesis import strategies as st

from layadesk.engine.pulse import Pulse


def beaten(*ends: float, sample_s: float = 0.25) -> Pulse:
    pulse = Pulse()
    for end in ends:
        pulse.beat(end - sample_s, end)
    return pulse


def test_nothing_is_known_before_the_first_token() -> None:
    assert (Pulse().first, Pulse().sample_ms, Pulse().gap_ms(0.5)) == (None, None, None)


def test_one_token_has_no_gap() -> None:
    assert (beaten(3.0).first, beaten(3.0).sample_ms, beaten(3.0).gap_ms(0.5)) == (3.0, 250.0, None)


def test_the_gap_of_a_quantile_is_one_that_was_felt() -> None:
    pulse = beaten(0.0, 1.0, 3.0, 7.0, 15.0)
    assert [pulse.gap_ms(q) for q in (0.25, 0.5, 0.75, 0.76, 1.0)] == [1000, 2000, 4000, 8000, 8000]


def test_the_token_that_ends_an_answer_is_no_gap_but_its_choice_took_time() -> None:
    pulse = beaten(0.0, 1.0)
    pulse.beat(99.75, 100.0, is_end=True)
    assert (pulse.last, pulse.gap_ms(1.0), pulse.sample_ms) == (1.0, 1000.0, 750.0)


def test_an_empty_answer_has_a_first_token_all_the_same() -> None:
    pulse = Pulse()
    pulse.beat(1.0, 2.0, is_end=True)
    assert (pulse.first, pulse.last) == (2.0, None)


@given(st.lists(st.floats(0.001, 10.0), min_size=2))
def test_quantiles_do_not_fall(gaps: list[float]) -> None:
    ends = [0.0]
    for gap in gaps:
        ends.append(ends[-1] + gap)
    found = [beaten(*ends).gap_ms(q / 20) or 0.0 for q in range(1, 21)]
    assert found == sorted(found)
