"""What the price of a model depends on, whether read from a GGUF header or kept in `models.json`."""

from dataclasses import dataclass
from enum import StrEnum


class LayerKind(StrEnum):
    """What a layer remembers of the tokens before."""

    FULL = "full"  # all of them
    WINDOW = "window"  # the last `n_swa`, unless `swa_full`
    RECURRENT = "recurrent"  # a state of fixed size for each sequence
    SHARED = "shared"  # looks into the cache of an earlier layer
    SKIPPED = "skipped"  # a draft head (NextN, MTP), which is not loaded


@dataclass(frozen=True, slots=True)
class LayerFacts:
    """One block. `k_row` and `v_row` are elements of one cell; `moe_bytes`, of the weights, belong to MoE experts.

    `state_elements` (f32) are what a recurrent layer keeps for each sequence. `v_row` is 0 with MLA. `matrices` are
    bytes by GGUF's name without `blk.N.` and `.weight`, where they are known one by one.
    """

    kind: LayerKind
    weights_bytes: int
    moe_bytes: int = 0
    n_head: int = 0
    head_k: int = 0
    head_v: int = 0
    k_row: int = 0
    v_row: int = 0
    n_ff: int = 0
    state_elements: int = 0
    matrices: tuple[tuple[str, int], ...] = ()

    def matrix_bytes(self, name: str, n_elements: int) -> int:
        """Bytes of one matrix; where only sums are known, what it would have at eight bits a weight."""
        known = dict(self.matrices)
        fused = "attn_qkv" if name in ("attn_q", "attn_k", "attn_v") else name
        return known.get(name) or known.get(fused) or n_elements * 34 // 32


class RecurrentKind(StrEnum):
    """The families of recurrent layers whose graphs are known; the others are estimated."""

    SHORT_CONV = "short_conv"  # LFM2
    DELTA_NET = "delta_net"  # Qwen3.5 and its like
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class RecurrentFacts:
    """Sizes of the recurrent layers: `d_inner` values, `d_state` × `n_group` keys, `n_head` heads, `d_conv` taps."""

    kind: RecurrentKind
    d_conv: int = 0
    d_inner: int = 0
    d_state: int = 0
    n_group: int = 0
    n_head: int = 0


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """All of it. `input_bytes` (token embeddings) stay in RAM; `output_bytes` is 0 where the output is tied to them.

    `is_known`: the architecture's memory is understood; without it the arithmetic gives no bill. `rope_bytes_per_token`
    is 4, or 16 with sectioned positions. `needs_flash_attention`, `has_*`: how the graph is built.
    """

    architecture: str
    n_embd: int
    n_vocab: int
    n_ctx_train: int
    layers: tuple[LayerFacts, ...]
    input_bytes: int
    output_bytes: int
    tied_output_bytes: int = 0
    n_swa: int = 0
    n_expert: int = 0
    n_expert_used: int = 0
    n_ff_expert: int = 0
    n_ff_shared: int = 0
    recurrent: RecurrentFacts | None = None
    has_qk_norm: bool = False
    has_post_norm: bool = False
    has_gated_attention: bool = False
    has_scaled_input: bool = False
    rope_bytes_per_token: int = 4
    is_known: bool = True

    @property
    def n_layer(self) -> int:
        """Blocks that are loaded, without the output layer."""
        return sum(layer.kind is not LayerKind.SKIPPED for layer in self.layers)

    @property
    def weights_bytes(self) -> int:
        """All tensors that are loaded, once each."""
        return self.input_bytes + self.output_bytes + sum(layer.weights_bytes for layer in self.layers)

    @property
    def moe_bytes(self) -> int:
        """Weights of all MoE experts; 0 for a dense model."""
        return sum(layer.moe_bytes for layer in self.layers)

    @property
    def active_bytes(self) -> int:
        """Weights that are read for one token: all but the MoE experts that are not asked."""
        used = self.n_expert_used / self.n_expert if self.n_expert else 1.0
        looked_up = self.input_bytes if self.output_bytes else 0
        return round(self.weights_bytes - looked_up - self.moe_bytes * (1 - used))
