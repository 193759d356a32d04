"""Named ways to sample, for one conversation: what they change of the settings. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from layadesk.domain.inference import SamplingParams

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "precise": {"temperature": 0.2, "top_p": 0.9, "min_p": 0.05},
        "balanced": {"temperature": 0.6, "top_p": 0.95, "min_p": 0.05},
        "creative": {"temperature": 1.0, "top_p": 0.98, "min_p": 0.03},
    }
)


def with_preset(sampling: SamplingParams, preset: str) -> SamplingParams:
    """`sampling` as the preset changes it; unchanged for no preset and for one that is not known any more."""
    changes = PRESETS.get(preset, {})
    return replace(
        sampling,
        temperature=changes.get("temperature", sampling.temperature),
        top_p=changes.get("top_p", sampling.top_p),
        min_p=changes.get("min_p", sampling.min_p),
    )
