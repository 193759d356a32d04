"""What a request leaves open about sampling: the model's own recommendation, else what serves small models well."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from layadesk.domain.inference import SamplingParams


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """What somebody recommends for a model: `models.json`, or the GGUF in `general.sampling.*`. None: no word on it."""

    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    repeat_last_n: int | None = None
    presence_penalty: float | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None


# parameter -> smallest and largest value; a temperature of 0 is greedy, the rest switch off at their neutral value
FLOAT_RANGES = {
    "temperature": (0.0, 10.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "typical_p": (0.0, 1.0),
    "repeat_penalty": (0.01, 10.0),
    "frequency_penalty": (-10.0, 10.0),
    "presence_penalty": (-10.0, 10.0),
    "dry_multiplier": (0.0, 100.0),
    "dry_base": (1.0, 100.0),
    "xtc_probability": (0.0, 1.0),
    "xtc_threshold": (0.0, 1.0),
    "top_n_sigma": (0.0, 100.0),
    "mirostat_tau": (0.0, 100.0),
    "mirostat_eta": (0.0, 1.0),
}
INT_RANGES = {
    "top_k": (0, 2**31 - 1),
    "repeat_last_n": (0, 32768),
    "dry_allowed_length": (0, 32768),
    "dry_last_n": (0, 32768),
    "mirostat": (0, 2),
    "max_tokens": (1, 2**31 - 1),
}
FIELDS = tuple(SamplingDefaults.__dataclass_fields__)
BUILT_IN = SamplingDefaults(
    temperature=0.6,
    top_k=40,
    top_p=0.95,
    min_p=0.05,
    repeat_penalty=1.1,
    repeat_last_n=64,
    presence_penalty=0.0,
    xtc_probability=0.0,
    xtc_threshold=0.1,
    mirostat=0,
    mirostat_tau=5.0,
    mirostat_eta=0.1,
)

# What a recommendation is silent about is off, when it says anything at all: a penalty of ours beside the temperature
# of its makers would be neither's advice. top_k stays: cutting the tail off costs nothing and saves time.
_SILENT = replace(BUILT_IN, top_p=1.0, min_p=0.0, repeat_penalty=1.0)


def resolve(asked: SamplingParams, *recommended: SamplingDefaults) -> SamplingParams:
    """`asked` with a number in every field: its own, else that of the first recommendation that has one."""
    has_advice = any(getattr(one, name) is not None for one in recommended for name in FIELDS)
    sources: list[SamplingParams | SamplingDefaults] = [asked, *recommended, _SILENT if has_advice else BUILT_IN]
    found: dict[str, Any] = {name: _first(sources, name) for name in FIELDS}
    return replace(asked, **found)


def _first(sources: Sequence[SamplingParams | SamplingDefaults], name: str) -> float:
    found: Iterator[float | None] = (getattr(one, name) for one in sources)
    return next(value for value in found if value is not None)


def from_metadata(values: Mapping[str, str]) -> SamplingDefaults:
    """What a GGUF recommends, from its texts by field name; what is no number, or no possible one, is left out."""
    found: dict[str, Any] = {name: _number(name, values[name]) for name in FIELDS if name in values}
    return SamplingDefaults(**found)


def _number(name: str, text: str) -> float | int | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if name in INT_RANGES:
        low, high = INT_RANGES[name]
        return int(value) if value.is_integer() and low <= value <= high else None
    least, most = FLOAT_RANGES[name]
    return value if least <= value <= most else None  # also refuses nan
