"""Who computes what in the next decode call of one expert. Pure bookkeeping: no clock, no I/O, no native code.

Each step takes one token of every sequence that needs just one (all that decode), then a slice of prompts, shared
fairly. Cells are taken on demand; when they run out, the youngest sequence gives up its cells, keeps its text, and
computes them again later. So nobody fails for being second, and the oldest always moves.
"""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field

from layadesk.engine.backend import ExpertFacts
from layadesk.engine.batch import Batch
from layadesk.engine.sequence import Sequence, SequenceState

ADMIT_HEADROOM = 16  # cells kept for each running answer when another one is let in, or they evict each other at once


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one sequence in a step: its next `n_tokens` pending tokens, at least one."""

    sequence: Sequence
    n_tokens: int

    @property
    def is_sampled(self) -> bool:
        """Whether the last of these tokens is the last one known, so that the next is drawn from it."""
        return self.n_tokens == self.sequence.n_pending


@dataclass(slots=True)
class Plan:
    """One decode call, and who came and went for it."""

    shares: list[Share] = field(default_factory=list)
    admitted: list[Sequence] = field(default_factory=list)
    preempted: list[Sequence] = field(default_factory=list)

    @property
    def n_prefill(self) -> int:
        """Tokens that are not single decodes."""
        return sum(share.n_tokens for share in self.shares if not share.sequence.is_decoding)

    def batch(self) -> tuple[Batch, list[int]]:
        """The batch, and for each share the row of its last token."""
        batch = Batch()
        rows: list[int] = []
        for share in self.shares:
            one = share.sequence
            assert one.slot is not None
            tokens = one.tokens[one.n_past : one.n_past + share.n_tokens]
            rows.append(batch.add(tokens, one.slot, position=one.n_past, wants_logits=share.is_sampled))
        return batch, rows


class Scheduler:
    """Sequences of one expert, its slots and its cells. Decode thread.

    Invariants (tests/engine/test_scheduler.py): a sequence is in one place only; cells used are the sum of `n_past` and
    never more than there are; each slot belongs to at most one sequence; a plan never exceeds `n_batch`.
    """

    def __init__(self, facts: ExpertFacts) -> None:
        self._n_cells = facts.n_ctx
        self._n_cells_known = facts.n_ctx  # less, once the library has refused earlier than we counted
        self._n_batch = facts.n_batch
        self._n_slice_max = facts.n_batch
        self._free_slots = list(range(facts.n_seq_max))
        self._stale_slots: list[int] = []
        self._turn = 0
        self.waiting: list[Sequence] = []
        self.running: list[Sequence] = []

    @property
    def n_cells_used(self) -> int:
        """Cells of the running sequences."""
        return sum(one.n_past for one in self.running)

    @property
    def n_cells(self) -> int:
        """All cells."""
        return self._n_cells

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to plan."""
        return not self.waiting and not self.running

    @property
    def n_decoding(self) -> int:
        """How many wait for a next token, so that a long slice would be felt."""
        return sum(one.is_decoding for one in self.running)

    @property
    def has_free_slot(self) -> bool:
        """Whether a new sequence could start without waiting for another to end."""
        return bool(self._free_slots) and not self.waiting

    def add(self, sequence: Sequence) -> None:
        """Let a sequence wait for its turn; first come, first served, also after a preemption."""
        sequence.state = SequenceState.WAITING
        bisect.insort(self.waiting, sequence, key=_age)

    def remove(self, sequence: Sequence) -> None:
        """Take a sequence out, in whatever state it is; its slot and cells are free for the next step."""
        if sequence in self.waiting:
            self.waiting.remove(sequence)
        if sequence in self.running:
            self._stop(sequence)
        if not self.running:
            self._n_cells_known = self._n_cells
            self._n_slice_max = self._n_batch

    def take_stale_slots(self) -> list[int]:
        """Slots whose cells must be removed from the KV cache before the next decode; each is told once."""
        stale, self._stale_slots = self._stale_slots, []
        return stale

    def plan(self, n_slice: int) -> Plan:
        """The next step, with at most `n_slice` prompt tokens. Empty only when nothing is there or nothing has room."""
        plan = Plan()
        self._admit(plan)
        self._make_room(plan)
        single = [one for one in self.running if one.n_pending == 1]
        longer = [one for one in self.running if one.n_pending > 1]
        n_free = self._n_free
        plan.shares = [Share(one, 1) for one in single[: max(0, n_free)]]
        budget = min(n_slice, self._n_slice_max, self._n_batch - len(single), n_free - len(single))
        self._turn += 1
        plan.shares += _share_out(_rotated(longer, self._turn), budget)
        return plan

    def computed(self, plan: Plan) -> None:
        """Book a plan that was decoded."""
        for share in plan.shares:
            share.sequence.n_past += share.n_tokens

    def refused(self, plan: Plan) -> Sequence | None:
        """The library had no room for `plan` although there was some by our count: ask for less next time.

        Returns the sequence that must end because it is alone and cannot get even one cell; mostly None.
        """
        self._n_cells_known = max(1, self.n_cells_used)
        if len(self.running) > 1:
            self._preempt(self._youngest())
            return None
        n_tokens = sum(share.n_tokens for share in plan.shares)
        if n_tokens > 1:
            self._n_slice_max = n_tokens // 2
            return None
        return self.running[0] if self.running else None

    def _admit(self, plan: Plan) -> None:
        while self.waiting and self._free_slots:
            first = self.waiting[0]
            promised = sum(one.n_pending + ADMIT_HEADROOM for one in self.running)
            n_free = self._n_cells_known - self.n_cells_used - promised
            if self.running and first.n_pending + ADMIT_HEADROOM > n_free:
                return
            self.waiting.pop(0)
            first.slot = self._free_slots.pop(0)
            first.state = SequenceState.RUNNING
            self.running.append(first)
            plan.admitted.append(first)

    def _make_room(self, plan: Plan) -> None:
        """Preempt the youngest until every decode has a cell and some prompt can move."""
        while len(self.running) > 1:
            n_single = sum(one.n_pending == 1 for one in self.running)
            n_needed = n_single + (n_single < len(self.running))
            if self._n_free >= n_needed:
                return
            victim = self._youngest()
            self._preempt(victim)
            plan.preempted.append(victim)
            if victim in plan.admitted:
                plan.admitted.remove(victim)

    @property
    def _n_free(self) -> int:
        """Cells to give out; one that is alone may try for all there are."""
        return (self._n_cells_known if len(self.running) > 1 else self._n_cells) - self.n_cells_used

    def _youngest(self) -> Sequence:
        return max(self.running, key=_age)

    def _preempt(self, sequence: Sequence) -> None:
        self._stop(sequence)
        self.add(sequence)

    def _stop(self, sequence: Sequence) -> None:
        assert sequence.slot is not None
        self.running.remove(sequence)
        self._stale_slots.append(sequence.slot)
        bisect.insort(self._free_slots, sequence.slot)
        sequence.slot = None
        sequence.n_past = 0


def _age(sequence: Sequence) -> int:
    return sequence.order


def _rotated(sequences: list[Sequence], turn: int) -> list[Sequence]:
    if not sequences:
        return []
    start = turn % len(sequences)
    return sequences[start:] + sequences[:start]


def _share_out(sequences: Iterable[Sequence], budget: int) -> list[Share]:
    """Equal parts for all; what a short prompt does not need goes to the longer ones. Ties in the order given."""
    shares: list[Share] = []
    by_need = sorted(sequences, key=lambda one: one.n_pending)
    for i, one in enumerate(by_need):
        part = -(-budget // (len(by_need) - i))
        n_tokens = min(part, one.n_pending)
        if n_tokens <= 0:
            break
        shares.append(Share(one, n_tokens))
        budget -= n_tokens
    return shares
