"""What the gates of one decode call chose, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from layadesk.domain.moe_experts import NOT_COMPUTED, MoeCounts

NONE = -1  # a row that a layer did not compute


@dataclass(frozen=True, slots=True)
class LayerChoices:
    """One layer's gate over some tokens in a row: `chosen` is [tokens, n_expert_used], `weights` the same or None."""

    layer: int
    chosen: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class MoeChoices:
    """Of a whole batch: `chosen` is [layers, rows, n_expert_used] with NONE where a layer left a row out.

    `weights` are 0 there, and None where none could be read. `seconds` is what reading them took.
    """

    layers: tuple[int, ...]
    chosen: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32] | None
    seconds: float

    def counter(self, n_expert: int) -> "MoeCounter":
        """An empty count of choices such as these."""
        size = (len(self.layers), n_expert)
        weights = None if self.weights is None else np.zeros(size)
        return MoeCounter(np.zeros(size[0], np.int64), np.zeros(size, np.int64), weights)

    def packed(self, rows: slice) -> bytes:
        """Some rows as `MoeToken` holds them."""
        chosen = self.chosen[:, rows]
        return np.where(chosen == NONE, NOT_COMPUTED, chosen).astype(np.uint16).tobytes()


@dataclass(slots=True)
class MoeCounter:
    """How often each expert was chosen. Arrays are [layers, n_expert], `n_tokens` is [layers]."""

    n_tokens: npt.NDArray[np.int64]
    n_chosen: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] | None

    def add(self, choices: MoeChoices, rows: slice) -> None:
        """Some rows of a batch."""
        chosen = choices.chosen[:, rows]
        n_layers, n_expert = self.n_chosen.shape
        is_there = chosen != NONE
        self.n_tokens += is_there[:, :, 0].sum(1)
        places = (chosen + (np.arange(n_layers, dtype=np.int32) * n_expert)[:, None, None])[is_there]
        shape, size = self.n_chosen.shape, self.n_chosen.size
        self.n_chosen += np.bincount(places, minlength=size).reshape(shape)
        if choices.weights is not None and self.weights is not None:
            weights = choices.weights[:, rows][is_there]
            self.weights += np.bincount(places, weights, minlength=size).reshape(shape)

    def counts(self) -> MoeCounts:
        """As it is told; empty where nothing was counted."""
        if not self.n_tokens.any():
            return MoeCounts()
        weights = () if self.weights is None else tuple(np.round(self.weights, 4).ravel().tolist())
        return MoeCounts(tuple(self.n_tokens.tolist()), tuple(self.n_chosen.ravel().tolist()), weights)


def gather(parts: Sequence[LayerChoices], wants_logits: Sequence[bool], seconds: float) -> MoeChoices | None:
    """The parts of one decode call (a layer comes again with each ubatch) put together; None where they do not fit.

    The last layer computes only the rows that are sampled from, so its rows are those of `wants_logits`.
    """
    by_layer: dict[int, list[LayerChoices]] = {}
    for part in parts:
        by_layer.setdefault(part.layer, []).append(part)
    if not by_layer:
        return None
    n_used = parts[0].chosen.shape[1]
    all_rows = np.arange(len(wants_logits))
    sampled = np.flatnonzero(wants_logits)
    layers = tuple(sorted(by_layer))
    chosen = np.full((len(layers), len(all_rows), n_used), NONE, np.int32)
    has_weights = all(part.weights is not None for part in parts)
    weights = np.zeros(chosen.shape, np.float32) if has_weights else None
    for place, layer in enumerate(layers):
        found = np.concatenate([part.chosen for part in by_layer[layer]])
        rows = all_rows if len(found) == len(all_rows) else sampled
        if len(rows) != len(found):
            return None
        chosen[place, rows] = found
        if weights is not None:
            weights[place, rows] = np.concatenate([one.weights for one in by_layer[layer] if one.weights is not None])
    return MoeChoices(layers, chosen, weights, seconds)
