"""The sampler chain of a request, as a value that a backend builds, and the check of what the request asks for."""

import math
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import SamplingParams

MAX_STOPS = 64
MAX_STOP_CHARS = 1024
MAX_REPEAT_LAST_N = 32768

# parameter -> smallest and largest value; a temperature of 0 is greedy, the rest switch off at their neutral value
_FLOAT_RANGES = {
    "temperature": (0.0, 10.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "repeat_penalty": (0.01, 10.0),
}
_INT_RANGES = {"top_k": (0, 2**31 - 1), "repeat_last_n": (0, MAX_REPEAT_LAST_N), "max_tokens": (1, 2**31 - 1)}


@dataclass(frozen=True, slots=True)
class Penalties:
    """Makes the last `last_n` generated tokens less likely. The prompt is not punished: an answer may quote it."""

    last_n: int
    repeat: float


@dataclass(frozen=True, slots=True)
class TopK:
    """Keeps the `k` likeliest."""

    k: int


@dataclass(frozen=True, slots=True)
class TopP:
    """Keeps the likeliest that together have probability `p`."""

    p: float


@dataclass(frozen=True, slots=True)
class MinP:
    """Keeps what is at least `p` times as likely as the likeliest."""

    p: float


@dataclass(frozen=True, slots=True)
class Temperature:
    """Sharpens (below 1) or flattens the distribution."""

    t: float


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws one token at random."""

    seed: int


@dataclass(frozen=True, slots=True)
class Greedy:
    """Takes the likeliest token."""


Stage = Penalties | TopK | TopP | MinP | Temperature | Draw | Greedy


def sampler_chain(params: SamplingParams, seed: int) -> tuple[Stage, ...]:
    """The stages in llama.cpp's order; those at their neutral value are left out."""
    chain: list[Stage] = []
    if params.repeat_penalty != 1.0 and params.repeat_last_n > 0:
        chain.append(Penalties(params.repeat_last_n, params.repeat_penalty))
    if params.temperature == 0.0:
        return (*chain, Greedy())
    if params.top_k > 0:
        chain.append(TopK(params.top_k))
    if params.top_p < 1.0:
        chain.append(TopP(params.top_p))
    if params.min_p > 0.0:
        chain.append(MinP(params.min_p))
    return (*chain, Temperature(params.temperature), Draw(seed))


def check_sampling(params: SamplingParams) -> None:
    """Raise BAD_PARAMETER with `parameter` and `value` for what no sampler can do."""
    for name, (low, high) in _FLOAT_RANGES.items():
        value = getattr(params, name)
        if not math.isfinite(value) or not low <= value <= high:
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, minimum=low, maximum=high)
    for name, (least, most) in _INT_RANGES.items():
        number = getattr(params, name)
        if number is not None and not least <= number <= most:
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=number, minimum=least, maximum=most)
    if len(params.stop) > MAX_STOPS:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="stop", value=len(params.stop), maximum=MAX_STOPS)
    for stop in params.stop:
        if not 1 <= len(stop) <= MAX_STOP_CHARS:
            raise fail(
                ErrorCode.BAD_PARAMETER, parameter="stop length", value=len(stop), minimum=1, maximum=MAX_STOP_CHARS
            )


def seed_of(params: SamplingParams, drawn: int) -> int:
    """The 32-bit seed in use: the request's own, folded, or `drawn`. llama.cpp reads the highest value as "random"."""
    seed = drawn if params.seed is None else params.seed
    return min(seed & 0xFFFFFFFF, 0xFFFFFFFE)
