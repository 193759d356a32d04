"""What of a kept beginning a model can really go on from, and the states kept where it cannot simply be cut back."""

from layadesk.engine.backend import Expert
from layadesk.engine.cell_pool import CellPool, Checkpoint, Match, MatchRule, Row
from layadesk.engine.sequence import Sequence

MAX_CHECKPOINTS = 3  # of one row: before the last answers, which may be asked for again
MAX_CHECKPOINT_BYTES = 256 * 2**20  # of one expert


def reuse_rule(expert: Expert) -> MatchRule:
    """How much of `n_tokens` that a row has in common with a prompt can be gone on from.

    Cells of full attention are cut anywhere. A layer with a sliding window must still have the window before the cut:
    llama.cpp says yes to any cut and forgets the rest (`seq_rm` true, position -1). A recurrent state cannot be cut at
    all; there, and where the window is gone, a checkpoint is the way back.
    """
    facts = expert.facts
    if facts.can_rewind and facts.n_swa == 0:
        return Match

    def usable(row: Row, n_tokens: int) -> Match | None:
        if expert.seq_pos_max(row.slot) + 1 != len(row.tokens):
            return None  # about to be filled or emptied
        if n_tokens == len(row.tokens):
            return Match(row, n_tokens)
        if facts.can_rewind and expert.seq_pos_min(row.slot) <= max(0, n_tokens - facts.n_swa):
            return Match(row, n_tokens)
        behind = [one for one in row.checkpoints if one.n_tokens <= n_tokens]
        last = max(behind, key=lambda one: one.n_tokens, default=None)
        return None if last is None else Match(row, last.n_tokens, last)

    return usable


def cut_back(expert: Expert, slot: int, n_most: int) -> int:
    """After a decode that ended in the middle: keep at most `n_most` tokens of what a slot holds; returns how many.

    None are kept where the rest could not be gone on from: a recurrent state may have moved on without its position.
    """
    n_held = expert.seq_pos_max(slot) + 1
    n_left = min(n_held, n_most)
    has_window = expert.facts.n_swa == 0 or expert.seq_pos_min(slot) <= max(0, n_left - expert.facts.n_swa)
    if not (expert.facts.can_rewind and has_window):
        n_left = 0
    if n_left < n_held:
        expert.seq_remove(slot, n_left)
    return n_left


def take_checkpoint(expert: Expert, pool: CellPool, one: Sequence) -> None:
    """Keep the state of a sequence that stands right before its answer's turn, if this model needs that."""
    row = one.row
    if row is None or one.n_past != one.checkpoint_at or any(old.n_tokens == one.n_past for old in row.checkpoints):
        return
    state = expert.save_state(row.slot, is_partial=True)
    if not state or len(state) > MAX_CHECKPOINT_BYTES:
        return
    row.checkpoints = (*row.checkpoints, Checkpoint(one.n_past, state))[-MAX_CHECKPOINTS:]
    _forget_oldest(pool, row)


def before_answer(tokens: list[int], control_tokens: frozenset[int]) -> int:
    """How many tokens of a prompt the next turn's prompt will surely begin with: up to the last control token.

    That one opens the answer's turn; what follows it, such as an opened thought, may be gone from the next prompt.
    """
    return next((i for i in range(len(tokens) - 1, 0, -1) if tokens[i] in control_tokens), 0)


def _forget_oldest(pool: CellPool, newest: Row) -> None:
    rows = sorted((row for row in pool.rows if row is not newest), key=lambda row: row.last_used)
    n_bytes = sum(len(one.state) for row in pool.rows for one in row.checkpoints)
    for row in rows:
        if n_bytes <= MAX_CHECKPOINT_BYTES:
            return
        n_bytes -= sum(len(one.state) for one in row.checkpoints)
        row.checkpoints = ()
    while n_bytes > MAX_CHECKPOINT_BYTES and len(newest.checkpoints) > 1:
        n_bytes -= len(newest.checkpoints[0].state)
        newest.checkpoints = newest.checkpoints[1:]
