"""Sampler chains of llama.cpp."""

from collections.abc import Callable
from typing import Any

from layadesk.engine.llama_library import native
from layadesk.engine.sampling import Draw, Greedy, MinP, Penalties, Stage, Temperature, TopK, TopP


class LlamaSampler:
    """A sampler chain of llama.cpp for one sequence."""

    def __init__(self, stages: tuple[Stage, ...], n_vocab: int, sample: Callable[[Any, int], int]) -> None:
        self._sample = sample
        self._chain = native.llama_sampler_chain_init(native.llama_sampler_chain_default_params())
        for stage in stages:
            native.llama_sampler_chain_add(self._chain, _native_stage(stage, n_vocab))

    def sample(self, row: int) -> int:
        """See Sampler."""
        return self._sample(self._chain, row)

    def close(self) -> None:
        """See Sampler."""
        if self._chain is not None:
            native.llama_sampler_free(self._chain)
            self._chain = None


def _native_stage(stage: Stage, n_vocab: int) -> Any:
    match stage:
        case Penalties(last_n, repeat):
            made = native.llama_sampler_init_penalties(n_vocab, last_n, repeat, 0.0, 0.0)
        case TopK(k):
            made = native.llama_sampler_init_top_k(k)
        case TopP(p):
            made = native.llama_sampler_init_top_p(p, 1)
        case MinP(p):
            made = native.llama_sampler_init_min_p(p, 1)
        case Temperature(t):
            made = native.llama_sampler_init_temp(t)
        case Draw(seed):
            made = native.llama_sampler_init_dist(seed)
        case Greedy():
            made = native.llama_sampler_init_greedy()
    return made
