"""What one expert has computed and keeps for later: in its cells, and on disk beyond them."""

import logging

from layadesk.engine.backend import Expert
from layadesk.engine.cell_files import SavedCells
from layadesk.engine.cell_keeper import CellKeeper
from layadesk.engine.cell_pool import CellPool, Clear, Cut, Fork, Rewind, Row
from layadesk.engine.prefix import adopt
from layadesk.engine.reuse import before_answer
from layadesk.engine.sequence import Sequence

log = logging.getLogger(__name__)

MIN_SAVED = 64  # tokens; fewer are computed sooner than read
MIN_GAIN = 32  # tokens that the disk must give beyond what is in cells
# Idle cells cost every token of others: attention steps over them. 1,800 of them take 15 % of SmolLM2's speed, and 5 %
# of Gemma 3 270M's. What lies on disk is back in milliseconds.
# A small model feels them most and has the smallest cells, so what may stay is measured by the weights; and it is the
# less, the more sequences run, since the weights are read once for all of them, and idle cells once for each.
IDLE_BYTES_SHARE = 64  # of the weights, beside one: 60 cells of SmolLM2's, 500 of a model of 7 billion weights
IDLE_CELLS_SHARE = 8  # of all cells, where sizes are unknown
MAX_SAVED_AT_ONCE = 96 * 2**20  # bytes copied while others wait for a token, some 0.1 s


class KeptCells:
    """Does in the library's memory what the pool decides, and goes between it and the disk. Decode thread.

    `keeper` None: nothing goes to disk.
    """

    def __init__(self, model_id: str, expert: Expert, pool: CellPool, keeper: CellKeeper | None) -> None:
        self._model_id = model_id
        self._expert = expert
        self._pool = pool
        self._keeper = keeper if expert.facts.fingerprint else None
        self._control_tokens = frozenset(expert.facts.control_texts.values())
        self._special_tokens = self._control_tokens | frozenset(expert.facts.added_texts.values())
        memory = expert.facts.memory
        self._cell_bytes = (memory.kv_bytes or 0) / max(1, pool.n_cells)
        self._n_idle_max = pool.n_cells // IDLE_CELLS_SHARE
        if memory.weights_bytes and self._cell_bytes:
            self._n_idle_max = int(memory.weights_bytes / IDLE_BYTES_SHARE / self._cell_bytes)

    def set_prompt(self, one: Sequence, tokens: list[int]) -> None:
        """Take `tokens` as the prompt, or the same text in the tokens that a kept answer was generated in."""
        best, n_best = tokens, 0
        for row in self._pool.rows:
            adopted, n_same = adopt(tokens, row.tokens, self._expert.piece, self._is_text)
            if n_same > n_best and len(adopted) < self._expert.facts.n_ctx_seq:
                best, n_best = adopted, n_same
        self._set_tokens(one, best)

    def ask_disk(self, one: Sequence) -> bool:
        """Have the cells of its conversation read, where only the disk has them; then CellsRead will come."""
        conversation_id = one.conversation_id
        if self._keeper is None or not conversation_id or len(one.tokens) < MIN_SAVED:
            return False
        if any(row.conversation_id == conversation_id for row in self._pool.rows):
            return False
        fingerprint = self._expert.facts.fingerprint
        if not self._keeper.has(fingerprint, conversation_id):
            return False
        self._keeper.read(one.order, self._model_id, fingerprint, conversation_id)
        return True

    def put_back(self, one: Sequence, saved: SavedCells) -> None:
        """Put cells from the disk where `one` will find them, as far as that helps it."""
        adopted, n_same = adopt(one.tokens, saved.tokens, self._expert.piece, self._is_text)
        match = self._pool.best(one.tokens)
        n_gained = min(n_same, len(adopted) - 1) - (0 if match is None else match.n_tokens)
        if n_gained < MIN_GAIN or len(adopted) >= one.n_ctx or not self._could_go_on(saved, n_same):
            return
        n_cells = len(saved.tokens)
        if self._pool.n_free + self._pool.n_evictable() < n_cells or not self._pool.make_free(n_cells):
            return
        row = self._pool.take_row(None, one.conversation_id)
        self.apply_ops()
        if row is None:
            return
        if not self._expert.load_state(row.slot, saved.state):
            log.warning("saved cells of %s did not fit", self._model_id)
            self._pool.drop(row)
            self.apply_ops()
            return
        self._pool.put_in(row, saved.tokens)
        row.is_saved = True
        self._pool.keep(row)
        self._set_tokens(one, adopted)

    def admitted(self, one: Sequence) -> None:
        """Check that the library has what the pool says; what it could not do is computed again."""
        row = one.row
        assert row is not None
        if self._expert.seq_pos_max(row.slot) + 1 != len(row.tokens):
            log.warning("the cells of %s were not as expected; computing them again", self._model_id)
            self._expert.seq_remove(row.slot)
            self._pool.cut(row, 0, is_done=True)

    def thin_out(self) -> None:
        """Let idle cells go to disk where many are in the way of those who run."""
        n_idle = self._pool.n_evictable(spared=self._pool.awaited)
        n_running = sum(row.is_running for row in self._pool.rows)
        for row in self._pool.kept:
            if n_idle * n_running <= self._n_idle_max or row.awaited:  # those come last
                return
            if row.is_saved or self._can_save_now(row):
                n_idle -= len(row.tokens)
                self._pool.drop(row, is_worth_saving=True)
                self.apply_ops()

    def apply_ops(self) -> None:
        """Do in the library's memory what the pool has decided; what is lost there goes to disk if it is worth it."""
        for op in self._pool.take_ops():
            match op:
                case Clear(slot=slot, tokens=tokens, conversation_id=conversation_id):
                    if tokens:
                        self._save(slot, list(tokens), conversation_id)
                    self._expert.seq_remove(slot)
                case Fork(source=source, slot=slot, n_tokens=n_tokens):
                    self._expert.seq_copy(source, slot, n_tokens)
                case Rewind(slot=slot, checkpoint=checkpoint):
                    self._expert.load_state(slot, checkpoint.state, is_partial=True)
                case Cut(slot=slot, n_tokens=n_tokens):
                    self._expert.seq_remove(slot, n_tokens)

    @property
    def has_unsaved(self) -> bool:
        """Whether a kept conversation is not on disk yet."""
        return self._next_unsaved() is not None

    def save_next(self) -> bool:
        """Save one kept conversation that is not on disk yet; whether there was one."""
        row = self._next_unsaved()
        if row is None:
            return False
        row.is_saved = True
        self._save(row.slot, list(row.tokens), row.conversation_id)
        return True

    def forget(self, conversation_id: str) -> None:
        """Keep nothing of a conversation any more; a running answer goes on."""
        for row in self._pool.rows:
            if row.conversation_id == conversation_id:
                row.conversation_id = ""
                if not row.is_running:
                    self._pool.drop(row)
        self.apply_ops()

    def _next_unsaved(self) -> Row | None:
        return next((row for row in self._pool.kept if not row.is_saved and self._can_save(row)), None)

    def _can_save(self, row: Row) -> bool:
        return (
            self._keeper is not None
            and row.conversation_id != ""
            and len(row.tokens) >= MIN_SAVED
            and self._pool.is_newest(row)
            and self._keeper.has_room()
        )

    def _can_save_now(self, row: Row) -> bool:
        """Whether saving takes so little time that nobody feels it."""
        return self._cell_bytes * len(row.tokens) <= MAX_SAVED_AT_ONCE and self._can_save(row)

    def _save(self, slot: int, tokens: list[int], conversation_id: str) -> None:
        if self._keeper is None or not conversation_id or len(tokens) < MIN_SAVED or not self._keeper.has_room():
            return
        state = self._expert.save_state(slot)
        if state:
            cells = SavedCells(tokens, self._expert.seq_pos_min(slot), state)
            self._keeper.save(self._expert.facts.fingerprint, conversation_id, cells)

    def _could_go_on(self, saved: SavedCells, n_same: int) -> bool:
        facts = self._expert.facts
        if n_same == len(saved.tokens):
            return True
        return facts.can_rewind and (facts.n_swa == 0 or saved.pos_min <= max(0, n_same - facts.n_swa))

    def _set_tokens(self, one: Sequence, tokens: list[int]) -> None:
        one.tokens = list(tokens)
        one.n_prompt = len(one.tokens)
        needs = self._expert.facts.needs_checkpoints
        one.checkpoint_at = before_answer(one.tokens, self._control_tokens) if needs else 0

    def _is_text(self, token: int) -> bool:
        return token not in self._special_tokens
