"""Where the time of an answer went, from the question to the last word on screen."""

from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.inference import Timings


class TimePart(StrEnum):
    """The parts in their order; `ui/texts` has the words."""

    ROUTE = "route"
    QUEUE = "queue"
    LOAD = "load"
    RESTORE = "restore"
    TOKENIZE = "tokenize"
    PREFILL = "prefill"
    DECODE = "decode"
    SAMPLE = "sample"
    DETOKENIZE = "detokenize"
    SCREEN = "screen"


class ComputePart(StrEnum):
    """What the computing of a token is spent on."""

    ATTENTION = "attention"  # recurrent layers too
    FEED_FORWARD = "feed_forward"  # dense, and MoE experts that all tokens share
    MOE_GATE = "moe_gate"
    MOE_EXPERTS = "moe_experts"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class ComputeProfile:
    """Milliseconds of one token by part, measured node by node, which is slower: compare the shares, not the sums.

    `plain_ms` is what a token takes when it is computed in one piece, `n_past` how many were before it.
    """

    parts: tuple[tuple[ComputePart, float], ...]
    plain_ms: float
    n_past: int

    @property
    def profiled_ms(self) -> float:
        """All parts."""
        return sum(ms for _, ms in self.parts)

    def shares(self) -> tuple[tuple[ComputePart, float], ...]:
        """Of the whole; empty where nothing was measured."""
        total = self.profiled_ms
        return tuple((part, ms / total) for part, ms in self.parts) if total > 0 else ()


def time_parts(
    timings: Timings, *, route_ms: float | None = None, screen_ms: float | None = None
) -> tuple[tuple[TimePart, float | None], ...]:
    """Milliseconds of each part; None was not measured or did not happen.

    The window between the first and the last token is decoding, choosing and turning into text: the last two are taken
    out of it. The first token's own share of them is in there too, and is next to nothing.
    """
    sampled = (timings.sample_ms or 0.0) + (timings.detokenize_ms or 0.0)
    decode = None if timings.decode_ms is None else max(0.0, timings.decode_ms - sampled)
    found = {
        TimePart.ROUTE: route_ms,
        TimePart.QUEUE: timings.queue_ms,
        TimePart.LOAD: timings.load_ms,
        TimePart.RESTORE: timings.restore_ms,
        TimePart.TOKENIZE: timings.tokenize_ms,
        TimePart.PREFILL: timings.prefill_ms,
        TimePart.DECODE: decode,
        TimePart.SAMPLE: timings.sample_ms,
        TimePart.DETOKENIZE: timings.detokenize_ms,
        TimePart.SCREEN: screen_ms,
    }
    return tuple((part, found[part]) for part in TimePart)
