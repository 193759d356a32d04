"""Nodes of a graph as parts of a token's time."""

import pytest

from layadesk.domain.answer_time import ComputePart
from layadesk.engine.node_times import by_part


def test_nodes_go_to_their_parts_and_nameless_ones_to_the_part_before() -> None:
    token = [
        ("attn_norm-0", 1.0),
        ("Qcur-0", 2.0),
        ("node_7", 1.0),
        ("ffn_moe_logits-0", 4.0),
        ("ffn_moe_topk-0", 1.0),
        ("ffn_moe_gate-0", 8.0),
        ("ffn_moe_out-0", 2.0),
        ("ffn_gate-1", 5.0),
        ("attn_norm-2", 1.0),
        ("result_output", 3.0),
    ]
    assert by_part([token, token]) == (
        (ComputePart.ATTENTION, 5000.0),
        (ComputePart.FEED_FORWARD, 5000.0),
        (ComputePart.MOE_GATE, 5000.0),
        (ComputePart.MOE_EXPERTS, 10000.0),
        (ComputePart.OUTPUT, 3000.0),
    )


def test_the_price_of_looking_is_taken_off() -> None:
    token = [("Qcur-0", 2.0), ("Qcur-0 (view)", 0.5), ("Qcur-0 (reshaped)", 0.5), ("result_output", 1.0)]
    assert dict(by_part([token])) == pytest.approx({ComputePart.ATTENTION: 1500.0, ComputePart.OUTPUT: 500.0})
