"""The nodes of a graph, one by one, as parts of a token's time. Pure arithmetic over what `cb_eval` saw."""

import re
from collections.abc import Iterable, Sequence
from statistics import median

from layadesk.domain.answer_time import ComputePart

# Names as llama.cpp gives them (src/llama-graph.cpp and src/models/*.cpp), without the layer's number. What has no name
# of its own belongs to the part of the node before it.
_PARTS: tuple[tuple[re.Pattern[str], ComputePart], ...] = tuple(
    (re.compile(pattern), part)
    for pattern, part in (
        (r"result_|lm_head|output", ComputePart.OUTPUT),
        (r"ffn_moe_(logits|probs|selection|group|argsort|topk|weights)", ComputePart.MOE_GATE),
        (r"ffn_moe", ComputePart.MOE_EXPERTS),
        (r"ffn_|l_out|post_ffw", ComputePart.FEED_FORWARD),
        (r"attn|[QKV]cur|kq|cache_[kv]|kqv|inp_embd|rope|norm-|conv|ssm|delta|beta|alpha", ComputePart.ATTENTION),
    )
)
_NOTHING = re.compile(r"\((view|reshaped|permuted|transposed)\)|^(leaf|inp_)")


def part_of(name: str, before: ComputePart) -> ComputePart:
    """Where a node belongs; `before` is where the node before it did."""
    return next((part for pattern, part in _PARTS if pattern.match(name)), before)


def by_part(nodes: Iterable[Sequence[tuple[str, float]]]) -> tuple[tuple[ComputePart, float], ...]:
    """Names and seconds of the nodes of some tokens, as milliseconds of one; parts that did not occur are left out.

    What a node costs that computes nothing (a view of another) is the price of looking: it is taken off each.
    """
    tokens = [list(one) for one in nodes]
    empty = [seconds for one in tokens for name, seconds in one if _NOTHING.search(name)]
    price = median(empty) if empty else 0.0
    sums: dict[ComputePart, float] = {}
    for one in tokens:
        part = ComputePart.ATTENTION
        for name, seconds in one:
            part = part_of(name, part)
            sums[part] = sums.get(part, 0.0) + max(0.0, seconds - price)
    return tuple((part, 1000 * sums[part] / len(tokens)) for part in ComputePart if part in sums)
