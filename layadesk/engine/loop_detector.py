"""Tells when an answer does nothing but repeat itself: one token, a phrase or a line, over and over.

Small and damaged models fall into loops that end only with the context (46 minutes in one report). Lists and code
repeat themselves too, but with something new in each line; so only an exact repetition counts, and only a long one.
"""

CHECK_EVERY = 16  # tokens
WINDOW = 1024  # tokens looked at; a loop of up to an eighth of that is seen
MIN_SHORT, MAX_SHORT_PERIOD = 320, 4  # a row of zeros or dashes may be long: 16 x 16 zeros are 256 pairs
MIN_LONG, MIN_TIMES = 200, 8  # a refrain comes four times, a line of a table perhaps six


class LoopDetector:
    """Follows the tokens of one answer. Decode thread."""

    def __init__(self) -> None:
        self._tail: list[int] = []
        self._n_new = 0

    def push(self, token: int) -> bool:
        """Take the next token; whether the answer is in a loop now. Looks every CHECK_EVERY tokens, 0.1 ms each."""
        self._tail.append(token)
        self._n_new += 1
        if self._n_new < CHECK_EVERY or len(self._tail) < MIN_LONG:
            return False
        self._n_new = 0
        del self._tail[:-WINDOW]
        return repeats_at_end(self._tail)


def repeats_at_end(tokens: list[int]) -> bool:
    """Whether `tokens` end in a repetition that is long enough.

    By the prefix function of the reversed list: for each length it tells the smallest period of the last that many.
    """
    backwards = tokens[::-1]
    borders = [0] * len(backwards)
    for i in range(1, len(backwards)):
        length = borders[i - 1]
        while length and backwards[i] != backwards[length]:
            length = borders[length - 1]
        borders[i] = length + (backwards[i] == backwards[length])
        period = i + 1 - borders[i]
        if i + 1 >= _n_needed(period):
            return True
    return False


def _n_needed(period: int) -> int:
    return MIN_SHORT if period <= MAX_SHORT_PERIOD else max(MIN_LONG, MIN_TIMES * period)
