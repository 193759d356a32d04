"""Who waits for a turn, and who is next: fair between clients, first come first served within one."""

import bisect
from collections import Counter
from collections.abc import Iterable, Iterator

from layadesk.engine.sequence import Sequence

MAX_OVERTAKEN = 8  # so often may younger ones of other clients go first


class WaitingLine:
    """Sequences without a slot. Decode thread.

    A client that has sent sixty requests does not keep another one waiting for all of them: next is who has the least
    running, then whose last turn is the longest ago. Nobody waits for ever: who was overtaken MAX_OVERTAKEN times is
    next, whatever comes.
    """

    def __init__(self) -> None:
        self._by_age: list[Sequence] = []
        self._n_overtaken: Counter[int] = Counter()
        self._last_turn: dict[str, int] = {}
        self._n_turns = 0

    def __len__(self) -> int:
        return len(self._by_age)

    def __iter__(self) -> Iterator[Sequence]:
        """All, the oldest first."""
        return iter(self._by_age)

    def __contains__(self, one: object) -> bool:
        return one in self._by_age

    def add(self, one: Sequence) -> None:
        """Let a sequence wait; one that was preempted takes the place of its age again."""
        bisect.insort(self._by_age, one, key=_age)

    def remove(self, one: Sequence) -> None:
        """Take a sequence out that does not wait any more."""
        self._by_age.remove(one)
        self._n_overtaken.pop(one.order, None)

    def in_turn(self, running: Iterable[Sequence]) -> list[Sequence]:
        """All, the next one first."""
        n_running = Counter(one.client for one in running)

        def turn(one: Sequence) -> tuple[bool, int, int, int]:
            if self.is_overdue(one):
                return (False, 0, 0, one.order)
            return (True, n_running[one.client], self._last_turn.get(one.client, 0), one.order)

        return sorted(self._by_age, key=turn)

    def longest_out(self, client: str) -> Sequence:
        """Of those of a client, who had no place yet or gave it up longest ago; there must be one."""
        own = [one for one in self._by_age if one.client == client and not one.is_restoring]
        return min(own, key=lambda one: (0 if one.left_row is None else one.left_row.awaited, one.order))

    def is_overdue(self, one: Sequence) -> bool:
        """Whether so many have overtaken it that it is next."""
        return self._n_overtaken[one.order] >= MAX_OVERTAKEN

    def take(self, one: Sequence) -> None:
        """It is this one's turn. One that only goes on overtakes nobody."""
        self.remove(one)
        self._n_turns += 1
        self._last_turn[one.client] = self._n_turns
        for other in self._by_age:
            if other.order < one.order and not one.is_begun:
                self._n_overtaken[other.order] += 1
        if not self._by_age:
            self._last_turn.clear()


def _age(one: Sequence) -> int:
    return one.order
