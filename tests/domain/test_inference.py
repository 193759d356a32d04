"""Figures of an answer: unknown is None, never 0."""

import pytest

from layadesk.domain.inference import LoadParams, MemoryUse, SamplingParams, Timings
from layadesk.domain.sampling_defaults import resolve


def test_speeds_count_what_was_really_computed_in_the_time() -> None:
    timings = Timings(prefill_ms=500, decode_ms=2000, n_prompt=300, n_cached=100, n_decoded=101)
    assert timings.prefill_tps == 400
    assert timings.decode_tps == 50  # the first token belongs to prefill


@pytest.mark.parametrize(
    "timings",
    [
        Timings(),
        Timings(n_prompt=10, n_decoded=10),
        Timings(prefill_ms=0, decode_ms=0, n_prompt=10, n_decoded=10),
        Timings(prefill_ms=5, decode_ms=5, n_prompt=10, n_cached=10, n_decoded=1),
        Timings(prefill_ms=5, decode_ms=5, n_prompt=0, n_decoded=0),
    ],
)
def test_a_speed_that_cannot_be_told_is_none(timings: Timings) -> None:
    assert (timings.prefill_tps, timings.decode_tps) == (None, None)


def test_memory_is_the_sum_of_what_is_known_and_none_when_nothing_is() -> None:
    assert MemoryUse().total_bytes is None
    assert MemoryUse(kv_bytes=0).total_bytes == 0
    assert MemoryUse(weights_bytes=1, kv_bytes=2, compute_bytes=4, output_bytes=8).total_bytes == 15


def test_defaults_are_those_of_the_settings() -> None:
    load, sampling = LoadParams(), resolve(SamplingParams())
    assert (load.n_ctx, load.n_gpu_layers, load.n_threads, load.n_parallel) == (8192, -1, 0, 4)
    assert (sampling.temperature, sampling.top_k, sampling.top_p, sampling.min_p) == (0.6, 40, 0.95, 0.05)
    assert (sampling.repeat_penalty, sampling.seed, sampling.max_tokens) == (1.1, None, None)
