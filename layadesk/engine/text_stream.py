"""Token bytes to text that may be shown: whole characters only, and never any part of a stop string."""

import codecs
from collections.abc import Sequence


class TextStream:
    """The text of one answer. The result does not depend on how the bytes are cut into tokens. Decode thread."""

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stops = tuple(stops)
        self._held = ""  # may be the beginning of a stop string
        self._released: list[str] = []
        self.is_stopped = False

    @property
    def text(self) -> str:
        """All text released so far."""
        return "".join(self._released)

    def push(self, piece: bytes) -> str:
        """Take the bytes of one token; returns what may be shown now, perhaps nothing. Nothing comes after a stop.

        Invalid bytes become U+FFFD; an unfinished character waits for its rest.
        """
        if self.is_stopped:
            return ""
        self._held += self._decoder.decode(piece)
        cut = self._first_stop()
        if cut is not None:
            self.is_stopped = True
            return self._release(cut, keep=0)
        n_keep = self._n_undecided()
        return self._release(len(self._held) - n_keep, keep=n_keep)

    def finish(self) -> str:
        """The end of the answer: what was held back was no stop string and is returned; half a character is dropped."""
        if self.is_stopped:
            return ""
        return self._release(len(self._held), keep=0)

    def _release(self, n: int, *, keep: int) -> str:
        text, self._held = self._held[:n], self._held[n : n + keep]
        if text:
            self._released.append(text)
        return text

    def _first_stop(self) -> int | None:
        """Where the stop string begins that is complete first; of two that end together, the longer one.

        "Complete first", not "begins first": only that is the same for any cutting into tokens.
        """
        found: list[tuple[int, int]] = []
        for stop in self._stops:
            start = self._held.find(stop)
            if start >= 0:
                found.append((start + len(stop), start))
        return min(found)[1] if found else None

    def _n_undecided(self) -> int:
        """How many characters at the end may still become a stop string."""
        longest = 0
        for stop in self._stops:
            for n in range(min(len(stop) - 1, len(self._held)), longest, -1):
                if self._held.endswith(stop[:n]):
                    longest = n
                    break
        return longest
