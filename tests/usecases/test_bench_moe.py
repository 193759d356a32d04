"""Figures of MoE experts: what the measured times mean, and a real run on a small model."""

from pathlib import Path

import pytest

from layadesk.domain.answer_time import ComputePart, ComputeProfile
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.moe_experts import MoeCounts, MoeRecord, MoeShape
from layadesk.protocol.bench import MoeBenchReply
from layadesk.usecases.bench_engine import bench_spec
from layadesk.usecases.bench_moe import PROMPTS, moe_figures
from layadesk.workers.bench_moe import measure_moe
from tests.fakes.gguf_models import chat_model, seeded_mixture


def test_overheads_are_told_for_the_fast_tenth_and_for_neighbours() -> None:
    plain = (10.0, 10.0, 10.0, 30.0)
    reply = MoeBenchReply(
        plain,
        (11.0, 11.0, 11.0, 33.0),
        (15.0, 14.0, 12.0, 36.0),
        MoeRecord(MoeShape(4, 2), (0, 1), prefill=MoeCounts((1, 1), (1, 1, 0, 0, 1, 1, 0, 0))),
        ComputeProfile(((ComputePart.ATTENTION, 6.0), (ComputePart.MOE_GATE, 1.0)), 5.0, 32),
    )
    figures = moe_figures("m", 2, reply)
    assert (figures.plain_ms, figures.off_ms, figures.on_ms) == (10.0, 11.0, 12.0)
    assert figures.off_overhead == pytest.approx(0.1)
    assert figures.on_overhead == pytest.approx(0.2)
    assert figures.on_median_overhead == pytest.approx(0.3)
    assert figures.gate_ms_per_layer == 0.5
    assert figures.profiled_against_plain == pytest.approx(1.4)
    assert [one.variation for one in figures.balance] == [1.0, 1.0]


@pytest.mark.llama
def test_a_run_counts_every_prompt_in_every_layer(tmp_path: Path) -> None:
    path = str(seeded_mixture(tmp_path / "moe.gguf"))
    reply = measure_moe(bench_spec(path, 1, 512), 3, PROMPTS)
    assert [len(one) for one in (reply.plain_ms, reply.off_ms, reply.on_ms)] == [3, 3, 3]
    assert reply.record is not None
    n_tokens = reply.record.prefill.n_tokens
    assert len(set(n_tokens[:-1])) == 1
    assert n_tokens[0] > sum(map(len, PROMPTS[:6]))  # a byte a token
    assert n_tokens[-1] == len(PROMPTS)  # the last layer computes what is sampled from
    assert sum(reply.record.prefill.n_chosen) == 4 * sum(n_tokens)
    assert reply.profile is not None


@pytest.mark.llama
def test_a_model_without_moe_experts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LayaDeskError) as refusal:
        measure_moe(bench_spec(str(chat_model(tmp_path / "dense.gguf")), 1, 512), 3, PROMPTS)
    assert refusal.value.code is ErrorCode.BAD_PARAMETER
