"""The KV cache and the recurrent state, to the byte.

Source: llama-kv-cache.cpp:143-240, llama-kv-cache-iswa.cpp:65-80, llama-memory-recurrent.cpp:90 and
llama-context.cpp:284-302 of the llama.cpp vendored in llama-cpp-python 0.3.36.
"""

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts

# Bytes of a block and its elements, as ggml stores them.
KV_TYPES = {
    "f32": (4, 1),
    "f16": (2, 1),
    "bf16": (2, 1),
    "q8_0": (34, 32),
    "q5_1": (24, 32),
    "q5_0": (22, 32),
    "q4_1": (20, 32),
    "q4_0": (18, 32),
}
QUANTIZED = frozenset({"q8_0", "q5_1", "q5_0", "q4_1", "q4_0"})
STATE_ELEMENT_BYTES = 4


def pad_256(n: int) -> int:
    """The next multiple of 256, in which llama.cpp counts cells."""
    return (n + 255) // 256 * 256


def row_bytes(type_name: str, n_elements: int) -> int:
    """Bytes of one cell's keys or values in one layer."""
    n_bytes, n_block = KV_TYPES[type_name]
    return n_elements // n_block * n_bytes


def uses_flash_attention(params: LoadParams) -> bool:
    """Whether the graph has flash attention; `auto` means yes on every backend that we ship."""
    return params.flash_attn != "off"


def n_cells(facts: ModelFacts, kind: LayerKind, params: LoadParams, *, n_seq_max: int, kv_unified: bool = True) -> int:
    """Cells of one stream in a layer of that kind."""
    n_ctx = pad_256(params.n_ctx)
    n_ctx_seq = n_ctx if kv_unified else pad_256(n_ctx // n_seq_max)
    if kind is not LayerKind.WINDOW or facts.n_swa == 0 or params.swa_full:
        return n_ctx_seq
    return pad_256(min(n_ctx_seq, facts.n_swa * (n_seq_max if kv_unified else 1) + params.n_ubatch))


def layer_kv_bytes(
    facts: ModelFacts, layer: LayerFacts, params: LoadParams, *, n_seq_max: int, kv_unified: bool = True
) -> int:
    """What one layer keeps for all sequences."""
    match layer.kind:
        case LayerKind.RECURRENT:
            return layer.state_elements * STATE_ELEMENT_BYTES * max(1, n_seq_max)
        case LayerKind.SHARED | LayerKind.SKIPPED:
            return 0
        case _:
            cells = n_cells(facts, layer.kind, params, n_seq_max=n_seq_max, kv_unified=kv_unified)
            v_row = layer.v_row
            if not uses_flash_attention(params) and v_row:
                v_row = max(one.v_row for one in facts.layers)  # without it all V rows are padded to the widest
            row = row_bytes(params.type_k, layer.k_row) + row_bytes(params.type_v, v_row)
            return row * cells * (1 if kv_unified else n_seq_max)


def kv_bytes(facts: ModelFacts, params: LoadParams, *, n_seq_max: int, kv_unified: bool = True) -> int:
    """What all layers keep."""
    return sum(
        layer_kv_bytes(facts, layer, params, n_seq_max=n_seq_max, kv_unified=kv_unified) for layer in facts.layers
    )
