"""The few tokens that can matter for the next one, found in the logits of a whole vocabulary by vector operations.

A sampler chain looks at every token it is given. Over the 262,144 of Gemma that is 1.1 ms a token with a repeat penalty
(8 % of the time of a small model on two cores), over those that can survive `top_k` it is next to nothing. Without a
`top_k`, as some makers recommend, it is 4 ms to draw one, and 24 ms where they are sorted for `top_p`: here one, or a
few where the question is open. While one token is chosen, all other answers wait.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]

_N_SORTED = 1024
_SPAN = 100.0  # below the highest; what is lower has no probability
_N_ROWS = 64  # the logits as a table of so many rows: the maximum of each column is one pass over contiguous memory


def top_candidates(logits: Logits, k: int) -> Ids:
    """The ids of at least the `k` largest logits, in no order, and few more; all ids where that is no fewer.

    The k-th largest of the column maxima is a bound that at least `k` logits reach, and the k largest all do.
    """
    n_columns = len(logits) // _N_ROWS
    if k >= n_columns:
        return np.arange(len(logits))
    n_table = n_columns * _N_ROWS
    table = logits[:n_table].reshape(_N_ROWS, n_columns)
    maxima = table.max(axis=0)
    bound = np.partition(maxima, n_columns - k)[n_columns - k]
    columns = np.flatnonzero(maxima >= bound)
    rows, at = np.nonzero(table[:, columns] >= bound)
    ids: Any = rows * n_columns + columns[at]
    rest = n_table + np.flatnonzero(logits[n_table:] >= bound)
    return np.concatenate((ids, rest)) if len(rest) else ids


def at_least(logits: Logits, share: float) -> Ids:
    """The ids that are at least `share` times as likely as the likeliest, and perhaps one more."""
    return np.flatnonzero(logits >= logits.max() + math.log(share) - 1e-3)


def nucleus(logits: Logits, p: float) -> Ids:
    """The ids of the likeliest that together have probability `p`, in no order; none where one is no number.

    Where they are many, as at an open question, they are found by halving the span of logits: to sort them all takes
    longer than a small model takes for a token.
    """
    highest = logits.max()
    if not math.isfinite(highest):
        return np.arange(0)
    shares = np.exp(logits - highest)
    wanted = p * float(shares.sum(dtype=np.float64))
    ids = top_candidates(logits, _N_SORTED // 4)
    sure: list[Ids] = []
    if shares[ids].sum(dtype=np.float64) < wanted:
        ids = np.arange(len(logits))
    while len(ids) > _N_SORTED:
        values = logits[ids]
        is_above = values >= (max(values.min(), highest - _SPAN) + values.max()) / 2
        above = ids[is_above]
        mass = float(shares[above].sum(dtype=np.float64))
        if len(above) == len(ids):
            break  # all alike
        if mass >= wanted:
            ids = above
        else:
            wanted -= mass
            sure.append(above)
            ids = ids[~is_above]
    ids = ids[np.argsort(-logits[ids], kind="stable")]
    reached = np.cumsum(shares[ids], dtype=np.float64)
    return np.concatenate((*sure, ids[: int(np.searchsorted(reached, wanted)) + 1]))


def drawn(logits: Logits, temperature: float, at: float) -> int | None:
    """The id at the part `at` (0 to 1) of the whole distribution; None where a logit is no number.

    By rows first: only one of them has to be added up token by token.
    """
    highest = logits.max()
    if not math.isfinite(highest):
        return None
    shares = np.exp((logits - highest) / np.float32(temperature))
    starts = np.arange(0, len(shares), max(1, len(shares) // _N_ROWS))
    sums = np.cumsum(np.add.reduceat(shares, starts, dtype=np.float64))
    wanted = at * sums[-1]
    row = min(int(np.searchsorted(sums, wanted, side="right")), len(starts) - 1)
    begin = int(starts[row])
    end = int(starts[row + 1]) if row + 1 < len(starts) else len(shares)
    inside = np.cumsum(shares[begin:end], dtype=np.float64) + (sums[row - 1] if row else 0.0)
    place = min(int(np.searchsorted(inside, wanted, side="right")), end - begin - 1)
    return begin + place
