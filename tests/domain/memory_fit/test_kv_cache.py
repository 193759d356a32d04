"""Sums that anyone can check by hand."""

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import bill_of, check_kv_types
from layadesk.domain.memory_fit.kv_cache import kv_bytes, row_bytes
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from tests.domain.memory_fit.facts import GIB, dense

KIB = 2**10
EIGHT_HEADS = dense(n_layer=48, n_head_kv=8, head=128)


def test_one_token_of_eight_heads_in_48_layers_takes_192_kib() -> None:
    assert kv_bytes(EIGHT_HEADS, LoadParams(n_ctx=256), n_seq_max=1) == 256 * 192 * KIB


def test_8192_tokens_take_one_and_a_half_gib_and_four_times_as_many_six() -> None:
    assert kv_bytes(EIGHT_HEADS, LoadParams(n_ctx=8192), n_seq_max=1) == 3 * GIB // 2
    assert kv_bytes(EIGHT_HEADS, LoadParams(n_ctx=4 * 8192), n_seq_max=4) == 6 * GIB
    assert kv_bytes(EIGHT_HEADS, LoadParams(n_ctx=4 * 8192), n_seq_max=4, kv_unified=False) == 6 * GIB


@pytest.mark.parametrize(
    ("name", "n_bytes"), [("f32", 512), ("f16", 256), ("bf16", 256), ("q8_0", 136), ("q5_0", 88), ("q4_0", 72)]
)
def test_a_row_of_128_elements_is_stored_in_blocks(name: str, n_bytes: int) -> None:
    assert row_bytes(name, 128) == n_bytes


def mixed(*kinds: LayerKind, n_swa: int = 512) -> ModelFacts:
    layers = tuple(
        LayerFacts(kind, 1, n_head=8, head_k=64, head_v=64, k_row=128, v_row=128, state_elements=1000) for kind in kinds
    )
    return ModelFacts("gemma3", 512, 1000, 8192, layers, 1, 1, n_swa=n_swa)


def test_a_window_costs_its_length_for_each_sequence_and_one_step() -> None:
    facts = mixed(LayerKind.WINDOW)
    params = LoadParams(n_ctx=32768, n_ubatch=256, swa_full=False)
    assert kv_bytes(facts, params, n_seq_max=4) == 2 * 256 * (4 * 512 + 256)
    assert kv_bytes(facts, LoadParams(n_ctx=32768, n_ubatch=256), n_seq_max=4) == 2 * 256 * 32768


def test_a_recurrent_layer_costs_its_state_for_each_sequence_however_long_the_context_is() -> None:
    facts = mixed(LayerKind.RECURRENT)
    sizes = {kv_bytes(facts, LoadParams(n_ctx=n), n_seq_max=3) for n in (256, 8192, 131072)}
    assert sizes == {3 * 4000}


def test_layers_that_share_a_cache_cost_nothing() -> None:
    assert kv_bytes(mixed(LayerKind.SHARED, LayerKind.SKIPPED), LoadParams(), n_seq_max=1) == 0


def test_without_flash_attention_all_values_are_padded_to_the_widest() -> None:
    narrow = LayerFacts(LayerKind.FULL, 1, k_row=128, v_row=128)
    wide = LayerFacts(LayerKind.FULL, 1, k_row=128, v_row=512)
    facts = ModelFacts("x", 512, 1000, 8192, (narrow, wide), 1, 1)
    assert kv_bytes(facts, LoadParams(n_ctx=256), n_seq_max=1) == 256 * 2 * (128 + 128 + 128 + 512)
    assert kv_bytes(facts, LoadParams(n_ctx=256, flash_attn="off"), n_seq_max=1) == 256 * 2 * (128 + 512 + 128 + 512)


def test_with_mla_there_are_no_values() -> None:
    facts = ModelFacts("deepseek2", 512, 1000, 8192, (LayerFacts(LayerKind.FULL, 1, k_row=576, v_row=0),), 1, 1)
    assert kv_bytes(facts, LoadParams(n_ctx=256), n_seq_max=1) == 256 * 2 * 576


@pytest.mark.parametrize(
    "params",
    [
        LoadParams(type_v="q8_0", flash_attn="off"),  # reported fault A29
        LoadParams(type_k="q3_k"),
    ],
)
def test_what_llama_cpp_would_refuse_after_the_load_is_refused_before(params: LoadParams) -> None:
    with pytest.raises(LayaDeskError) as refused:
        check_kv_types(params)
    assert refused.value.code is ErrorCode.BAD_PARAMETER


def test_keys_whose_heads_are_no_multiple_of_a_block_cannot_be_quantised() -> None:
    with pytest.raises(LayaDeskError):
        bill_of(dense(head=80), LoadParams(type_k="q8_0"))
    bill_of(dense(head=96), LoadParams(type_k="q8_0"))
