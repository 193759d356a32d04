"""A scheduler at work on cells that are counted a second time, so that Hypothesis can drive it."""

from dataclasses import dataclass, field

from layadesk.engine.cell_pool import Clear, Cut, Fork, Rewind
from layadesk.engine.scheduler import Plan, Scheduler
from layadesk.engine.sequence import Sequence
from tests.fakes.engine_sequences import draw, facts, sequence


@dataclass
class Lab:
    """A scheduler with a library that counts cells itself, and that may have fewer of them than it says."""

    n_ctx: int
    n_parallel: int
    n_kept: int
    n_batch: int
    n_real: int
    scheduler: Scheduler = field(init=False)
    cells: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # slot -> (token, number of the cell)
    alive: list[Sequence] = field(default_factory=list)
    n_numbers: int = 0

    def __post_init__(self) -> None:
        n_seq_max = self.n_parallel + self.n_kept
        self.scheduler = Scheduler(
            facts(n_ctx=self.n_ctx, n_seq_max=n_seq_max, n_batch=self.n_batch, n_parallel=self.n_parallel)
        )

    def arrive(self, order: int, n_prompt: int, n_answer: int, family: int = 0, client: str = "") -> Sequence:
        """One more; those of a family but 0 begin alike."""
        n_same = max(0, n_prompt - 5) if family else 0
        tokens = [10_000 * family + i for i in range(n_same)] + [100 * order + i for i in range(n_prompt - n_same)]
        tokens = tokens[: self.n_ctx - 1]
        one = sequence(order, 0, tokens=tokens, n_ctx=self.n_ctx, max_tokens=n_answer, client=client)
        self.alive.append(one)
        self.scheduler.add(one)
        return one

    def end(self, one: Sequence, *, keeps_cells: bool = True) -> None:
        self.scheduler.remove(one, keeps_cells=keeps_cells)
        self.alive.remove(one)
        self.obey()

    def obey(self) -> None:
        for op in self.scheduler.pool.take_ops():
            match op:
                case Clear(slot=slot):
                    self.cells.pop(slot, None)
                case Fork(source=source, slot=slot, n_tokens=n_tokens):
                    assert not self.cells.get(slot), "the target of a copy must be empty"
                    self.cells[slot] = self.cells[source][:n_tokens]
                case Cut(slot=slot, n_tokens=n_tokens):
                    del self.cells[slot][n_tokens:]
                case Rewind():
                    raise AssertionError("nothing here needs a checkpoint")

    @property
    def n_used(self) -> int:
        return len({number for cells in self.cells.values() for _, number in cells})

    def step(self, n_slice: int, seconds: float = 0.0) -> None:
        """One step that takes so long, with what must hold in each."""
        self.scheduler.admit()
        self.obey()
        plan = self.scheduler.plan(n_slice)
        self.obey()
        self.check(plan)
        batch, _rows = plan.batch()
        if not plan.shares or self.n_used + len(batch) > self.n_real:
            lonely = self.scheduler.refused(plan)
            self.obey()
            if lonely is not None:
                self.end(lonely)
            return
        for token, seq_id, position in zip(batch.tokens, batch.seq_ids, batch.positions, strict=True):
            cells = self.cells.setdefault(seq_id, [])
            assert position == len(cells), "a lost or doubled token"
            cells.append((token, self.n_numbers))
            self.n_numbers += 1
        sampled = [share.sequence for share in plan.shares if share.is_sampled]
        self.scheduler.computed(plan, seconds)
        for one in sampled:
            draw(one)
            if one.is_full:
                self.end(one)

    def check(self, plan: Plan) -> None:
        running, waiting, pool = self.scheduler.running, self.scheduler.waiting, self.scheduler.pool
        assert {id(one) for one in running}.isdisjoint(id(one) for one in waiting)
        assert sorted(one.order for one in [*running, *waiting]) == sorted(one.order for one in self.alive)
        slots = [row.slot for row in pool.rows]
        assert len(set(slots)) == len(slots) <= self.n_parallel + self.n_kept
        assert len(running) <= self.n_parallel
        assert {id(one.row) for one in running} == {id(row) for row in pool.rows if row.is_running}
        assert all(one.row is None and one.n_past == 0 for one in waiting)
        assert {id(row) for row in pool.awaited} <= {id(one.left_row) for one in waiting}, "kept for nobody"
        assert all(one.left_row is None for one in running)
        assert sum(share.n_tokens for share in plan.shares) <= self.n_batch
        assert sum(share.is_sampled for share in plan.shares) <= self.n_parallel
        assert len({share.sequence.order for share in plan.shares}) == len(plan.shares)
        for row in pool.rows:
            assert [token for token, _ in self.cells.get(row.slot, [])] == row.tokens
        for one in running:
            assert one.row is not None
            assert one.row.tokens == one.tokens[: one.n_past], "cells of another text"
        assert self.n_used == pool.n_used <= self.n_ctx
        decoding = {one.order for one in running if one.is_decoding}
        assert decoding <= {share.sequence.order for share in plan.shares}, "a reader was passed over"
