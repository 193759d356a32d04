"""Who computes what in the next decode call of one expert. Pure bookkeeping: no clock, no I/O, no native code.

Each step takes one token of every sequence that needs just one (all that decode), then a slice of prompts, shared
fairly. Cells are taken on demand; when they run out, kept cells of finished conversations go first, then the youngest
sequence gives up its cells, keeps its text, and computes them again later. So nobody fails for being second, and the
oldest always moves. Where clients share the expert unfairly, one of them gives up its place; see `fair_share.py`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from layadesk.engine.backend import ExpertFacts
from layadesk.engine.batch import Batch
from layadesk.engine.cell_pool import CellPool, Match, MatchRule, Row
from layadesk.engine.fair_share import AgainTime, are_due, givers
from layadesk.engine.prefix import common_length
from layadesk.engine.sequence import Sequence, SequenceState
from layadesk.engine.waiting_line import WaitingLine

ADMIT_HEADROOM = 16  # cells kept for each running answer when another one is let in, or they evict each other at once
MIN_FOLLOWED = 64  # tokens that another one is about to compute; waiting for fewer costs more than it saves


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
    """One decode call, and who had to go for it."""

    shares: list[Share] = field(default_factory=list)
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

    Invariants (tests/engine/test_scheduler.py): a sequence is in one place only; cells are counted once however many
    share them and are never more than there are; each slot belongs to at most one sequence; a plan never exceeds
    `n_batch`. After `admit`, `plan` and `remove`, do what `pool.take_ops` tells before the next decode.
    """

    def __init__(self, facts: ExpertFacts, *, usable: MatchRule | None = None) -> None:
        self.pool = CellPool(facts, usable=usable)
        self.waiting = WaitingLine()
        self.running: list[Sequence] = []
        self._n_parallel = facts.n_parallel or facts.n_seq_max
        self._can_rewind = facts.can_rewind
        self._n_cells_known = facts.n_ctx  # less, once the library has refused earlier than we counted
        self._n_batch = facts.n_batch
        self._n_slice_max = facts.n_batch
        self._turn = 0
        self._again = AgainTime()

    @property
    def is_idle(self) -> bool:
        """Whether nobody runs or waits."""
        return not self.waiting and not self.running

    @property
    def has_work(self) -> bool:
        """Whether there is anything to plan now; who waits for the disk is no work yet."""
        return bool(self.running) or any(not one.is_restoring for one in self.waiting)

    @property
    def n_decoding(self) -> int:
        """How many wait for a next token, so that a long slice would be felt."""
        return sum(one.is_decoding for one in self.running)

    @property
    def has_free_slot(self) -> bool:
        """Whether a new sequence could start without waiting for another to end."""
        return len(self.running) < self._n_parallel and not self.waiting

    def add(self, sequence: Sequence) -> None:
        """Let a sequence wait for its turn."""
        sequence.state = SequenceState.WAITING
        self.waiting.add(sequence)

    def remove(self, sequence: Sequence, *, keeps_cells: bool = False) -> None:
        """Take a sequence out, in whatever state it is. `keeps_cells` leaves what it has computed for a next turn."""
        if sequence in self.waiting:
            self.waiting.remove(sequence)
            _forget_left_row(sequence)
        if sequence in self.running:
            self._stop(sequence, keeps_cells=keeps_cells)
        if not self.running:
            self._n_cells_known = self.pool.n_cells
            self._n_slice_max = self._n_batch

    def admit(self) -> list[Sequence]:
        """Let in who may begin, with what of their prompts is in cells already; perhaps in the place of others."""
        admitted: list[Sequence] = []
        while (one := self._admit_next()) is not None:
            admitted.append(one)
        return admitted

    def plan(self, n_slice: int) -> Plan:
        """The next step, with at most `n_slice` prompt tokens. Empty only when nothing is there or nothing has room."""
        plan = Plan()
        self._make_room(plan, n_slice)
        single = [one for one in self.running if one.n_pending == 1]
        longer = [one for one in self.running if one.n_pending > 1]
        n_free = self._n_free
        plan.shares = [Share(one, 1) for one in single[: max(0, n_free)]]
        budget = min(n_slice, self._n_slice_max, self._n_batch - len(single), n_free - len(single))
        self._turn += 1
        plan.shares += _share_out(_rotated(longer, self._turn), budget)
        return plan

    def computed(self, plan: Plan, seconds: float = 0.0) -> None:
        """Book a plan that was decoded, in `seconds`."""
        is_again = False
        for share in plan.shares:
            one = share.sequence
            assert one.row is not None
            n_then = one.n_past + share.n_tokens
            if n_then > one.n_reached:
                one.n_reached = n_then
                one.stint_s += seconds
            else:
                is_again = True
            self.pool.grow(one.row, one.tokens[one.n_past : n_then])
        self._again.passed(seconds, is_again=is_again)

    def refused(self, plan: Plan) -> Sequence | None:
        """The library had no room for `plan` although there was some by our count: ask for less next time.

        Returns the sequence that must end because it is alone and cannot get even one cell; mostly None.
        """
        if self.pool.drop_oldest():
            return None
        self._n_cells_known = max(1, self.pool.n_used)
        if len(self.running) > 1:
            self._preempt(self._youngest())
            return None
        n_tokens = sum(share.n_tokens for share in plan.shares)
        if n_tokens > 1:
            self._n_slice_max = n_tokens // 2
            return None
        return self.running[0] if self.running else None

    def _admit_next(self) -> Sequence | None:
        """Let in the next of the line who may begin.

        What is free belongs to the first who could use it. Those behind get in only where another client gives up a
        place for them, which it would not do for the first.
        """
        is_full = len(self.running) >= self._n_parallel
        hopeless: set[str] = set()
        for one in self.waiting.in_turn(self.running):
            if one.is_restoring or one.client in hopeless:
                continue  # its cells are on their way from the disk
            leaving: list[Sequence] | None = [next(givers(one, self.running))] if is_full else []
            if leaving and leaving[0].client == one.client:
                one = self.waiting.longest_out(one.client)  # noqa: PLW2901  # the first has had a stint already
            if are_due(leaving, one):  # or that decides it already
                match = self.pool.best(one.tokens)
                if self._follows(one, 0 if match is None else match.n_tokens):
                    continue
                if is_full or not self._has_room(one, match):
                    leaving = self._leaving_for(one, match)
                if are_due(leaving, one):
                    return self._begin_in_place_of(leaving, one, match)
            if leaving is not None and any(giver.client != one.client for giver in leaving):
                return None  # soon, and then it is this one's place
            is_full = True
            hopeless.add(one.client)
        return None

    def _leaving_for(self, one: Sequence, match: Match | None) -> list[Sequence] | None:
        """Who has to give up a place for `one`, now or when their stints are over; None where nobody will."""
        leaving: list[Sequence] = []
        for giver in givers(one, self.running):
            leaving.append(giver)
            if self._has_room(one, match, leaving):
                break
        else:
            return None
        is_own = any(giver.client == one.client for giver in leaving)
        may_lose = not is_own and (not one.is_begun or self._again.is_paid or self.waiting.is_overdue(one))
        return leaving if may_lose or not self._loses(one, match) else None

    def _begin_in_place_of(self, leaving: list[Sequence], one: Sequence, match: Match | None) -> Sequence | None:
        for giver in leaving:
            self._leave(giver)
        return one if self._begin(one, match) else None

    def _begin(self, one: Sequence, match: Match | None) -> bool:
        row = self.pool.take_row(match, one.conversation_id)
        if row is None:
            return False
        self.waiting.take(one)
        _forget_left_row(one)
        one.row = row
        one.stint_s = 0.0
        one.state = SequenceState.RUNNING
        self.running.append(one)
        return True

    def _follows(self, one: Sequence, n_cached: int) -> bool:
        """Whether someone computes the same beginning right now: then that is waited for, not computed twice."""
        if not self._can_rewind:
            return False  # half of its state could not be taken over
        for other in self.running:
            n_same = min(common_length(other.tokens, one.tokens), len(one.tokens) - 1, other.n_prompt)
            if n_same - n_cached >= MIN_FOLLOWED and other.n_past < n_same and other.n_decoded == 0:
                return True
        return False

    def _has_room(self, one: Sequence, match: Match | None, leaving: Collection[Sequence] = ()) -> bool:
        """Whether the cells are enough for `one`, if those `leaving` did."""
        if len(leaving) == len(self.running):
            return True
        n_lacking = self._n_needed(one, match, leaving) - (self._n_cells_known - self.pool.n_used)
        if n_lacking <= 0:
            return True
        rows = [other.row for other in leaving if other.row is not None]
        return n_lacking <= self.pool.n_evictable(spared=_rows_of(match), leaving=rows)

    def _loses(self, one: Sequence, match: Match | None) -> bool:
        """Whether `one` could not begin, in the place of another, without the cells of some that are to go on."""
        if not self.pool.has_place(match, one.conversation_id):
            return True
        n_lacking = self._n_needed(one, match, ()) - (self._n_cells_known - self.pool.n_used)
        return n_lacking > 0 and n_lacking > self.pool.n_evictable(spared=[*self.pool.awaited, *_rows_of(match)])

    def _n_needed(self, one: Sequence, match: Match | None, leaving: Collection[Sequence]) -> int:
        """Cells for what `one` has still to compute, and for those who run beside it."""
        promised = sum(other.n_pending + ADMIT_HEADROOM for other in self.running if other not in leaving)
        return len(one.tokens) - (0 if match is None else match.n_tokens) + ADMIT_HEADROOM + promised

    def _make_room(self, plan: Plan, n_slice: int) -> None:
        """Let kept cells go as far as this step can use them; then preempt the youngest until every decode has a cell
        and some prompt can move."""
        n_wanted = min(sum(one.n_pending for one in self.running), n_slice + len(self.running))
        while self._n_free < n_wanted and self.pool.drop_oldest():
            pass
        while len(self.running) > 1:
            n_single = sum(one.n_pending == 1 for one in self.running)
            if self._n_free >= n_single + (n_single < len(self.running)):
                return
            victim = self._youngest()
            self._preempt(victim)
            plan.preempted.append(victim)

    @property
    def _n_free(self) -> int:
        """Cells to give out; one that is alone may try for all there are."""
        return (self._n_cells_known if len(self.running) > 1 else self.pool.n_cells) - self.pool.n_used

    def _youngest(self) -> Sequence:
        return max(self.running, key=lambda one: one.order)

    def _preempt(self, sequence: Sequence) -> None:
        self._stop(sequence, keeps_cells=False)
        self.add(sequence)

    def _leave(self, sequence: Sequence) -> None:
        """Give up a place, to go on in the same cells later."""
        row = sequence.row
        assert row is not None
        self.running.remove(sequence)
        sequence.row = None
        sequence.left_row = row
        self.pool.leave(row)
        self.add(sequence)

    def _stop(self, sequence: Sequence, *, keeps_cells: bool) -> None:
        row = sequence.row
        assert row is not None
        self.running.remove(sequence)
        sequence.row = None
        if keeps_cells:
            self.pool.keep(row)
        else:
            self.pool.drop(row)


def _forget_left_row(one: Sequence) -> None:
    """Nobody will come back to it any more; who has found it goes on in it now."""
    if one.left_row is not None:
        one.left_row.awaited = 0
        one.left_row = None


def _rows_of(match: Match | None) -> list[Row]:
    return [] if match is None else [match.row]


def _rotated(sequences: list[Sequence], turn: int) -> list[Sequence]:
    if not sequences:
        return []
    start = turn % len(sequences)
    return sequences[start:] + sequences[:start]


def _share_out(sequences: Iterable[Sequence], budget: int) -> list[Share]:
    """Equal parts for all; what a short prompt does not need goes to the longer ones. Ties in the order given.

    A part ends where a checkpoint is to be taken.
    """
    shares: list[Share] = []
    by_need = sorted(sequences, key=lambda one: one.n_pending)
    for i, one in enumerate(by_need):
        part = -(-budget // (len(by_need) - i))
        n_tokens = min(part, one.n_pending, one.n_to_checkpoint)
        if n_tokens <= 0:
            break
        shares.append(Share(one, n_tokens))
        budget -= n_tokens
    return shares
