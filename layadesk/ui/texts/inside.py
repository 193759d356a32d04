"""Words for the parts of an answer's time."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.answer_time import ComputePart, TimePart
from layadesk.domain.memory_fit.token_reads import DeviceReads
from layadesk.domain.moe_experts import MoeRecord
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.numbers import percent, seconds, size

translate = QCoreApplication.translate

_TIME_PARTS: Final[Mapping[TimePart, str]] = {
    TimePart.ROUTE: QT_TRANSLATE_NOOP("inside", "Routing"),
    TimePart.QUEUE: QT_TRANSLATE_NOOP("inside", "Waiting for a turn"),
    TimePart.LOAD: QT_TRANSLATE_NOOP("inside", "Loading the expert"),
    TimePart.RESTORE: QT_TRANSLATE_NOOP("inside", "Reading kept cells"),
    TimePart.TOKENIZE: QT_TRANSLATE_NOOP("inside", "Prompt into tokens"),
    TimePart.PREFILL: QT_TRANSLATE_NOOP("inside", "Reading the prompt"),
    TimePart.DECODE: QT_TRANSLATE_NOOP("inside", "Writing"),
    TimePart.SAMPLE: QT_TRANSLATE_NOOP("inside", "Choosing tokens"),
    TimePart.DETOKENIZE: QT_TRANSLATE_NOOP("inside", "Tokens into text"),
    TimePart.SCREEN: QT_TRANSLATE_NOOP("inside", "On screen"),
}
_COMPUTE_PARTS: Final[Mapping[ComputePart, str]] = {
    ComputePart.ATTENTION: QT_TRANSLATE_NOOP("inside", "Attention"),
    ComputePart.FEED_FORWARD: QT_TRANSLATE_NOOP("inside", "Feed-forward"),
    ComputePart.MOE_GATE: QT_TRANSLATE_NOOP("inside", "Gate of the MoE experts"),
    ComputePart.MOE_EXPERTS: QT_TRANSLATE_NOOP("inside", "MoE experts"),
    ComputePart.OUTPUT: QT_TRANSLATE_NOOP("inside", "Output"),
}
TIME_COLOURS: Final[Mapping[TimePart, str]] = {
    TimePart.ROUTE: "muted",
    TimePart.QUEUE: "border",
    TimePart.LOAD: "accent",
    TimePart.RESTORE: "accent",
    TimePart.TOKENIZE: "others",
    TimePart.PREFILL: "warn",
    TimePart.DECODE: "ok",
    TimePart.SAMPLE: "weights",
    TimePart.DETOKENIZE: "kv",
    TimePart.SCREEN: "others",
}
COMPUTE_COLOURS: Final[Mapping[ComputePart, str]] = {
    ComputePart.ATTENTION: "kv",
    ComputePart.FEED_FORWARD: "weights",
    ComputePart.MOE_GATE: "warn",
    ComputePart.MOE_EXPERTS: "accent",
    ComputePart.OUTPUT: "others",
}


def time_part(part: TimePart) -> str:
    """In the language of the window."""
    return translate("inside", _TIME_PARTS[part])


def compute_part(part: ComputePart) -> str:
    """In the language of the window."""
    return translate("inside", _COMPUTE_PARTS[part])


def reads(one: DeviceReads) -> str:
    """What a token reads on one device."""
    return translate("inside", "{device}: {weights} of weights, {kv} of KV cache").format(
        device=one.device, weights=size(one.weights_bytes), kv=size(one.kv_bytes)
    )


def rate(bytes_per_s: float) -> str:
    """`15.8 GB/s`; memory is rated in powers of ten."""
    return f"{bytes_per_s / 1e9:.1f} GB/s"


def cost(record: MoeRecord) -> str:
    """What looking has cost so far; empty where that is not known."""
    share = record.capture_share
    if share is None:
        return ""
    return translate("inside", "Looking took {part} of {all} of computing, {share}.").format(
        part=seconds(record.capture_ms), all=seconds(record.computed_ms), share=percent(share)
    )
