"""What a GGUF header says about the memory a model will take.

Source of the keys and of what they mean: `load_arch_hparams` in src/models/*.cpp, llama-hparams.cpp and `create_memory`
in llama-model.cpp of the llama.cpp vendored in llama-cpp-python 0.3.36. What cannot be priced by arithmetic (caches of
a kind of their own) is marked with `is_known` False; llama.cpp itself can still price such a file.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from layadesk.domain.memory_fit.model_facts import (
    LayerFacts,
    LayerKind,
    ModelFacts,
    RecurrentFacts,
    RecurrentKind,
)
from layadesk.model_library.gguf_header import MAX_LAYERS, GgufHeader
from layadesk.model_library.gguf_reader import MetaValue, TensorEntry

_BLOCK = re.compile(r"blk\.(\d+)\.")
_MATRIX = re.compile(r"blk\.\d+\.(.+)\.weight", re.DOTALL)
_MOE = re.compile(r"\.ffn_(up|down|gate|gate_up)_(ch|)exps\.")
_INPUT = ("token_embd.", "per_layer_token_embd.", "token_types.", "position_embd.", "token_embd_norm.")

# Every how many layers one sees everything, where the file does not say (`load_swa_pattern`); True: the first of them.
_WINDOW_PATTERNS: dict[str, tuple[int, bool]] = {
    "afmoe": (4, False),
    "cohere2": (4, False),
    "cohere2moe": (4, True),
    "exaone-moe": (4, False),
    "exaone4": (4, False),
    "gemma2": (2, False),
    "gemma3": (6, False),
    "gemma3n": (5, False),
    "gpt-oss": (2, False),
    "llama4": (4, False),
    "mellum": (4, False),
    "olmo2": (4, False),
    "plamo3": (8, False),
    "smallthinker": (4, True),
}
_DEFAULT_WINDOWS = {"gemma2": 4096, "exaone4": 4096, "exaone-moe": 128, "smallthinker": 4096, "llama4": 8192}
_SECTIONED = frozenset({"qwen2vl", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe", "paddleocr"})
_GEMMA = frozenset({"gemma", "gemma2", "gemma3", "gemma3n", "gemma4"})
_OWN_DRAFTS = frozenset({"qwen35", "qwen35moe"})  # their draft heads are not even loaded
# Caches of a kind of their own: sparse attention, indexers, compressed keys, several states in one layer.
_OWN_CACHES = frozenset(
    {
        *("deepseek4", "deepseek32", "glm-dsa", "glm5-next", "minimax-m3", "dots3note", "hy_v4", "kimi-linear"),
        *("kimi-k3", "jamba", "falcon-h1", "plamo2", "granitehybrid", "nemotron_h", "nemotron_h_moe", "minimax-01"),
        *("qwen4exp", "mamba", "mamba2", "maple", "rwkv6", "rwkv7", "rwkv6qwen2", "arwkv7", "bailingmoe3"),
    }
)


# Norms of queries and keys, and after attention and feed-forward: told by the tensors' names, or else by these.
_QK_NORMS = frozenset(
    {
        *("qwen3", "qwen3moe", "qwen35", "qwen35moe", "qwen3next", "gemma3", "gemma3n", "gemma4"),
        *("lfm2", "lfm2moe", "olmo2"),
    }
)
_POST_NORMS = frozenset({"gemma2", "gemma3", "gemma3n", "gemma4"})


def model_facts(header: GgufHeader, *more: GgufHeader) -> ModelFacts:
    """The facts of a model; `more` are its other shards."""
    tensors = [tensor for one in (header, *more) for tensor in one.tensors]
    return FactReader(header.metadata, tensors, n_vocab=header.n_vocab).facts()


class FactReader:
    """Metadata under GGUF's own keys and a list of tensors, as facts. Numbers out of range count as absent."""

    def __init__(
        self, metadata: Mapping[str, MetaValue], tensors: Sequence[TensorEntry], *, n_vocab: int | None = None
    ) -> None:
        architecture = metadata.get("general.architecture")
        self._metadata = metadata
        self._tensors = tensors
        self._n_vocab = n_vocab
        self._names = {tensor.name for tensor in self._tensors}
        self._architecture = architecture if isinstance(architecture, str) else ""
        self._n_block = min(self._count("block_count", 0), MAX_LAYERS)
        self._n_draft = min(self._count("nextn_predict_layers", 0), self._n_block)
        self._n_embd = self._count("embedding_length", 0)
        self._heads = self._per_layer("attention.head_count", 1)
        self._heads_kv = self._per_layer("attention.head_count_kv", None) or self._heads
        self._recurrent = self._recurrent_facts()

    def facts(self) -> ModelFacts:
        at_output = ("output.", "output_", *(("token_embd_norm.",) if self._is_short_conv else ()))
        output = self._sum(lambda name: name.startswith(at_output))
        has_output = "output.weight" in self._names
        layers = self._layers()
        outside = self._sum(lambda name: not _BLOCK.match(name) and not name.startswith((*_INPUT, "output")))
        window = 0 if all(one.kind is not LayerKind.WINDOW for one in layers) else self._n_swa
        return ModelFacts(
            architecture=self._architecture,
            n_embd=self._n_embd,
            n_vocab=self._n_vocab or self._count("vocab_size", 0) or self._embedding_rows(),
            n_ctx_train=self._count("context_length", 0),
            layers=layers,
            input_bytes=self._sum(lambda name: name.startswith(_INPUT) and not name.startswith(at_output)) + outside,
            output_bytes=output,
            tied_output_bytes=0 if has_output else self._sum(lambda name: name.startswith("token_embd.weight")),
            n_swa=window,
            n_expert=self._count("expert_count", 0),
            n_expert_used=self._count("expert_used_count", 0),
            n_ff_expert=self._count("expert_feed_forward_length", 0) or self._rows_of("ffn_up_exps"),
            n_ff_shared=self._rows_of("ffn_up_shexp"),
            recurrent=self._recurrent,
            has_qk_norm=self._has("attn_q_norm.weight", _QK_NORMS),
            has_post_norm=self._has("post_ffw_norm.weight", _POST_NORMS),
            has_gated_attention=self._architecture in ("qwen35", "qwen35moe", "qwen3next"),
            has_scaled_input=self._architecture in _GEMMA,
            rope_bytes_per_token=16 if self._architecture in _SECTIONED else 4,
            is_known=self._is_known(layers),
        )

    @property
    def _is_short_conv(self) -> bool:
        """LFM2, which calls the norm before its output one of the embeddings."""
        return self._recurrent is not None and self._recurrent.kind is RecurrentKind.SHORT_CONV

    def _is_known(self, layers: tuple[LayerFacts, ...]) -> bool:
        other = self._recurrent is not None and self._recurrent.kind is RecurrentKind.OTHER
        loaded = [layer for layer in layers if layer.kind is not LayerKind.SKIPPED]
        has_sizes = bool(loaded) and self._n_embd > 0 and all(layer.weights_bytes for layer in loaded)
        return has_sizes and not other and self._architecture not in _OWN_CACHES

    def _layers(self) -> tuple[LayerFacts, ...]:
        weights = [0] * self._n_block
        moe = [0] * self._n_block
        matrices: list[list[tuple[str, int]]] = [[] for _ in range(self._n_block)]
        for tensor in self._tensors:
            match = _BLOCK.match(tensor.name)
            if match is None or int(match[1]) >= self._n_block:
                continue
            weights[int(match[1])] += tensor.size_bytes
            if _MOE.search(tensor.name):
                moe[int(match[1])] += tensor.size_bytes
            named = _MATRIX.fullmatch(tensor.name)
            if named is not None and len(tensor.shape) > 1:
                matrices[int(match[1])].append((named[1], tensor.size_bytes))
        return tuple(self._layer(i, weights[i], moe[i], tuple(matrices[i])) for i in range(self._n_block))

    def _layer(
        self, number: int, weights_bytes: int, moe_bytes: int, matrices: tuple[tuple[str, int], ...]
    ) -> LayerFacts:
        kind = self._kind(number)
        if kind is LayerKind.SKIPPED:
            return LayerFacts(kind, 0 if self._architecture in _OWN_DRAFTS else weights_bytes)
        n_ff = self._per_layer("feed_forward_length", 0)
        head_k, head_v = self._head_sizes(kind)
        heads_kv = self._heads_kv[number]
        has_cache = kind in (LayerKind.FULL, LayerKind.WINDOW)
        is_mla = self._count("attention.key_length_mla", 0) > 0
        return LayerFacts(
            kind=kind,
            weights_bytes=weights_bytes,
            moe_bytes=moe_bytes,
            n_head=self._heads[number],
            head_k=head_k,
            head_v=head_v,
            k_row=head_k * heads_kv if has_cache else 0,
            v_row=head_v * heads_kv if has_cache and not is_mla else 0,
            n_ff=n_ff[number] if n_ff else 0,
            state_elements=self._state_elements() if kind is LayerKind.RECURRENT else 0,
            matrices=matrices,
        )

    def _kind(self, number: int) -> LayerKind:
        n_trunk = self._n_block - self._n_draft
        if number >= n_trunk:
            return LayerKind.SKIPPED
        if self._is_recurrent(number):
            return LayerKind.RECURRENT
        n_own = 20 if self._architecture == "gemma3n" else self._n_block - self._count("attention.shared_kv_layers", 0)
        if self._architecture in ("gemma3n", "gemma4") and number >= n_own:
            return LayerKind.SHARED
        return LayerKind.WINDOW if self._has_window(number) else LayerKind.FULL

    def _is_recurrent(self, number: int) -> bool:
        if self._recurrent is None:
            return False
        if self._recurrent.kind is RecurrentKind.SHORT_CONV:
            return self._heads_kv[number] == 0
        listed = self._metadata.get(f"{self._architecture}.attention.recurrent_layers")
        if isinstance(listed, tuple) and len(listed) > number:
            return bool(listed[number])
        return (number + 1) % self._count("full_attention_interval", 4) != 0

    @property
    def _n_swa(self) -> int:
        return self._count("attention.sliding_window", _DEFAULT_WINDOWS.get(self._architecture, 0))

    def _has_window(self, number: int) -> bool:
        if self._n_swa == 0:
            return False
        key = f"{self._architecture}.attention.sliding_window_pattern"
        pattern = self._metadata.get(key)
        if isinstance(pattern, tuple):
            return len(pattern) > number and bool(pattern[number])
        every, is_first = _WINDOW_PATTERNS.get(self._architecture, (0, False))
        if isinstance(pattern, int) and every:
            every = pattern
        if self._architecture in ("lfm2", "lfm2moe"):
            return True
        if every == 0:
            return False  # an architecture that ignores the key, such as phi3
        return number % every != 0 if is_first else number % every < every - 1

    def _head_sizes(self, kind: LayerKind) -> tuple[int, int]:
        most_heads = max(self._heads, default=1) or 1
        k = self._count("attention.key_length", self._n_embd // most_heads)
        v = self._count("attention.value_length", k)
        if kind is LayerKind.WINDOW:
            k = self._count("attention.key_length_swa", k)
            v = self._count("attention.value_length_swa", v)
        return k, v

    def _recurrent_facts(self) -> RecurrentFacts | None:
        taps = self._count("shortconv.l_cache", 0)
        if taps:
            return RecurrentFacts(RecurrentKind.SHORT_CONV, d_conv=taps)
        d_state = self._count("ssm.state_size", 0)
        if not d_state:
            return None
        is_delta = self._architecture in ("qwen35", "qwen35moe", "qwen3next")
        return RecurrentFacts(
            RecurrentKind.DELTA_NET if is_delta else RecurrentKind.OTHER,
            d_conv=self._count("ssm.conv_kernel", 0),
            d_inner=self._count("ssm.inner_size", 0),
            d_state=d_state,
            n_group=self._count("ssm.group_count", 0),
            n_head=self._count("ssm.time_step_rank", 0),
        )

    def _state_elements(self) -> int:
        recurrent = self._recurrent
        assert recurrent is not None
        if recurrent.kind is RecurrentKind.SHORT_CONV:
            return self._n_embd * (recurrent.d_conv - 1)
        n_conv = max(recurrent.d_conv - 1, 0) * (recurrent.d_inner + 2 * recurrent.n_group * recurrent.d_state)
        return n_conv + recurrent.d_state * recurrent.d_inner

    def _has(self, tensor: str, architectures: frozenset[str]) -> bool:
        if any(name.startswith("blk.0.attn_norm") for name in self._names):
            return any(name.endswith(tensor) for name in self._names)
        return self._architecture in architectures

    def _count(self, key: str, otherwise: int) -> int:
        value = self._metadata.get(f"{self._architecture}.{key}")
        if isinstance(value, tuple):
            value = max((one for one in value if isinstance(one, int)), default=otherwise)
        is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40
        return value if is_count and isinstance(value, int) else otherwise

    def _per_layer(self, key: str, otherwise: int | None) -> list[int]:
        value = self._metadata.get(f"{self._architecture}.{key}")
        if isinstance(value, tuple):
            numbers = [one if isinstance(one, int) and 0 <= one < 2**31 else 0 for one in value]
            return (numbers + [0] * self._n_block)[: self._n_block]
        if isinstance(value, int) and 0 <= value < 2**31:
            return [value] * self._n_block
        return [] if otherwise is None else [otherwise] * self._n_block

    def _sum(self, belongs: Callable[[str], bool]) -> int:
        return sum(tensor.size_bytes for tensor in self._tensors if belongs(tensor.name))

    def _rows_of(self, part: str) -> int:
        found = next((tensor for tensor in self._tensors if f".{part}." in tensor.name), None)
        return found.shape[1] if found is not None and len(found.shape) > 1 else 0

    def _embedding_rows(self) -> int:
        found = next((tensor for tensor in self._tensors if tensor.name == "token_embd.weight"), None)
        return found.shape[1] if found is not None and len(found.shape) > 1 else 0
