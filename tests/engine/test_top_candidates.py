import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.engine.top_candidates import top_candidates


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
