"""What the gates of a real (small, random) model with MoE experts choose, against the same arithmetic in numpy."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from layadesk.domain.answer_time import ComputePart
from layadesk.domain.errors import ErrorCode
from layadesk.domain.moe_experts import MoeCounts, MoeShape
from layadesk.engine.backend import Backend, DecodeOutcome, Expert
from layadesk.engine.batch import Batch
from layadesk.engine.llama_expert import LlamaExpert
from layadesk.engine.moe_choices import NONE, MoeChoices
from layadesk.protocol.commands import ProfileExpert, WatchMoeExperts
from layadesk.protocol.events import ExpertProfiled, Finished, MoeExpertsChosen
from tests.fakes.engine_running import GREEDY, RunningEngine, expert
from tests.fakes.gguf_models import gate_of, seeded_mixture

pytestmark = pytest.mark.llama

N_LAYER, N_EXPERT, N_USED = 8, 32, 4
PROMPT = [*b"Once upon a time there was a gate."]
LAYER = 5


@pytest.fixture(scope="module")
def moe_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return seeded_mixture(tmp_path_factory.mktemp("moe") / "moe.gguf")


@pytest.fixture
def moe_expert(llama_backend: Backend, moe_gguf: Path) -> Iterator[Expert]:
    loaded = llama_backend.load(expert(str(moe_gguf), n_ctx=256, n_ubatch=16, n_batch=64), lambda _fraction: True)
    yield loaded
    loaded.close()


def test_the_shape_is_read_and_a_dense_model_has_none_and_no_callback(
    llama_backend: Backend, moe_expert: Expert, smol_gguf: Path
) -> None:
    assert moe_expert.facts.moe == MoeShape(N_EXPERT, N_USED)
    dense = llama_backend.load(expert(str(smol_gguf), n_ctx=256), lambda _fraction: True)
    assert isinstance(dense, LlamaExpert)
    assert dense.facts.moe is None
    assert dense._tap is None
    dense.look_at_gates(is_on=True)
    assert _decode(dense, [1, 2, 3]) is None
    dense.close()


def test_the_choices_are_those_of_the_gate_recomputed_in_numpy(moe_expert: Expert, moe_gguf: Path) -> None:
    moe_expert.look_at_gates(is_on=True)
    choices = _decode(moe_expert, PROMPT)
    hidden = _hidden_states(moe_gguf, PROMPT)
    logits = hidden @ gate_of(moe_gguf, LAYER).T
    likely = np.exp(logits - logits.max(1, keepdims=True))
    likely /= likely.sum(1, keepdims=True)
    expected = np.argsort(-likely, axis=1)[:, :N_USED]
    given = np.take_along_axis(likely, expected, 1)
    given /= given.sum(1, keepdims=True)

    assert choices is not None
    assert choices.layers == tuple(range(N_LAYER))
    assert (choices.chosen[LAYER] == expected).all()
    assert choices.weights is not None
    assert np.abs(choices.weights[LAYER] - given).max() < 1e-3
    again = _decode(moe_expert, [65], position=len(PROMPT))  # now that the names of the graph are known
    assert again is not None
    assert again.weights is not None
    assert np.abs(again.weights.sum(2) - 1).max() < 1e-4


def test_ubatches_are_put_together_and_the_last_layer_has_only_what_is_sampled(moe_expert: Expert) -> None:
    moe_expert.look_at_gates(is_on=True)
    choices = _decode(moe_expert, PROMPT)  # three ubatches of at most 16
    assert choices is not None
    assert choices.chosen.shape == (N_LAYER, len(PROMPT), N_USED)
    assert (choices.chosen[:-1] != NONE).all()
    assert (choices.chosen[-1, :-1] == NONE).all()
    assert (choices.chosen[-1, -1] != NONE).all()


def test_the_callback_is_out_of_the_context_while_nobody_looks(moe_expert: Expert) -> None:
    assert isinstance(moe_expert, LlamaExpert)
    tap = moe_expert._tap
    assert tap is not None
    assert tap._place is not None, "llama.cpp keeps it elsewhere: looking would cost also when it is off"
    assert tuple(tap._place) == (None, None)
    moe_expert.look_at_gates(is_on=True)
    assert tuple(tap._place) == (tap._address, tap.user_data)


def test_nothing_is_noted_while_nobody_looks_and_looking_changes_no_logits(moe_expert: Expert) -> None:
    assert _decode(moe_expert, PROMPT) is None
    sampler = moe_expert.new_sampler(GREEDY, 0)
    blind = sampler.sample(len(PROMPT) - 1)
    moe_expert.seq_remove(0)
    moe_expert.look_at_gates(is_on=True)
    assert _decode(moe_expert, PROMPT) is not None
    assert sampler.sample(len(PROMPT) - 1) == blind
    sampler.close()


def test_an_engine_tells_counts_by_request_and_phase_that_add_up(llama_backend: Backend, moe_gguf: Path) -> None:
    engine = RunningEngine(llama_backend, expert(str(moe_gguf), n_parallel=2))
    engine.send(WatchMoeExperts(True))
    sampling = replace(GREEDY, max_tokens=12, ignore_eos=True, stops_loops=False)
    asked = [engine.ask(text, sampling=sampling) for text in ("Where do they go, one by one?", "And these?")]
    ends = {request_id: engine.finished(request_id) for request_id in asked}
    alone = engine.ask("One that is alone.", sampling=sampling)
    ends[alone] = engine.finished(alone)
    engine.send(WatchMoeExperts(False))
    unseen = engine.ask("Nobody looks.", sampling=sampling)
    engine.finished(unseen)
    for request_id, end in ends.items():
        told = [one for one in engine.events if isinstance(one, MoeExpertsChosen) and one.request_id == request_id]
        _check_sums(told, end)
        assert engine.events.index(told[-1]) < engine.events.index(end)
    assert not [one for one in engine.events if isinstance(one, MoeExpertsChosen) and one.request_id == unseen]
    engine.close()


def _check_sums(told: list[MoeExpertsChosen], end: Finished) -> None:
    record = told[0].record
    for one in told[1:]:
        record = record + one.record
    tokens = [token for one in told for token in one.tokens]
    n_computed = end.timings.n_prompt - end.timings.n_cached
    n_made = end.timings.n_decoded - 1  # the last one is drawn and never computed
    assert record.shape == MoeShape(N_EXPERT, N_USED)
    assert record.prefill.n_tokens == (*[n_computed] * (N_LAYER - 1), 1)
    assert record.decode.n_tokens == (n_made,) * N_LAYER
    assert sum(record.decode.n_chosen) == n_made * N_USED * N_LAYER
    assert sum(record.prefill.n_chosen) == (n_computed * (N_LAYER - 1) + 1) * N_USED
    assert sum(record.decode.weights) == pytest.approx(n_made * N_LAYER, abs=0.02)
    assert len(tokens) == n_made
    by_token = [0] * (N_LAYER * N_EXPERT)
    for token in tokens:
        for row in range(N_LAYER):
            for number in token.in_layer(row, N_USED):
                by_token[row * N_EXPERT + number] += 1
    assert MoeCounts(record.decode.n_tokens, tuple(by_token)).n_chosen == record.decode.n_chosen
    assert 0 < record.capture_ms < record.computed_ms


def _decode(model: Expert, tokens: list[int], *, position: int = 0) -> MoeChoices | None:
    batch = Batch()
    batch.add(tokens, 0, position=position, wants_logits=True)
    assert model.decode(batch, None) is DecodeOutcome.OK
    return model.moe_choices()


def _hidden_states(path: Path, tokens: list[int]) -> "np.ndarray[Any, np.dtype[np.float32]]":
    """What goes into the gate of LAYER, taken by a callback of this test's own: [tokens, n_embd]."""
    from llama_cpp import llama_cpp as low

    low._lib.ggml_get_name.restype, low._lib.ggml_get_name.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
    wanted = f"ffn_norm-{LAYER}".encode()
    found: list[np.ndarray[Any, np.dtype[np.float32]]] = []
    model = low.llama_model_load_from_file(str(path).encode(), low.llama_model_default_params())
    n_embd = low.llama_model_n_embd(model)

    def look(node: int, ask: bool, _user_data: Any) -> bool:
        if low._lib.ggml_get_name(node) != wanted:
            return not ask
        if not ask:
            values = np.empty((len(tokens), n_embd), np.float32)
            source, target = ctypes.c_void_p(node), ctypes.c_void_p(values.ctypes.data)
            low._lib.ggml_backend_tensor_get(source, target, 0, values.nbytes)
            found.append(values)
        return True

    params = low.llama_context_default_params()
    params.n_ctx = 256
    params.cb_eval = callback = low.ggml_backend_sched_eval_callback(look)
    context = low.llama_init_from_model(model, params)
    kept = (low.llama_token * len(tokens))(*tokens)
    assert low.llama_decode(context, low.llama_batch_get_one(kept, len(tokens))) == 0
    low.llama_free(context)
    del callback, kept  # the library had their addresses until here
    low.llama_model_free(model)
    return found[-1]


def test_a_profile_has_the_parts_of_its_model_and_leaves_the_answers_alone(
    llama_backend: Backend, moe_gguf: Path, smol_gguf: Path
) -> None:
    engine = RunningEngine(
        llama_backend, expert(str(moe_gguf)), expert(str(smol_gguf), model_id="smol"), n_loaded_max=2
    )
    sampling = replace(GREEDY, max_tokens=8, ignore_eos=True, stops_loops=False)
    before = engine.finished(engine.ask("The same.", sampling=sampling)).text
    engine.load("smol")
    for model_id in ("expert", "smol", "absent"):
        engine.send(ProfileExpert(model_id, 40))
    engine.wait_count(ExpertProfiled, 3)
    found = {one.model_id: one for one in engine.events if isinstance(one, ExpertProfiled)}
    moe, smol = found["expert"].profile, found["smol"].profile
    assert moe is not None
    assert smol is not None
    parts = {ComputePart.ATTENTION, ComputePart.MOE_GATE, ComputePart.MOE_EXPERTS, ComputePart.OUTPUT}
    assert parts <= {part for part, ms in moe.parts if ms > 0}
    assert {part for part, _ in smol.parts} == {ComputePart.ATTENTION, ComputePart.FEED_FORWARD, ComputePart.OUTPUT}
    assert sum(share for _, share in moe.shares()) == pytest.approx(1.0)
    assert moe.n_past == 40
    assert moe.plain_ms > 0
    refusal = found["absent"].error
    assert refusal is not None
    assert refusal.code is ErrorCode.UNKNOWN_EXPERT
    assert engine.finished(engine.ask("The same.", sampling=sampling)).text == before
    engine.close()
