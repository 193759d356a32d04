"""Whole models of several architectures that llama.cpp loads: a header, and weights that are a hole in the file."""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from layadesk.model_library.gguf_types import tensor_bytes
from tests.fakes.gguf_files import Tensor, gguf_bytes, packed_text

F32, F16 = 0, 1
ALIGNMENT = 32


@dataclass(frozen=True)
class Shape:
    """The numbers of a small model."""

    n_layer: int = 3
    n_embd: int = 512
    n_head: int = 8
    n_head_kv: int = 2
    head: int = 64
    n_ff: int = 1024
    n_vocab: int = 1000


def write_sparse(path: Path, metadata: dict[str, object], tensors: Iterable[Tensor]) -> Path:
    """A file whose weights take no room on disk and read as zeros."""
    tensors = list(tensors)
    entries, size = [], 0
    for tensor in tensors:
        dims = struct.pack(f"<I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        entries.append(packed_text(tensor.name) + dims + struct.pack("<IQ", tensor.type_id, size))
        size += (tensor_bytes(tensor.type_id, tensor.shape) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    front = gguf_bytes(metadata, [], n_tensors=len(tensors)) + b"".join(entries)
    front += b"\0" * (-len(front) % ALIGNMENT)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(front)
        file.truncate(len(front) + size)
    return path


def chat_model(path: Path, shape: Shape | None = None, *, has_byte_tokens: bool = True) -> Path:
    """A dense model that the library takes for an expert."""
    return llama(path, shape or Shape(n_vocab=260), has_byte_tokens=has_byte_tokens)


def huge_chat_model(path: Path) -> Path:
    """Some 500 GiB of weights, which no test machine has in memory, in a file that takes some kilobytes of the disk."""
    return chat_model(path, Shape(300, 8192, 64, 8, 128, 28672, 260))


def llama(
    path: Path,
    shape: Shape | None = None,
    *,
    is_tied: bool = True,
    architecture: str = "llama",
    has_byte_tokens: bool = True,
) -> Path:
    """A dense model; `qwen3` has norms of queries and keys, `gemma3` sliding windows too."""
    shape = shape or Shape()
    metadata = _metadata(architecture, shape) | _words(shape.n_vocab, has_byte_tokens=has_byte_tokens)
    if architecture == "gemma3":
        metadata["gemma3.attention.sliding_window"] = 256
    tensors = [_tensor("token_embd.weight", shape.n_embd, shape.n_vocab), Tensor("output_norm.weight", (shape.n_embd,))]
    if not is_tied:
        tensors.append(_tensor("output.weight", shape.n_embd, shape.n_vocab))
    for layer in range(shape.n_layer):
        block = f"blk.{layer}."
        tensors += [*_attention(block, shape, has_norms=architecture != "llama"), *_norms(block, shape, "ffn_norm")]
        if architecture == "gemma3":
            tensors += _norms(block, shape, "post_attention_norm", "post_ffw_norm")
        tensors += _feed_forward(block, shape)
    return write_sparse(path, metadata, tensors)


def mixture(
    path: Path,
    shape: Shape | None = None,
    *,
    n_expert: int = 16,
    n_used: int = 4,
    n_ff: int = 256,
    metadata: Mapping[str, object] | None = None,
) -> Path:
    """Every layer has `n_expert` MoE experts."""
    shape = shape or Shape()
    numbers = _metadata("qwen3moe", shape) | {
        "qwen3moe.expert_count": n_expert,
        "qwen3moe.expert_used_count": n_used,
        "qwen3moe.expert_feed_forward_length": n_ff,
    }
    tensors = [_tensor("token_embd.weight", shape.n_embd, shape.n_vocab), Tensor("output_norm.weight", (shape.n_embd,))]
    for layer in range(shape.n_layer):
        block = f"blk.{layer}."
        tensors += [*_attention(block, shape, has_norms=True), *_norms(block, shape, "ffn_norm")]
        tensors += [
            Tensor(block + "ffn_gate_inp.weight", (shape.n_embd, n_expert)),
            _tensor(block + "ffn_gate_exps.weight", shape.n_embd, n_ff, n_expert),
            _tensor(block + "ffn_up_exps.weight", shape.n_embd, n_ff, n_expert),
            _tensor(block + "ffn_down_exps.weight", n_ff, shape.n_embd, n_expert),
        ]
    return write_sparse(path, numbers | dict(metadata or {}), tensors)


def seeded_mixture(
    path: Path, shape: Shape | None = None, *, n_expert: int = 32, n_used: int = 4, n_ff: int = 64, seed: int = 0
) -> Path:
    """A mixture with words and random weights, which computes: nonsense, but each token goes somewhere.

    What its gates are, `gate_of` tells.
    """
    from gguf import GGUFReader

    shape = shape or Shape(n_layer=8, n_embd=128, n_head=4, n_head_kv=2, head=32, n_vocab=260)
    hollow = mixture(path, shape, n_expert=n_expert, n_used=n_used, n_ff=n_ff, metadata=_letters(shape.n_vocab))
    rng = np.random.default_rng(seed)
    reader = GGUFReader(str(hollow), "r+")
    for tensor in reader.tensors:
        is_gate = "ffn_gate_inp" in tensor.name
        values = rng.standard_normal(tensor.data.shape, np.float32) * (0.5 if is_gate else 0.08)
        tensor.data[:] = np.ones_like(values) if "norm" in tensor.name else values
    reader.data.flush()
    return path


def gate_of(path: Path, layer: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """The gate of one layer: [n_expert, n_embd]."""
    from gguf import GGUFReader

    name = f"blk.{layer}.ffn_gate_inp.weight"
    return next(np.array(tensor.data) for tensor in GGUFReader(str(path)).tensors if tensor.name == name)


def _letters(n_vocab: int) -> dict[str, object]:
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [f"<0x{i:02X}>" if i < 256 else f"<{i}>" for i in range(n_vocab)],
        "tokenizer.ggml.scores": [0.0] * n_vocab,
        "tokenizer.ggml.token_type": [6 if i < 256 else 3 for i in range(n_vocab)],
        "tokenizer.chat_template": "{{ messages[0]['content'] }}",
    }


def short_convolution(path: Path, shape: Shape | None = None, *, attends: tuple[int, ...] = (2, 5)) -> Path:
    """LFM2: most layers are short convolutions, `attends` look at everything."""
    shape = shape or Shape(n_layer=6)
    metadata = _metadata("lfm2", shape)
    metadata["lfm2.attention.head_count_kv"] = [shape.n_head_kv * (i in attends) for i in range(shape.n_layer)]
    metadata["lfm2.shortconv.l_cache"] = 3
    n = shape.n_embd
    tensors = [_tensor("token_embd.weight", n, shape.n_vocab), Tensor("token_embd_norm.weight", (n,))]
    for layer in range(shape.n_layer):
        block = f"blk.{layer}."
        if layer in attends:
            tensors += _attention(block, shape, has_norms=True)
        else:
            tensors += [
                *_norms(block, shape, "attn_norm"),
                Tensor(block + "shortconv.conv.weight", (3, n)),
                _tensor(block + "shortconv.in_proj.weight", n, 3 * n),
                _tensor(block + "shortconv.out_proj.weight", n, n),
            ]
        tensors += [*_norms(block, shape, "ffn_norm"), *_feed_forward(block, shape)]
    return write_sparse(path, metadata, tensors)


def delta_net(path: Path, shape: Shape | None = None, *, n_draft: int = 0) -> Path:
    """Qwen3.5: three gated delta nets, then one gated attention; `n_draft` more blocks are not loaded."""
    shape = shape or Shape(n_layer=8)
    d_state, n_rank, n_group = 64, 8, 4
    d_inner, d_key = d_state * n_rank, d_state * n_group
    metadata = _metadata("qwen35", shape) | {
        "qwen35.block_count": shape.n_layer + n_draft,
        "qwen35.rope.dimension_sections": [16, 16, 0, 0],
        "qwen35.ssm.conv_kernel": 4,
        "qwen35.ssm.inner_size": d_inner,
        "qwen35.ssm.state_size": d_state,
        "qwen35.ssm.time_step_rank": n_rank,
        "qwen35.ssm.group_count": n_group,
        "qwen35.full_attention_interval": 4,
    }
    if n_draft:
        metadata["qwen35.nextn_predict_layers"] = n_draft
    n = shape.n_embd
    tensors = [_tensor("token_embd.weight", n, shape.n_vocab), Tensor("output_norm.weight", (n,))]
    for layer in range(shape.n_layer + n_draft):
        block = f"blk.{layer}."
        if (layer + 1) % 4 == 0 or layer >= shape.n_layer:
            tensors += _attention(block, shape, has_norms=True, is_gated=True)
        else:
            tensors += [
                *_norms(block, shape, "attn_norm"),
                _tensor(block + "attn_qkv.weight", n, 2 * d_key + d_inner),
                _tensor(block + "attn_gate.weight", n, d_inner),
                Tensor(block + "ssm_conv1d.weight", (4, 2 * d_key + d_inner)),
                Tensor(block + "ssm_dt.bias", (n_rank,)),
                Tensor(block + "ssm_a", (n_rank,)),
                _tensor(block + "ssm_beta.weight", n, n_rank),
                _tensor(block + "ssm_alpha.weight", n, n_rank),
                Tensor(block + "ssm_norm.weight", (d_state,)),
                _tensor(block + "ssm_out.weight", d_inner, n),
            ]
        tensors += [*_norms(block, shape, "post_attention_norm"), *_feed_forward(block, shape)]
        if layer >= shape.n_layer:
            tensors += [
                _tensor(block + "nextn.eh_proj.weight", 2 * n, n),
                *_norms(block + "nextn.", shape, "enorm", "hnorm"),
            ]
    return write_sparse(path, metadata, tensors)


def _metadata(architecture: str, shape: Shape) -> dict[str, object]:
    numbers: dict[str, object] = {
        "context_length": 131072,
        "embedding_length": shape.n_embd,
        "block_count": shape.n_layer,
        "attention.head_count": shape.n_head,
        "attention.head_count_kv": shape.n_head_kv,
        "attention.key_length": shape.head,
        "attention.value_length": shape.head,
        "feed_forward_length": shape.n_ff,
        "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 10000.0,
        "vocab_size": shape.n_vocab,
    }
    named = {f"{architecture}.{key}": value for key, value in numbers.items()}
    return {"general.architecture": architecture} | named | _words(shape.n_vocab)


def _words(n_vocab: int, *, has_byte_tokens: bool = True) -> dict[str, object]:
    """What makes a model an expert: a vocabulary and a chat template."""
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": [f"<0x{i:02X}>" if i < 256 and has_byte_tokens else f"<{i}>" for i in range(n_vocab)],
        "tokenizer.ggml.scores": [0.0] * n_vocab,
        "tokenizer.chat_template": "{{ messages[0]['content'] }}",
    }


def _tensor(name: str, *shape: int) -> Tensor:
    return Tensor(name, shape, F16)


def _norms(block: str, shape: Shape, *names: str) -> list[Tensor]:
    return [Tensor(f"{block}{name}.weight", (shape.n_embd,)) for name in names]


def _attention(block: str, shape: Shape, *, has_norms: bool, is_gated: bool = False) -> list[Tensor]:
    q, kv = shape.n_head * shape.head, shape.n_head_kv * shape.head
    norms = [Tensor(f"{block}attn_{name}_norm.weight", (shape.head,)) for name in ("q", "k")] if has_norms else []
    return [
        *_norms(block, shape, "attn_norm"),
        _tensor(block + "attn_q.weight", shape.n_embd, q * (2 if is_gated else 1)),
        _tensor(block + "attn_k.weight", shape.n_embd, kv),
        _tensor(block + "attn_v.weight", shape.n_embd, kv),
        _tensor(block + "attn_output.weight", q, shape.n_embd),
        *norms,
    ]


def _feed_forward(block: str, shape: Shape) -> list[Tensor]:
    return [
        _tensor(block + "ffn_gate.weight", shape.n_embd, shape.n_ff),
        _tensor(block + "ffn_up.weight", shape.n_embd, shape.n_ff),
        _tensor(block + "ffn_down.weight", shape.n_ff, shape.n_embd),
    ]
