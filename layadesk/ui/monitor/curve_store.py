"""Half an hour of curves in arrays, and the few points of them that a chart of some width can show.

Imports numpy: bring it in with `chart_import.load`, never at the top of another module (0.15 s).
"""

import numpy as np
from numpy.typing import NDArray

from layadesk.ui.monitor.columns import KEYS, Key

CAPACITY = 8192  # half an hour at 4 a second, and some
Floats = NDArray[np.float64]


class CurveStore:
    """A ring that is written twice, at i and i + CAPACITY, so that what is read is always one piece without a copy."""

    def __init__(self) -> None:
        self._times = np.full(2 * CAPACITY, np.nan)
        self._values = np.full((len(KEYS), 2 * CAPACITY), np.nan)
        self._n = 0
        self._place = {key: index for index, key in enumerate(KEYS)}

    def append(self, taken_at: float, row: tuple[float | None, ...]) -> None:
        """The figures of one sample, in the order of KEYS; None becomes a gap."""
        at = self._n % CAPACITY
        values = [np.nan if value is None else value for value in row]
        for index in (at, at + CAPACITY):
            self._times[index] = taken_at
            self._values[:, index] = values
        self._n += 1

    def __len__(self) -> int:
        return min(self._n, CAPACITY)

    def clear(self) -> None:
        """Forget everything."""
        self._n = 0

    def times(self, since: float) -> Floats:
        """Monotonic seconds of the samples from `since` on."""
        return self._times[self._slice(since)]

    def values(self, key: Key, since: float) -> Floats:
        """One curve from `since` on; NaN is a gap."""
        return self._values[self._place[key], self._slice(since)]

    def index_near(self, at: float) -> int | None:
        """The place of the sample closest to `at`, for `row_at`; None in an empty store."""
        if not len(self):
            return None
        times = self._times[self._slice(-np.inf)]
        return int(np.nanargmin(np.abs(times - at)))

    def row_at(self, index: int) -> tuple[float, dict[Key, float | None]]:
        """When it was taken, and its figures."""
        start = self._slice(-np.inf).start + index
        found = self._values[:, start]
        figures = {key: None if np.isnan(found[place]) else float(found[place]) for key, place in self._place.items()}
        return float(self._times[start]), figures

    def _slice(self, since: float) -> slice:
        end = self._n if self._n <= CAPACITY else CAPACITY + self._n % CAPACITY
        start = end - len(self)
        return slice(start + int(np.searchsorted(self._times[start:end], since)), end)


def thinned(x: Floats, y: Floats, n_buckets: int) -> tuple[Floats, Floats]:
    """Two points for each of `n_buckets` of time, the least and the greatest, so that no peak is lost; where there is a
    gap a third one, NaN. `x` ascends.
    """
    if len(x) <= 2 * n_buckets:
        return x, y
    edges = _edges(x, n_buckets)
    low, high = np.fmin.reduceat(y, edges), np.fmax.reduceat(y, edges)
    gaps = _gaps(y, edges, high)
    thin_x, thin_y = np.repeat(x[edges], 2), np.column_stack((low, high)).ravel()
    return np.insert(thin_x, 2 * gaps + 2, x[edges[gaps]]), np.insert(thin_y, 2 * gaps + 2, np.nan)


def outline(x: Floats, bottom: Floats, top: Floats, n_buckets: int) -> tuple[Floats, Floats, Floats]:
    """The upper edge of two curves, for what is filled between them: one point for each bucket, gaps of `top` as above.

    To fill `thinned` curves, up and down in each bucket, took Qt ten times as long, and looks the same behind the line.
    """
    if len(x) <= n_buckets:
        return x, bottom, top
    edges = _edges(x, n_buckets)
    high = np.fmax.reduceat(top, edges)
    gaps = _gaps(top, edges, high)
    return (
        np.insert(x[edges], gaps + 1, x[edges[gaps]]),
        np.insert(np.fmax.reduceat(bottom, edges), gaps + 1, np.nan),
        np.insert(high, gaps + 1, np.nan),
    )


def _edges(x: Floats, n_buckets: int) -> NDArray[np.intp]:
    """Where each bucket begins that has a sample."""
    return np.unique(np.searchsorted(x, np.linspace(x[0], x[-1], n_buckets, endpoint=False)))


def _gaps(y: Floats, edges: NDArray[np.intp], high: Floats) -> NDArray[np.intp]:
    """The buckets of which only a part is known."""
    return np.flatnonzero(np.logical_or.reduceat(np.isnan(y), edges) & np.isfinite(high))
