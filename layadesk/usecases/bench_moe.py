"""Figures of a model with MoE experts: what looking at its gates costs, their time, their balance over mixed prompts.

The three ways of computing take turns token by token, so that a busy machine is unfair to all alike.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from layadesk.domain.answer_time import ComputePart, ComputeProfile
from layadesk.domain.moe_experts import LayerBalance, MoeRecord, balance_of
from layadesk.protocol.bench import MoeBenchReply

# A little of everything that chat models are asked, in two languages.
PROMPTS: Final = (
    "Write a function in Python that merges two sorted lists, and explain its running time.",
    "Solve for x: 3x + 7 = 2x - 5. Show each step.",
    "Write a short poem about the first snow in a quiet town.",
    "What is the capital of Australia, and why is it not Sydney?",
    "Translate into French: The train to the mountains leaves at seven.",
    "Summarise: The committee met on Tuesday, agreed on the budget, and put off the question of the new bridge.",
    "请用简单的话解释什么是光合作用。",
    "写一首关于秋天的短诗。",
    "SELECT name, COUNT(*) FROM orders GROUP BY name HAVING COUNT(*) > 3; -- what does this do?",
    "If all cats are animals and some animals are black, are some cats black? Reason step by step.",
)
OFF_AIM, ON_AIM = 0.01, 0.15


@dataclass(frozen=True, slots=True)
class MoeFigures:
    """Times are those of the fastest tenth: the slower ones are the machine's, which does other things as well.

    Overheads are ratios of them, minus one; `*_aim` is what is aimed at, at most. `*_median_overhead` is the median of
    the ratio of neighbours, for a quiet machine.
    """

    model: str
    n_threads: int
    n_tokens: int
    plain_ms: float
    off_ms: float
    on_ms: float
    off_overhead: float
    on_overhead: float
    off_median_overhead: float
    on_median_overhead: float
    off_aim: float
    on_aim: float
    gate_ms_per_layer: float | None
    parts: tuple[tuple[ComputePart, float], ...]
    profiled_against_plain: float | None
    n_prompts: int
    balance: tuple[LayerBalance, ...]


def moe_figures(model: str, n_threads: int, reply: MoeBenchReply) -> MoeFigures:
    """What the measured times mean."""
    record, profile = reply.record, reply.profile
    plain, off, on = (_fast(ms) for ms in (reply.plain_ms, reply.off_ms, reply.on_ms))
    return MoeFigures(
        model,
        n_threads,
        len(reply.plain_ms),
        plain,
        off,
        on,
        off / plain - 1,
        on / plain - 1,
        _median_overhead(reply.off_ms, reply.plain_ms),
        _median_overhead(reply.on_ms, reply.plain_ms),
        OFF_AIM,
        ON_AIM,
        None if profile is None or record is None else _gate_ms(profile, record),
        () if profile is None else profile.parts,
        None if profile is None or not profile.plain_ms else profile.profiled_ms / profile.plain_ms,
        len(PROMPTS),
        () if record is None else balance_of(record),
    )


def _fast(ms: Sequence[float]) -> float:
    """What a tenth of them does not exceed."""
    return sorted(ms)[len(ms) // 10]


def _median_overhead(ms: Sequence[float], plain_ms: Sequence[float]) -> float:
    return statistics.median(one / plain for one, plain in zip(ms, plain_ms, strict=True)) - 1


def _gate_ms(profile: ComputeProfile, record: MoeRecord) -> float | None:
    gate = dict(profile.parts).get(ComputePart.MOE_GATE)
    return None if gate is None or not record.layers else gate / len(record.layers)
