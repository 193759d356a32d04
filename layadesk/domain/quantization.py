"""What the name of a quantization says: how much of the original model is left, and how large it makes a file."""

import re
from enum import StrEnum
from typing import Final

# Bits per weight of whole files, by the first bits of the name: block scales and the larger types of some tensors are
# in them (llama.cpp's own table for Llama 3 8B, tools/quantize/README.md, rounded).
_BITS: Final[dict[str, float]] = {
    "F32": 32.0, "F16": 16.0, "BF1": 16.0, "Q8_": 8.5, "Q6_": 6.6, "Q5_": 5.7, "Q4_": 4.9, "IQ4": 4.5, "MXF": 4.3,
    "Q3_": 4.0, "IQ3": 3.5, "Q2_": 3.2, "IQ2": 2.6, "IQ1": 1.9,
}  # fmt: skip
_USUAL_BITS: Final = 4.9


class Closeness(StrEnum):
    """How close answers stay to those of the original; `ui/texts` has the words."""

    ORIGINAL = "original"  # nothing was taken away
    TRAINED = "trained"  # made or trained for this size by its maker
    NEAR = "near"  # no test tells them apart
    GOOD = "good"  # the usual choice
    FAIR = "fair"  # mistakes show in hard tasks
    WEAK = "weak"  # for when nothing else fits


def plain_name(quantization: str) -> str:
    """`Q4_K_M` for `UD-Q4_K_M`, in capitals."""
    return quantization.upper().removeprefix("UD-")


def bits_per_weight(quantization: str | None) -> float:
    """Of a whole file, roughly; the usual four bits and more where the name says nothing."""
    return _BITS.get(plain_name(quantization or "")[:3], _USUAL_BITS)


def closeness(quantization: str, path: str = "") -> Closeness:
    """By the name, and by the file's, which says `qat` where training knew of the four bits."""
    name = plain_name(quantization)
    if name.startswith(("F16", "F32", "BF16")):
        return Closeness.ORIGINAL
    if name.startswith("MXFP4") or re.search(r"(?:^|[-_.])qat(?:[-_.]|$)", path, re.I):
        return Closeness.TRAINED
    if name.startswith(("Q8", "Q6")):
        return Closeness.NEAR
    if name.startswith(("Q5", "Q4", "IQ4")):
        return Closeness.GOOD
    return Closeness.FAIR if name.startswith(("Q3", "IQ3")) else Closeness.WEAK
