"""Which tokens lie in the KV cells of one expert, and which cells are shared. Pure bookkeeping, no native call.

A finished sequence keeps its cells until someone needs the room: a next turn, another branch or another conversation
with the same beginning then goes on from there. The least recently used go first, a running one never.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from layadesk.engine.backend import ExpertFacts
from layadesk.engine.prefix import common_length

MIN_SHARED = 16  # tokens; a shorter beginning is computed faster than it is managed


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The part of a sequence's state that cannot be cut back, as it was after `n_tokens`.

    Recurrent layers have one state, layers with a sliding window the last few positions. `state` is the backend's.
    """

    n_tokens: int
    state: bytes


@dataclass(slots=True, eq=False)
class Row:
    """What one sequence of the library ("slot") holds: `tokens` in order of position, each in the cell of that number.

    `is_running` while a request computes in it. `last_used` counts uses, not time. `is_saved`: these very tokens are on
    disk. `awaited`: a request that gave up its place will go on in it; a count as `last_used`, 0 for none.
    """

    slot: int
    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    is_running: bool = False
    last_used: int = 0
    awaited: int = 0
    conversation_id: str = ""
    is_saved: bool = False
    checkpoints: tuple[Checkpoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """`n_tokens` of `row` can be used again, by way of a checkpoint where there is one."""

    row: Row
    n_tokens: int
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True, slots=True)
class Clear:
    """Empty a slot. `tokens` is what was in it, for whoever wants to save it first; empty where nothing is worth it."""

    slot: int
    tokens: tuple[int, ...] = ()
    conversation_id: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """Let `slot` share the first `n_tokens` cells of `source`."""

    source: int
    slot: int
    n_tokens: int


@dataclass(frozen=True, slots=True)
class Rewind:
    """Put a checkpoint's state in place; a Cut to its length follows."""

    slot: int
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Cut:
    """Keep the first `n_tokens` of a slot."""

    slot: int
    n_tokens: int


CellOp = Clear | Fork | Rewind | Cut


class CellPool:
    """Rows by slot, and the count of cells in use, each once however many rows share it. Decode thread.

    What must happen in the library's memory is told by `take_ops`, to be done in order before the next decode.
    `usable` says how much of a beginning the library could really go on from; see `MatchRule`.
    """

    def __init__(self, facts: ExpertFacts, *, usable: "MatchRule | None" = None) -> None:
        self.n_cells = facts.n_ctx
        self.n_used = 0
        self._usable = usable or _all_usable
        self._rows: dict[int, Row] = {}
        self._free_slots = list(range(facts.n_seq_max))
        self._shared: dict[int, int] = {}  # cell -> how many rows, where more than one
        self._ops: list[CellOp] = []
        self._numbers = count()
        self._uses = count(1)

    @property
    def n_free(self) -> int:
        """Cells nobody uses."""
        return self.n_cells - self.n_used

    @property
    def kept(self) -> list[Row]:
        """Rows nobody computes in, the least recently used first.

        Those that are awaited come last, and of them the last to be left first: its turn is the farthest away.
        """
        kept = (row for row in self._rows.values() if not row.is_running)
        return sorted(kept, key=lambda row: (row.awaited > 0, -row.awaited or row.last_used))

    @property
    def awaited(self) -> list[Row]:
        """Rows in which someone will go on."""
        return [row for row in self._rows.values() if row.awaited]

    def n_evictable(self, *, spared: Iterable[Row] = (), leaving: Iterable[Row] = ()) -> int:
        """Cells that would be free if all kept rows but `spared` went, and those `leaving` that run now."""
        kept_by: dict[int, int] = {}
        spared_slots, leaving_slots = ({row.slot for row in rows} for rows in (spared, leaving))
        for row in self._rows.values():
            is_going = row.slot in leaving_slots or not row.is_running
            if is_going and row.slot not in spared_slots:
                for cell in row.cells:
                    kept_by[cell] = kept_by.get(cell, 0) + 1
        return sum(n >= self._shared.get(cell, 1) for cell, n in kept_by.items())

    @property
    def rows(self) -> list[Row]:
        """All rows in use."""
        return list(self._rows.values())

    def is_newest(self, row: Row) -> bool:
        """Whether nothing newer of the same conversation is here."""
        own = (other for other in self._rows.values() if other.conversation_id == row.conversation_id)
        return all(other.last_used <= row.last_used for other in own)

    def take_ops(self) -> list[CellOp]:
        """What has to be done in the library's memory; each is told once."""
        ops, self._ops = self._ops, []
        return ops

    def best(self, tokens: Sequence[int], *, skip: Iterable[Row] = ()) -> Match | None:
        """The longest beginning of `tokens` that is in cells already, at least one token short of all of them.

        The last one is always computed: its logits are wanted. Of equal ones, a row that nobody computes in is better.
        """
        skipped = set(map(id, skip))
        found: Match | None = None
        for row in self._rows.values():
            if id(row) in skipped:
                continue
            n_same = min(common_length(row.tokens, tokens), len(tokens) - 1)
            if n_same < MIN_SHARED or (found is not None and n_same < found.n_tokens):
                continue
            match = self._usable(row, n_same)
            if match is not None and (found is None or _rank(match) > _rank(found)):
                found = match
        return found

    def take_row(self, match: Match | None, conversation_id: str = "") -> Row | None:
        """A row to compute in, with what `match` gives; None when there is no slot, even by letting a kept one go."""
        source = None if match is None or match.row.is_running else match.row
        if match is not None and source is not None and self._may_grow(source, match, conversation_id):
            row = source
        elif self._free_a_slot(spared=source):
            row = Row(self._free_slots.pop(0))
            self._rows[row.slot] = row
            if match is not None:
                self._fork(match, row)
        elif match is not None and source is not None:
            row = source
            self._rewind(row, match)
        else:
            return None
        row.is_running = True
        row.awaited = 0
        row.conversation_id = conversation_id
        row.last_used = next(self._uses)
        return row

    def has_place(self, match: Match | None, conversation_id: str) -> bool:
        """Whether `take_row` would let no row go that is awaited."""
        source = None if match is None or match.row.is_running else match.row
        if self._free_slots or (match is not None and source and self._may_grow(source, match, conversation_id)):
            return True
        return any(not (row.is_running or row.awaited or row is source) for row in self._rows.values())

    def put_in(self, row: Row, tokens: Sequence[int]) -> None:
        """Book cells that the library has filled from elsewhere; `row` must be empty."""
        assert not row.tokens
        self.grow(row, tokens)

    def grow(self, row: Row, tokens: Sequence[int]) -> None:
        """Book tokens that have been computed."""
        row.tokens += tokens
        row.cells += [next(self._numbers) for _ in tokens]
        row.is_saved = False
        self.n_used += len(tokens)

    def cut(self, row: Row, n_tokens: int, *, is_done: bool = False) -> None:
        """Keep the first `n_tokens` of a row. `is_done`: the library has cut them already."""
        if n_tokens >= len(row.tokens):
            return
        self._release(row.cells[n_tokens:])
        del row.tokens[n_tokens:], row.cells[n_tokens:]
        row.is_saved = False
        row.checkpoints = tuple(one for one in row.checkpoints if one.n_tokens <= n_tokens)
        if not is_done:
            self._ops.append(Cut(row.slot, n_tokens))

    def keep(self, row: Row) -> None:
        """Nobody computes in `row` any more; its cells stay."""
        row.is_running = False
        if len(row.tokens) < MIN_SHARED:
            self.drop(row)

    def leave(self, row: Row) -> None:
        """As `keep`, by one that will go on in it."""
        row.awaited = next(self._uses)
        self.keep(row)

    def drop(self, row: Row, *, is_worth_saving: bool = False) -> None:
        """Free a row with all its cells that nobody shares."""
        is_worth_saving = is_worth_saving and not row.is_saved and self.is_newest(row)
        tokens = tuple(row.tokens) if is_worth_saving and row.conversation_id else ()
        self._release(row.cells)
        del self._rows[row.slot]
        self._free_slots.append(row.slot)
        self._free_slots.sort()
        self._ops.append(Clear(row.slot, tokens, row.conversation_id))

    def make_free(self, n_cells: int, *, spared: Row | None = None) -> bool:
        """Let kept rows go, the least recently used first, until `n_cells` are free; whether that many are."""
        for row in self.kept:
            if self.n_free >= n_cells:
                break
            if row is not spared:
                self.drop(row, is_worth_saving=True)
        return self.n_free >= n_cells

    def drop_oldest(self) -> bool:
        """Let the least recently used kept row go; False when there is none."""
        kept = self.kept
        if kept:
            self.drop(kept[0], is_worth_saving=True)
        return bool(kept)

    def _free_a_slot(self, spared: Row | None) -> bool:
        if not self._free_slots:
            going = next((row for row in self.kept if row is not spared), None)
            if going is not None:
                self.drop(going, is_worth_saving=True)
        return bool(self._free_slots)

    @staticmethod
    def _may_grow(source: Row, match: Match, conversation_id: str) -> bool:
        return match.n_tokens == len(source.tokens) and source.conversation_id in ("", conversation_id)

    def _fork(self, match: Match, row: Row) -> None:
        source = match.row
        n_shared = len(source.tokens) if match.checkpoint is not None else match.n_tokens
        self._ops.append(Fork(source.slot, row.slot, n_shared))
        row.tokens = source.tokens[:n_shared]
        row.cells = source.cells[:n_shared]
        row.checkpoints = source.checkpoints
        for cell in row.cells:
            self._shared[cell] = self._shared.get(cell, 1) + 1
        source.last_used = next(self._uses)
        self._rewind(row, match)

    def _rewind(self, row: Row, match: Match) -> None:
        if match.checkpoint is not None:
            self._ops.append(Rewind(row.slot, match.checkpoint))
        self.cut(row, match.n_tokens)

    def _release(self, cells: Iterable[int]) -> None:
        for cell in cells:
            n_rows = self._shared.get(cell, 1)
            if n_rows > 2:
                self._shared[cell] = n_rows - 1
            elif n_rows == 2:
                del self._shared[cell]
            else:
                self.n_used -= 1


MatchRule = Callable[[Row, int], Match | None]


def _all_usable(row: Row, n_tokens: int) -> Match | None:
    return Match(row, n_tokens)


def _rank(match: Match) -> tuple[int, bool, int]:
    return match.n_tokens, not match.row.is_running, match.row.last_used
