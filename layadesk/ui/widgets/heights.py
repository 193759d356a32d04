"""Where the items of a column stand when only some of them have been built: measured heights, and estimates. No Qt."""

from bisect import bisect_right
from itertools import accumulate


class Heights:
    """Heights of a column of items with a gap between them, in pixels. Sums are made anew only behind a change."""

    def __init__(self, gap: int) -> None:
        self._gap = gap
        self._heights: list[int] = []
        self._tops: list[int] = []
        self._n_valid = 0

    def __len__(self) -> int:
        return len(self._heights)

    def append(self, height: int) -> None:
        """One more item at the end."""
        self._heights.append(height)

    def truncate(self, n: int) -> None:
        """Keep the first `n`."""
        del self._heights[n:]
        self._n_valid = min(self._n_valid, n)

    def set(self, index: int, height: int) -> bool:
        """Give one item another height; true when it is another one."""
        if self._heights[index] == height:
            return False
        self._heights[index] = height
        self._n_valid = min(self._n_valid, index + 1)
        return True

    def height(self, index: int) -> int:
        """Of one item."""
        return self._heights[index]

    def top(self, index: int) -> int:
        """Where an item begins; for the number of items, where the next one would."""
        self._sum()
        if index < len(self._tops):
            return self._tops[index]
        return self._tops[-1] + self._step(len(self._tops) - 1) if self._tops else 0

    @property
    def total(self) -> int:
        """From the top of the first to the bottom of the last."""
        return self.top(len(self)) - self._gap if self._heights and self._heights[-1] else self.top(len(self))

    def index_at(self, y: int) -> int:
        """The item at `y`, or the nearest; 0 for none."""
        self._sum()
        return max(bisect_right(self._tops, y) - 1, 0)

    def _step(self, index: int) -> int:
        """From one top to the next; what is hidden takes no gap."""
        height = self._heights[index]
        return height + self._gap if height else 0

    def _sum(self) -> None:
        n = len(self._heights)
        if self._n_valid == n and len(self._tops) == n:
            return
        first = min(self._n_valid, len(self._tops), n)
        start = self._tops[first - 1] + self._step(first - 1) if first else 0
        steps = (self._step(index) for index in range(first, n - 1))
        self._tops[first:] = accumulate(steps, initial=start) if n > first else ()
        self._n_valid = n
