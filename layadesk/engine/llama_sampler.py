"""Sampler chains of llama.cpp, given only the tokens that can matter, and grammars that cannot end the process.

`llama_sampler_sample` copies the logits of the whole vocabulary and takes whatever comes out; a grammar that is handed
a token it does not allow throws through C, which is the end of the process. So the array of candidates is made here,
and a token is accepted only after it was checked.
"""

import ctypes
import math
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.engine.llama_library import native
from layadesk.engine.sampling import (
    Draw,
    Dry,
    Greedy,
    MinP,
    Mirostat,
    Penalties,
    Stage,
    Temperature,
    TopK,
    TopNSigma,
    TopP,
    Typical,
    Xtc,
)
from layadesk.engine.top_candidates import Ids, Logits, at_least, drawn, nucleus, top_candidates

GRAMMAR_LIMIT_S = 2.0  # for one token; a grammar of endless ambiguity would stop everybody's answer
N_TRIED_FIRST = 512
N_AT_A_TIME = 32

_CANDIDATE = np.dtype([("id", "<i4"), ("logit", "<f4"), ("p", "<f4")])  # llama_token_data


class LlamaSampler:
    """A sampler chain of llama.cpp for one sequence. `logits_of` gives a row's logits, valid until the next decode."""

    def __init__(
        self,
        stages: tuple[Stage, ...],
        vocab: Any,
        logits_of: Callable[[int], Logits],
        *,
        biases: Mapping[int, float],
        grammar: str | None = None,
    ) -> None:
        self._logits_of = logits_of
        self._n_vocab = int(native.llama_vocab_n_tokens(vocab))
        self._grammar = None if grammar is None else _native_grammar(vocab, grammar)
        self._whole: tuple[float, random.Random] | None = None
        self._selects: Callable[[Logits], Ids] | None = None
        self._k = _n_wanted(stages)
        self._is_plain = stages == (Greedy(),)
        if grammar is None:
            stages = self._shorten(stages)
        self._chain = native.llama_sampler_chain_init(native.llama_sampler_chain_default_params())
        for stage in stages:
            native.llama_sampler_chain_add(self._chain, _native_stage(stage, vocab, self._n_vocab))
        self._biases = {token: bias for token, bias in biases.items() if token < self._n_vocab}
        self._biased = np.fromiter(self._biases, np.int64, len(self._biases))
        self._raise = np.fromiter(self._biases.values(), np.float32, len(self._biases))
        self._only_lowers = all(bias <= 0.0 for bias in self._biases.values())
        self._recent: deque[int] = deque(maxlen=max((_window(stage) for stage in stages), default=0))

    def sample(self, row: int, *, is_free: bool = False) -> int:
        """See Sampler."""
        logits = self._logits_of(row)
        if self._is_plain and self._grammar is None and self._only_lowers:
            token = self._likeliest(logits)
            if token not in self._biases:
                return token  # lowering others leaves it the likeliest
        if self._biases:
            logits = logits.copy()
            logits[self._biased] += self._raise
        token = self._unbound(logits)
        if self._grammar is not None and not is_free:
            token = self._bound(logits, token)
        if not self._is_plain:
            native.llama_sampler_accept(self._chain, token)
            self._recent.append(token)
        return token

    def close(self) -> None:
        """See Sampler."""
        for sampler in (self._chain, self._grammar):
            if sampler is not None:
                native.llama_sampler_free(sampler)
        self._chain = self._grammar = None

    def _shorten(self, stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
        """What begins with a cut by probability, or has none, needs no chain that looks at every token."""
        match stages:
            case (Temperature(t), Draw(seed)):
                self._whole = t, random.Random(seed)
            case (TopP(p), *rest):
                self._selects = partial(nucleus, p=p)
                return tuple(rest)
            case (MinP(p), *_):
                self._selects = partial(at_least, share=p)
            case _:
                pass
        return stages

    def _unbound(self, logits: Logits) -> int:
        if self._is_plain:
            return self._likeliest(logits)
        if self._whole is None:
            return self._choose(logits, self._candidates(logits))
        temperature, numbers = self._whole
        token = drawn(logits, temperature, numbers.random())
        if token is None:
            raise _no_number()
        return token

    def _likeliest(self, logits: Logits) -> int:
        token = int(logits.argmax())
        if not math.isfinite(logits[token]):
            raise _no_number()
        return token

    def _candidates(self, logits: Logits) -> Ids:
        """What can survive: the likeliest, and as many more as may be pushed below them."""
        if self._selects is not None:
            return self._selects(logits)
        if self._k is None:
            return np.arange(self._n_vocab)
        recent = set(self._recent)
        ids = top_candidates(logits, self._k + len(recent))
        if recent and len(ids) < self._n_vocab:
            recent.update(ids.tolist())
            ids = np.fromiter(sorted(recent), np.int64, len(recent))  # np.union1d takes four times as long
        return ids

    def _choose(self, logits: Logits, ids: Ids) -> int:
        if not len(ids):
            raise _no_number()
        array, _kept = _as_array(ids, logits[ids])
        native.llama_sampler_apply(self._chain, ctypes.byref(array))
        if not 0 <= array.selected < array.size:
            raise fail(ErrorCode.DECODE_FAILED, reason="nothing to choose from", value=int(array.selected))
        chosen = array.data[array.selected]
        if not math.isfinite(chosen.logit):
            raise _no_number()
        return int(chosen.id)

    def _bound(self, logits: Logits, token: int) -> int:
        """`token` where the grammar allows it, else the choice among those that it allows. Accepted by the grammar.

        A token that was ruled out must never be accepted: the library throws through C then, and the process ends.
        """
        ends_at = time.perf_counter() + GRAMMAR_LIMIT_S
        if not len(self._allowed(np.array([token]), ends_at)):
            token = self._choose(logits, self._allowed_candidates(logits, ends_at))
        native.llama_sampler_accept(self._grammar, token)
        if time.perf_counter() > ends_at:
            raise _bad_grammar("it is too ambiguous")
        return token

    def _allowed_candidates(self, logits: Logits, ends_at: float) -> Ids:
        """The likeliest that the grammar allows; all that it allows where those are too few for the chain."""
        likeliest = np.union1d(top_candidates(logits, N_TRIED_FIRST), self._candidates(logits))
        allowed = self._allowed(likeliest, ends_at)
        if self._k is None or len(allowed) < self._k:
            allowed = self._allowed(np.arange(self._n_vocab), ends_at)
        allowed = allowed[np.isfinite(logits[allowed])]
        if not len(allowed):
            raise _bad_grammar("no text can go on here")
        return allowed

    def _allowed(self, ids: Ids, ends_at: float) -> Ids:
        """Those of `ids` that the grammar allows now. In pieces, because one that is too ambiguous takes minutes."""
        found: list[Ids] = []
        for start in range(0, len(ids), N_AT_A_TIME):
            piece = ids[start : start + N_AT_A_TIME]
            array, kept = _as_array(piece, np.zeros(len(piece), np.float32))
            native.llama_sampler_apply(self._grammar, ctypes.byref(array))
            found.append(piece[np.isfinite(kept["logit"])])
            if time.perf_counter() > ends_at:
                raise _bad_grammar("it is too ambiguous")
        return np.concatenate(found)


def _as_array(ids: Ids, logits: Logits) -> tuple[Any, Any]:
    """The library's array of candidates, and the memory it points to, which must live as long as it."""
    kept = np.zeros(len(ids), _CANDIDATE)
    kept["id"] = ids
    kept["logit"] = logits
    data = ctypes.cast(kept.ctypes.data, ctypes.POINTER(native.llama_token_data))
    return native.llama_token_data_array(data=data, size=len(ids), selected=-1, sorted=False), kept


def _no_number() -> LayaDeskError:
    return fail(ErrorCode.DECODE_FAILED, reason="the logits are no numbers", value=0)


def _bad_grammar(detail: str) -> LayaDeskError:
    return fail(ErrorCode.BAD_GRAMMAR, kind="grammar", detail=detail)


def _n_wanted(stages: tuple[Stage, ...]) -> int | None:
    """How many of the likeliest are enough for a chain; None where it has to see all."""
    for stage in stages:
        match stage:
            case Greedy():
                return 1
            case TopK(k):
                return k
            case Penalties() | Dry():
                continue
            case _:
                return None
    return None


def _window(stage: Stage) -> int:
    return stage.last_n if isinstance(stage, Penalties | Dry) else 0


def _native_stage(stage: Stage, vocab: Any, n_vocab: int) -> Any:
    match stage:
        case Penalties() | Dry():
            made = _native_change(stage, vocab, n_vocab)
        case Mirostat(1, tau, eta, seed):
            made = native.llama_sampler_init_mirostat(n_vocab, seed, tau, eta, 100)
        case Mirostat(_, tau, eta, seed):
            made = native.llama_sampler_init_mirostat_v2(seed, tau, eta)
        case Draw(seed):
            made = native.llama_sampler_init_dist(seed)
        case Greedy():
            made = native.llama_sampler_init_greedy()
        case _:
            made = _native_filter(stage)
    return made


def _native_change(stage: Penalties | Dry, vocab: Any, n_vocab: int) -> Any:
    match stage:
        case Penalties(last_n, repeat, frequency, presence):
            return native.llama_sampler_init_penalties(n_vocab, last_n, repeat, frequency, presence)
        case Dry(multiplier, base, allowed_length, last_n, breakers):
            texts = (ctypes.c_char_p * len(breakers))(*[text.encode("utf-8", "replace") for text in breakers])
            return native.llama_sampler_init_dry(vocab, multiplier, base, allowed_length, last_n, texts, len(breakers))


def _native_filter(stage: TopNSigma | TopK | Typical | TopP | MinP | Xtc | Temperature) -> Any:
    match stage:
        case TopNSigma(n):
            made = native.llama_sampler_init_top_n_sigma(n)
        case TopK(k):
            made = native.llama_sampler_init_top_k(k)
        case Typical(p):
            made = native.llama_sampler_init_typical(p, 1)
        case TopP(p):
            made = native.llama_sampler_init_top_p(p, 1)
        case MinP(p):
            made = native.llama_sampler_init_min_p(p, 1)
        case Xtc(probability, threshold, seed):
            made = native.llama_sampler_init_xtc(probability, threshold, 1, seed)
        case Temperature(t):
            made = native.llama_sampler_init_temp(t)
    return made


def _native_grammar(vocab: Any, grammar: str) -> Any:
    made = native.llama_sampler_init_grammar(vocab, grammar.encode("utf-8", "replace"), b"root")
    if not made:
        raise _bad_grammar("it is not understood")
    return made
