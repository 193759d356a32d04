"""The sampler chain of a request, as a value that a backend builds, and the check of what the request asks for."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import SamplingParams
from layadesk.domain.sampling_defaults import FLOAT_RANGES, INT_RANGES, resolve

MAX_STOPS = 64
MAX_STOP_CHARS = 1024
MAX_BIASES = 10_000
MAX_GRAMMAR_CHARS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Penalties:
    """Makes the last `last_n` generated tokens less likely. The prompt is not punished: an answer may quote it."""

    last_n: int
    repeat: float
    frequency: float
    presence: float


@dataclass(frozen=True, slots=True)
class Dry:
    """Makes what would go on with a repetition less likely, the more the longer that is already ("don't repeat
    yourself"). A repetition does not reach across `breakers`."""

    multiplier: float
    base: float
    allowed_length: int
    last_n: int
    breakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopNSigma:
    """Keeps what is within `n` standard deviations of the likeliest."""

    n: float


@dataclass(frozen=True, slots=True)
class TopK:
    """Keeps the `k` likeliest."""

    k: int


@dataclass(frozen=True, slots=True)
class Typical:
    """Keeps the tokens whose surprise is nearest to the expected one, until they together have probability `p`."""

    p: float


@dataclass(frozen=True, slots=True)
class TopP:
    """Keeps the likeliest that together have probability `p`."""

    p: float


@dataclass(frozen=True, slots=True)
class MinP:
    """Keeps what is at least `p` times as likely as the likeliest."""

    p: float


@dataclass(frozen=True, slots=True)
class Xtc:
    """With this probability, leaves out all but the least likely of the tokens above `threshold`."""

    probability: float
    threshold: float
    seed: int


@dataclass(frozen=True, slots=True)
class Temperature:
    """Sharpens (below 1) or flattens the distribution."""

    t: float


@dataclass(frozen=True, slots=True)
class Mirostat:
    """Holds the surprise of the text at `tau`; draws, too. Version 1 or 2."""

    version: int
    tau: float
    eta: float
    seed: int


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws one token at random."""

    seed: int


@dataclass(frozen=True, slots=True)
class Greedy:
    """Takes the likeliest token."""


Stage = Penalties | Dry | TopNSigma | TopK | Typical | TopP | MinP | Xtc | Temperature | Mirostat | Draw | Greedy


def sampler_chain(params: SamplingParams, seed: int) -> tuple[Stage, ...]:
    """The stages in llama.cpp's order; those at their neutral value are left out, what is None is the default."""
    params = resolve(params)
    chain = _punished(params)
    temperature = _value(params.temperature)
    if temperature == 0.0:
        return (*chain, Greedy())
    if params.mirostat:
        mirostat = Mirostat(params.mirostat, _value(params.mirostat_tau), _value(params.mirostat_eta), seed)
        return (*chain, Temperature(temperature), mirostat)
    if params.top_n_sigma > 0.0:
        chain.append(TopNSigma(params.top_n_sigma))
    if params.top_k:
        chain.append(TopK(params.top_k))
    if params.typical_p < 1.0:
        chain.append(Typical(params.typical_p))
    if _value(params.top_p) < 1.0:
        chain.append(TopP(_value(params.top_p)))
    if params.min_p:
        chain.append(MinP(params.min_p))
    if params.xtc_probability:
        chain.append(Xtc(params.xtc_probability, _value(params.xtc_threshold), seed))
    return (*chain, Temperature(temperature), Draw(seed))


def _punished(params: SamplingParams) -> list[Stage]:
    chain: list[Stage] = []
    punished = (_value(params.repeat_penalty), params.frequency_penalty, _value(params.presence_penalty))
    if params.repeat_last_n and punished != (1.0, 0.0, 0.0):
        chain.append(Penalties(params.repeat_last_n, *punished))
    if params.dry_multiplier > 0.0 and params.dry_last_n > 0:
        chain.append(
            Dry(
                params.dry_multiplier,
                params.dry_base,
                params.dry_allowed_length,
                params.dry_last_n,
                params.dry_breakers,
            )
        )
    return chain


def biases(params: SamplingParams, end_tokens: Iterable[int] = ()) -> dict[int, float]:
    """What is added to the logits of tokens before the chain sees them; minus infinity forbids one."""
    found: dict[int, float] = {}
    for token, bias in params.logit_bias:
        found[token] = found.get(token, 0.0) + bias
    return found | (dict.fromkeys(end_tokens, -math.inf) if params.ignore_eos else {})


def _value(number: float | None) -> float:
    assert number is not None
    return number


def check_sampling(params: SamplingParams) -> None:
    """Raise BAD_PARAMETER with `parameter` and `value` for what no sampler can do. None is for `resolve`, and fine."""
    for name, (low, high) in FLOAT_RANGES.items():
        value = getattr(params, name)
        if value is not None and not (math.isfinite(value) and low <= value <= high):
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, minimum=low, maximum=high)
    for name, (least, most) in INT_RANGES.items():
        number = getattr(params, name)
        if number is not None and not least <= number <= most:
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=number, minimum=least, maximum=most)
    _check_texts("stop", params.stop)
    _check_texts("dry_breakers", params.dry_breakers)
    if len(params.logit_bias) > MAX_BIASES:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="logit_bias", value=len(params.logit_bias), maximum=MAX_BIASES)
    if any(math.isnan(bias) or token < 0 or bias == math.inf for token, bias in params.logit_bias):
        raise fail(ErrorCode.BAD_PARAMETER, parameter="logit_bias", value="not a number")
    if params.json_schema is not None and params.grammar is not None:
        raise fail(ErrorCode.BAD_GRAMMAR, kind="grammar", detail="a JSON schema is given too")
    for name in ("json_schema", "grammar"):
        n_chars = len(getattr(params, name) or "")
        if n_chars > MAX_GRAMMAR_CHARS:
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=n_chars, maximum=MAX_GRAMMAR_CHARS)


def _check_texts(name: str, texts: tuple[str, ...]) -> None:
    if len(texts) > MAX_STOPS:
        raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=len(texts), maximum=MAX_STOPS)
    for text in texts:
        if not 1 <= len(text) <= MAX_STOP_CHARS:
            raise fail(
                ErrorCode.BAD_PARAMETER, parameter=f"{name} length", value=len(text), minimum=1, maximum=MAX_STOP_CHARS
            )


def seed_of(params: SamplingParams, drawn: int) -> int:
    """The 32-bit seed in use: the request's own, folded, or `drawn`. llama.cpp reads the highest value as "random"."""
    seed = drawn if params.seed is None else params.seed
    return min(seed & 0xFFFFFFFF, 0xFFFFFFFE)
