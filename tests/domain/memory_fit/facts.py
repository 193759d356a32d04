"""Facts of made-up models, for tests of what is done with them."""

from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts

MIB, GIB = 2**20, 2**30


def dense(
    *,
    n_layer: int = 32,
    n_embd: int = 4096,
    n_head: int = 32,
    n_head_kv: int = 8,
    head: int = 128,
    n_ff: int = 11008,
    n_vocab: int = 32000,
    layer_bytes: int = 120 * MIB,
    moe_bytes: int = 0,
) -> ModelFacts:
    """A model of equal layers; with `moe_bytes` of each layer in 64 MoE experts, 4 of which work on a token."""
    layer = LayerFacts(
        LayerKind.FULL,
        layer_bytes,
        moe_bytes=moe_bytes,
        n_head=n_head,
        head_k=head,
        head_v=head,
        k_row=n_head_kv * head,
        v_row=n_head_kv * head,
        n_ff=n_ff,
    )
    return ModelFacts(
        architecture="llama",
        n_embd=n_embd,
        n_vocab=n_vocab,
        n_ctx_train=131072,
        layers=(layer,) * n_layer,
        input_bytes=70 * MIB,
        output_bytes=100 * MIB,
        n_expert=64 if moe_bytes else 0,
        n_expert_used=4 if moe_bytes else 0,
        n_ff_expert=768 if moe_bytes else 0,
    )
