"""How often the panel writes: samples come up to four times a second, and nobody reads figures as fast. Pure."""

from typing import Final

WORDS_S: Final = 1.0
_EARLY_S: Final = 0.1  # samples do not come to the millisecond


def is_due(last: float, now: float, period_s: float) -> bool:
    """Whether what was shown at `last` is to be shown anew; seconds on the samples' clock."""
    return now - last >= period_s - _EARLY_S
