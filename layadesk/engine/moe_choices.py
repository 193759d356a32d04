"""What the gates of one decode call chose, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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
