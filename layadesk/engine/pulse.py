"""When the tokens of one answer came: the gaps a reader feels, and what choosing them cost."""

import math
from array import array


class Pulse:
    """Times of one answer's tokens, seconds of the engine's clock. Decode thread. Four bytes a token."""

    def __init__(self) -> None:
        self.first: float | None = None
        self.last: float | None = None
        self._sample_s = 0.0
        self._text_s = 0.0
        self._gaps = array("f")

    def beat(self, began: float, now: float, *, is_end: bool = False) -> None:
        """A token was chosen between these two times; `is_end`: the one that ends the answer, which nobody reads."""
        self._sample_s += now - began
        if self.first is None:
            self.first = now
        elif not is_end and self.last is not None:
            self._gaps.append(now - self.last)
        if not is_end:
            self.last = now

    def made_text(self, seconds: float) -> None:
        """What turning a token into text took."""
        self._text_s += seconds

    @property
    def text_ms(self) -> float | None:
        """What turning tokens into text took, all together; None without any."""
        return None if self.first is None else self._text_s * 1000

    @property
    def sample_ms(self) -> float | None:
        """What choosing took, all tokens together; None without any."""
        return None if self.first is None else self._sample_s * 1000

    def gap_ms(self, quantile: float) -> float | None:
        """The wait between two tokens that this part of all waits does not exceed; None for fewer than two tokens."""
        if not self._gaps:
            return None
        ordered = sorted(self._gaps)
        return ordered[max(0, math.ceil(quantile * len(ordered)) - 1)] * 1000
