"""Who gives up a place for one that waits, so that no client holds an expert for as long as its answers are long.

A stint is the time a sequence computes from getting its place until it gives it up. It goes on later where it stopped,
mostly in the very same cells. Within a client, who came first ends first, unless the others would wait for long.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeGuard

from layadesk.engine.sequence import Sequence

STINT_S: Final = 1.0  # so long nobody is sent away by another client, and so long one of those waits for a first token
OWN_STINT_S: Final = 6.0  # the same within a client: taking turns makes its first answers end later
MAX_AGAIN_SHARE: Final = 0.25  # of the time may go into computing again what had to leave the cells for others


def givers(one: Sequence, running: Iterable[Sequence]) -> Iterator[Sequence]:
    """Who is to give up its place for `one`, who goes first first, whether its stint is over or not.

    The client that has the most running gives, as long as it has more than the client of `one`, and of its sequences
    the one that has run longest. Where no other has more, the client's own take turns.
    """
    left = list(running)
    n_running = Counter(other.client for other in left)
    while True:
        able = [other for other in left if n_running[other.client] > n_running[one.client]]
        able = able or [other for other in left if other.client == one.client]
        if not able:
            return
        giver = max(able, key=lambda other: (n_running[other.client], other.stint_s))
        left.remove(giver)
        n_running[giver.client] -= 1
        yield giver


def are_due(leaving: Iterable[Sequence] | None, one: Sequence) -> TypeGuard[list[Sequence]]:
    """Whether the stints of all of them are over, now that `one` waits; None are none that could be."""
    if leaving is None:
        return False
    return all(giver.stint_s >= (OWN_STINT_S if giver.client == one.client else STINT_S) for giver in leaving)


class AgainTime:
    """The time that computing again takes, against all other computing: whether more of it may be brought about."""

    def __init__(self) -> None:
        self._debt_s = 0.0

    @property
    def is_paid(self) -> bool:
        """Whether it took no more than its share so far."""
        return self._debt_s <= 0.0

    def passed(self, seconds: float, *, is_again: bool) -> None:
        """A step took `seconds`; `is_again`: someone has computed in it what he had computed before."""
        paid_s = seconds * MAX_AGAIN_SHARE / (1.0 - MAX_AGAIN_SHARE)
        self._debt_s = max(0.0, self._debt_s + (seconds if is_again else -paid_s))
