"""What counts of MoE experts say."""

import math

import pytest

from layadesk.domain.moe_experts import (
    MoeCounts,
    MoeRecord,
    MoeShape,
    MoeToken,
    against_even,
    balance_of,
)

SHAPE = MoeShape(4, 2)


def test_an_even_layer_has_no_variation_and_full_entropy_and_a_one_sided_one_the_opposite() -> None:
    record = MoeRecord(SHAPE, (0, 3), decode=MoeCounts((4, 4), (2, 2, 2, 2, 8, 0, 0, 0)))
    even, one_sided = balance_of(record)
    assert (even.layer, even.variation, even.idle) == (0, 0.0, ())
    assert even.entropy == pytest.approx(1.0)
    assert one_sided.layer == 3
    assert one_sided.variation == pytest.approx(math.sqrt(3))  # of (8, 0, 0, 0): sigma 3.46 over a mean of 2
    assert one_sided.entropy == 0.0
    assert (one_sided.busiest, one_sided.idle) == ((0,), (1, 2, 3))


def test_a_layer_that_computed_nothing_has_no_figures() -> None:
    record = MoeRecord(SHAPE, (0, 1), prefill=MoeCounts((3, 0), (3, 3, 0, 0, 0, 0, 0, 0)))
    assert balance_of(record, "prefill")[1].variation is None
    assert against_even(record.prefill, 1) == (None,) * 4
    assert against_even(record.prefill, 0) == (2.0, 2.0, 0.0, 0.0)


def test_counts_add_up_and_phases_stay_apart() -> None:
    one = MoeRecord(SHAPE, (0,), MoeCounts((1,), (1, 1, 0, 0), (0.75, 0.25, 0, 0)), capture_ms=1.0, computed_ms=10.0)
    other = MoeRecord(SHAPE, (0,), decode=MoeCounts((2,), (0, 2, 2, 0)), capture_ms=1.0, computed_ms=10.0)
    both = one + other
    assert both.prefill == one.prefill
    assert both.decode == other.decode
    assert both.counts().n_tokens == (3,)
    assert both.counts().n_chosen == (1, 3, 2, 0)
    assert both.counts().weights == ()  # unknown for a part is unknown
    assert both.capture_share == 0.1
    assert (one + one).prefill.weights == (1.5, 0.5, 0, 0)


def test_counts_of_another_model_are_not_mixed_in() -> None:
    one = MoeRecord(SHAPE, (0,), decode=MoeCounts((1,), (1, 1, 0, 0)))
    other = MoeRecord(MoeShape(2, 1), (0,), decode=MoeCounts((1,), (1, 0)))
    assert one + other == other


def test_a_token_tells_where_it_went_in_each_layer() -> None:
    token = MoeToken("a", _packed(3, 1, 0xFFFF, 0xFFFF))
    assert token.in_layer(0, 2) == (3, 1)
    assert token.in_layer(1, 2) == ()


def _packed(*numbers: int) -> bytes:
    packed = bytearray(2 * len(numbers))
    memoryview(packed).cast("H")[:] = memoryview(b"".join(n.to_bytes(2, "little") for n in numbers)).cast("H")
    return bytes(packed)
