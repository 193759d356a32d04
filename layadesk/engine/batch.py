"""What one decode call processes: tokens of several sequences, each with its place and whether it is sampled."""

from collections.abc import Callable
from dataclasses import dataclass, field

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """What the native library would abort the process for; see `check_batch`."""

    n_batch: int
    n_outputs_max: int
    n_vocab: int
    n_seq_max: int


@dataclass(slots=True)
class Batch:
    """Parallel columns, one row a token. A row's number is what `Sampler.sample` takes."""

    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    seq_ids: list[int] = field(default_factory=list)
    wants_logits: list[bool] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, tokens: list[int], seq_id: int, *, position: int, wants_logits: bool) -> int:
        """Append `tokens` from `position` on; the last one is sampled if asked. Returns the row of the last one."""
        n = len(tokens)
        self.tokens += tokens
        self.positions += range(position, position + n)
        self.seq_ids += [seq_id] * n
        self.wants_logits += [False] * (n - 1) + [wants_logits]
        return len(self.tokens) - 1


def check_batch(batch: Batch, limits: BatchLimits, next_position: Callable[[int], int]) -> None:
    """Raise DECODE_FAILED for what is an abort() or an undefined answer in native code, before it gets there.

    `next_position` tells where a sequence goes on: llama.cpp refuses gaps, and steps back damage its bookkeeping.
    """
    if not batch.tokens:
        raise _refuse("empty batch", 0)
    if len(batch) > limits.n_batch:
        raise _refuse("tokens beyond n_batch", len(batch))
    n_outputs = sum(batch.wants_logits)
    if n_outputs > limits.n_outputs_max:
        raise _refuse("outputs beyond n_outputs_max", n_outputs)
    if min(batch.tokens) < 0 or max(batch.tokens) >= limits.n_vocab:
        raise _refuse("token beyond n_vocab", max(batch.tokens))
    if min(batch.seq_ids) < 0 or max(batch.seq_ids) >= limits.n_seq_max:
        raise _refuse("sequence beyond n_seq_max", max(batch.seq_ids))
    expected = {seq_id: next_position(seq_id) for seq_id in set(batch.seq_ids)}
    for seq_id, position in zip(batch.seq_ids, batch.positions, strict=True):
        if position != expected[seq_id]:
            raise _refuse("position out of order", position)
        expected[seq_id] += 1


def _refuse(reason: str, value: int) -> LayaDeskError:
    return fail(ErrorCode.DECODE_FAILED, reason=reason, value=value)
