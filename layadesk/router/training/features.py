"""Texts as the arrays that training works on: pieces of many texts in a row, numbered by the vocabulary."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layadesk.router.pieces import N_BUCKETS, cut
from layadesk.router.reading import Reading, read


@dataclass(frozen=True, slots=True)
class Bags:
    """Sentences of all texts in a row: sentence k has `ids[starts[k]:starts[k + 1]]` and belongs to `text_of[k]`.

    `is_signs` marks the one sentence of each text that holds its signs. Text k begins at sentence `first[k]`.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    text_of: NDArray[np.int32]
    is_signs: NDArray[np.bool_]
    first: NDArray[np.int64]


def bags(texts: Sequence[str], reader: Callable[[str], Reading] = read) -> Bags:
    """Read and cut all texts; ids are buckets."""
    ids: list[NDArray[np.int32]] = []
    starts, text_of, is_signs, first = [0], [], [], [0]
    position = 0
    for n, text in enumerate(texts):
        pieces = cut(reader(text))
        ids.append(pieces.ids.astype(np.int32))
        starts += [position + int(at) for at in pieces.starts[1:]]
        position += len(pieces.ids)
        starts.append(position)
        text_of += [n] * (pieces.n_sentences + 1)
        is_signs += [False] * pieces.n_sentences + [True]
        first.append(len(text_of))
    return Bags(
        np.concatenate(ids),
        np.array(starts, dtype=np.int64),
        np.array(text_of, dtype=np.int32),
        np.array(is_signs),
        np.array(first, dtype=np.int64),
    )


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The buckets that are kept, in order, and how rare each is: `idf` = log(texts / texts with it)."""

    buckets: NDArray[np.int64]
    idf: NDArray[np.float32]

    def numbers(self, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bucket → its number; len(buckets) for one that is not kept."""
        lookup = np.full(N_BUCKETS, len(self.buckets), dtype=np.int32)
        lookup[self.buckets] = np.arange(len(self.buckets), dtype=np.int32)
        found: NDArray[np.int32] = lookup[ids]
        return found


def choose_vocabulary(of: Bags, size: int, *, at_least: int = 3) -> Vocabulary:
    """The `size` buckets that are in most texts, none in fewer than `at_least`."""
    counts = np.zeros(N_BUCKETS, dtype=np.int64)
    for k in range(len(of.first) - 1):
        counts[np.unique(of.ids[of.starts[of.first[k]] : of.starts[of.first[k + 1]]])] += 1
    ranked = np.lexsort((np.arange(N_BUCKETS), -counts))[:size]
    buckets = np.sort(ranked[counts[ranked] >= at_least])
    n_texts = len(of.first) - 1
    return Vocabulary(buckets, np.log((1 + n_texts) / (1.0 + counts[buckets])).astype(np.float32) + 0.1)
