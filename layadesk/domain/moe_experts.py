"""What the gates of a model with MoE experts chose: counts by layer and MoE expert, and what they say.

Not to be taken for the experts of the pool: a MoE expert is a part of one model's layer.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PHASES = ("prefill", "decode")


@dataclass(frozen=True, slots=True)
class MoeShape:
    """Each token is computed by `n_expert_used` of the `n_expert` MoE experts of a layer."""

    n_expert: int
    n_expert_used: int


@dataclass(frozen=True, slots=True)
class MoeCounts:
    """How often each MoE expert was chosen. `n_tokens` by layer; the others row by row, a layer's MoE experts together.

    In the last layer only tokens that a next one is drawn from are computed: its `n_tokens` is small in prefill.
    `weights` are sums of what the gate gave to the chosen; empty where the architecture has none that can be read.
    """

    n_tokens: tuple[int, ...] = ()
    n_chosen: tuple[int, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was counted."""
        return not any(self.n_tokens)

    def __add__(self, other: "MoeCounts") -> "MoeCounts":
        """Both together; of models of different shapes the second alone."""
        if self.is_empty or len(self.n_chosen) != len(other.n_chosen):
            return self if other.is_empty else other
        if other.is_empty:
            return self
        has_weights = len(self.weights) == len(other.weights)
        return MoeCounts(
            _summed(self.n_tokens, other.n_tokens),
            _summed(self.n_chosen, other.n_chosen),
            tuple(a + b for a, b in zip(self.weights, other.weights, strict=True)) if has_weights else (),
        )

    def of_layer(self, row: int) -> tuple[int, ...]:
        """Of the layer in that row."""
        n_expert = len(self.n_chosen) // max(1, len(self.n_tokens))
        return self.n_chosen[row * n_expert : (row + 1) * n_expert]


@dataclass(frozen=True, slots=True)
class MoeToken:
    """One token of an answer and where it went: `chosen` has `n_expert_used` numbers of 16 bits for each layer."""

    text: str
    chosen: bytes

    def in_layer(self, row: int, n_expert_used: int) -> tuple[int, ...]:
        """The MoE experts that computed it in the layer of that row; empty where it was not computed there."""
        numbers = memoryview(self.chosen).cast("H")[row * n_expert_used : (row + 1) * n_expert_used]
        return tuple(n for n in numbers if n != NOT_COMPUTED)


NOT_COMPUTED = 0xFFFF


@dataclass(frozen=True, slots=True)
class MoeRecord:
    """What was counted for one answer, or for many. `layers` are the numbers of the layers that have a gate.

    `capture_ms` of `computed_ms` went into looking.
    """

    shape: MoeShape
    layers: tuple[int, ...] = ()
    prefill: MoeCounts = MoeCounts()
    decode: MoeCounts = MoeCounts()
    capture_ms: float = 0.0
    computed_ms: float = 0.0

    def __add__(self, other: "MoeRecord") -> "MoeRecord":
        """Both together; what was counted of another shape is left behind."""
        if (self.shape, self.layers) != (other.shape, other.layers):
            return other
        return MoeRecord(
            self.shape,
            self.layers,
            self.prefill + other.prefill,
            self.decode + other.decode,
            self.capture_ms + other.capture_ms,
            self.computed_ms + other.computed_ms,
        )

    def counts(self, phase: str | None = None) -> MoeCounts:
        """Of `prefill`, of `decode`, or of both."""
        if phase is None:
            return self.prefill + self.decode
        return self.decode if phase == "decode" else self.prefill

    @property
    def capture_share(self) -> float | None:
        """The part of the computing time that looking took; None where nothing was computed."""
        return self.capture_ms / self.computed_ms if self.computed_ms > 0 else None


@dataclass(frozen=True, slots=True)
class KeptMoe:
    """A record as it is kept with an answer: one byte for each MoE expert of a layer, against the busiest of it.

    Exact while none was chosen more than 255 times; `most` is how often the busiest was, by layer.
    """

    shape: MoeShape
    layers: tuple[int, ...]
    n_tokens: tuple[tuple[int, ...], tuple[int, ...]]
    most: tuple[tuple[int, ...], tuple[int, ...]]
    levels: tuple[bytes, bytes]

    def record(self) -> MoeRecord:
        """As counts again. Without weights and times."""
        prefill, decode = (
            MoeCounts(self.n_tokens[i], _from_levels(self.levels[i], self.most[i], self.shape.n_expert))
            if any(self.n_tokens[i]) and len(self.levels[i]) == len(self.layers) * self.shape.n_expert
            else MoeCounts()
            for i in range(2)
        )
        return MoeRecord(self.shape, self.layers, prefill, decode)


def kept(record: MoeRecord) -> KeptMoe:
    """`record` as it is kept."""
    phases = (record.prefill, record.decode)
    most = tuple(tuple(max(one.of_layer(row), default=0) for row in range(len(one.n_tokens))) for one in phases)
    levels = tuple(
        bytes(round(255 * n / top) if top > 255 else n for row, top in enumerate(tops) for n in one.of_layer(row))
        for one, tops in zip(phases, most, strict=True)
    )
    n_tokens = tuple(one.n_tokens for one in phases)
    return KeptMoe(record.shape, record.layers, n_tokens, most, levels)  # type: ignore[arg-type]  # two of each


def _from_levels(levels: bytes, most: tuple[int, ...], n_expert: int) -> tuple[int, ...]:
    tops = [most[place // n_expert] for place in range(len(levels))]
    return tuple(round(level * top / 255) if top > 255 else level for level, top in zip(levels, tops, strict=True))


@dataclass(frozen=True, slots=True)
class LayerBalance:
    """How evenly one layer's MoE experts work.

    `variation` is the coefficient of variation of their counts: 0 is even. `entropy` is 1 where all have the same
    share, 0 where one has all. `busiest` and `idle` are numbers of MoE experts, the most used first.
    """

    layer: int
    n_tokens: int
    variation: float | None
    entropy: float | None
    busiest: tuple[int, ...] = ()
    idle: tuple[int, ...] = ()


N_BUSIEST = 3


def balance_of(record: MoeRecord, phase: str | None = None) -> tuple[LayerBalance, ...]:
    """Of each layer; None for figures of a layer that computed nothing."""
    counts = record.counts(phase)
    return tuple(
        _balance(layer, counts.n_tokens[row], counts.of_layer(row))
        for row, layer in enumerate(record.layers)
        if row < len(counts.n_tokens)
    )


def _balance(layer: int, n_tokens: int, chosen: Sequence[int]) -> LayerBalance:
    total = sum(chosen)
    if total == 0 or len(chosen) < 2:
        return LayerBalance(layer, n_tokens, None, None)
    mean = total / len(chosen)
    variation = math.sqrt(sum((n - mean) ** 2 for n in chosen) / len(chosen)) / mean
    shares = [n / total for n in chosen if n]
    entropy = -sum(share * math.log(share) for share in shares) / math.log(len(chosen))
    by_use = sorted(range(len(chosen)), key=lambda expert: -chosen[expert])
    return LayerBalance(
        layer,
        n_tokens,
        variation,
        max(0.0, entropy),
        tuple(expert for expert in by_use[:N_BUSIEST] if chosen[expert]),
        tuple(expert for expert, n in enumerate(chosen) if n == 0),
    )


def against_even(counts: MoeCounts, row: int) -> tuple[float | None, ...]:
    """The share of each MoE expert of a layer against the even share: 1 is even, 2 is twice as much as its turn."""
    chosen = counts.of_layer(row)
    total = sum(chosen)
    return tuple(n * len(chosen) / total if total else None for n in chosen)


def _summed(one: Iterable[int], other: Iterable[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True))
