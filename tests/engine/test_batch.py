import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.engine.batch import Batch, BatchLimits, check_batch

LIMITS = BatchLimits(n_batch=8, n_outputs_max=2, n_vocab=100, n_seq_max=4)


def check(batch: Batch, *, begins: int = 0) -> None:
    check_batch(batch, LIMITS, lambda _seq_id: begins)


def refusal(batch: Batch) -> object:
    with pytest.raises(LayaDeskError) as refused:
        check(batch)
    assert refused.value.code is ErrorCode.DECODE_FAILED
    return refused.value.facts["reason"]


def of(tokens: list[int], seq_id: int = 0, position: int = 0) -> Batch:
    batch = Batch()
    batch.add(tokens, seq_id, position=position, wants_logits=True)
    return batch


def test_only_the_last_token_of_a_part_is_sampled_and_its_row_is_told() -> None:
    batch = Batch()
    assert batch.add([1, 2, 3], 0, position=5, wants_logits=True) == 2
    assert batch.add([4], 1, position=0, wants_logits=False) == 3
    assert batch.wants_logits == [False, False, True, False]
    assert batch.positions == [5, 6, 7, 0]
    assert batch.seq_ids == [0, 0, 0, 1]


def test_a_right_batch_passes() -> None:
    check(of([1, 2, 3]))
    check(of([1], position=9), begins=9)
    assert refusal(of([1], position=9)) == "position out of order"  # where the sequence begins makes the difference


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (Batch(), "empty batch"),
        (of(list(range(9))), "tokens beyond n_batch"),
        (of([100]), "token beyond n_vocab"),
        (of([-1]), "token beyond n_vocab"),
        (of([1], seq_id=4), "sequence beyond n_seq_max"),
        (of([1], position=3), "position out of order"),
    ],
)
def test_what_would_abort_the_process_is_refused_before(batch: Batch, reason: str) -> None:
    assert refusal(batch) == reason


def test_more_outputs_than_the_context_has_room_for_are_refused() -> None:
    batch = Batch()
    for seq_id in range(3):
        batch.add([1], seq_id, position=0, wants_logits=True)
    assert refusal(batch) == "outputs beyond n_outputs_max"


def test_a_gap_inside_one_sequence_is_refused() -> None:
    batch = of([1])
    batch.add([2], 0, position=2, wants_logits=False)
    assert refusal(batch) == "position out of order"


def test_parts_of_one_sequence_may_follow_each_other() -> None:
    batch = of([1])
    batch.add([2], 0, position=1, wants_logits=False)
    check(batch)
    batch.add([3], 0, position=3, wants_logits=False)
    assert refusal(batch) == "position out of order"
