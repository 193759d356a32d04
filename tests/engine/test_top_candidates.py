import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.engine.top_candidates import Logits, at_least, drawn, nucleus, top_candidates


@given(st.integers(1, 5000), st.integers(1, 300), st.integers(0, 2**32), st.sampled_from([1.0, 3.0, 0.0]))
def test_the_largest_are_always_among_them(n: int, k: int, seed: int, spread: float) -> None:
    logits = np.random.default_rng(seed).normal(0, spread, n).astype(np.float32)
    ids = top_candidates(logits, k)
    assert len(set(ids.tolist())) == len(ids)
    kept = np.sort(logits[ids])[::-1][:k]
    assert np.array_equal(kept, np.sort(logits)[::-1][:k])


@pytest.mark.parametrize("n_vocab", [49_152, 262_144, 32_003])
def test_they_are_few(n_vocab: int) -> None:
    logits = np.random.default_rng(1).normal(0, 2, n_vocab).astype(np.float32)
    assert 40 <= len(top_candidates(logits, 40)) <= 80


def test_ruled_out_tokens_come_last() -> None:
    logits = np.full(10_000, -np.inf, np.float32)
    logits[[3, 777, 9_999]] = 1.0
    assert set(np.flatnonzero(np.isfinite(logits))) <= set(top_candidates(logits, 3).tolist())


def some_logits(n: int, seed: int, spread: float) -> Logits:
    return np.random.default_rng(seed).normal(0, spread, n).astype(np.float32)


def probabilities(logits: Logits, temperature: float = 1.0) -> npt.NDArray[np.float64]:
    shares: npt.NDArray[np.float64] = np.exp((logits.astype(np.float64) - float(logits.max())) / temperature)
    shares /= shares.sum()
    return shares


@given(st.integers(1, 5000), st.floats(0.0, 0.999), st.integers(0, 2**32), st.sampled_from([0.1, 3.0, 8.0]))
def test_a_nucleus_is_the_fewest_of_the_likeliest_that_have_the_probability(
    n: int, p: float, seed: int, spread: float
) -> None:
    logits = some_logits(n, seed, spread)
    ids = nucleus(logits, p)
    shares = probabilities(logits)
    kept = np.sort(logits[ids])[::-1]
    assert np.array_equal(kept, np.sort(logits)[::-1][: len(ids)])
    assert len(set(ids.tolist())) == len(ids)
    assert shares[ids].sum() >= p - 1e-6
    assert len(ids) == 1 or shares[ids].sum() - shares[ids].min() < p + 1e-6


@pytest.mark.parametrize("logits", [np.zeros(5000, np.float32), np.repeat(np.array([0, -np.inf], np.float32), 2500)])
def test_a_nucleus_of_tokens_that_are_all_alike_is_found(logits: Logits) -> None:
    assert len(nucleus(logits, 0.5)) == np.isfinite(logits).sum() // 2


@given(st.integers(1, 3000), st.floats(0.001, 1.0), st.integers(0, 2**32))
def test_no_token_that_is_likely_enough_is_missing(n: int, share: float, seed: int) -> None:
    logits = some_logits(n, seed, 3.0)
    shares = probabilities(logits)
    assert set(np.flatnonzero(shares >= share * shares.max()).tolist()) <= set(at_least(logits, share).tolist())


@pytest.mark.parametrize(("n", "temperature"), [(1, 1.0), (50, 0.7), (64, 1.0), (1000, 1.5)])
def test_each_token_is_drawn_as_often_as_it_is_likely(n: int, temperature: float) -> None:
    logits = some_logits(n, 5, 2.0)
    n_draws = 20_000
    counts = np.zeros(n)
    for i in range(n_draws):
        token = drawn(logits, temperature, (i + 0.5) / n_draws)
        assert token is not None
        counts[token] += 1
    assert np.abs(counts / n_draws - probabilities(logits, temperature)).max() < 2 / n_draws


def test_what_was_ruled_out_is_never_drawn_and_no_number_draws_nothing() -> None:
    logits = np.full(1000, -np.inf, np.float32)
    logits[[0, 999]] = 1.0
    assert {drawn(logits, 1.0, at / 100) for at in range(100)} == {0, 999}
    for bad in (np.nan, np.inf):
        logits[500] = bad
        assert drawn(logits, 1.0, 0.5) is None
        assert len(nucleus(logits, 0.9)) == 0
