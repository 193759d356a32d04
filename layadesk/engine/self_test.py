"""Decodes a few tokens of a tiny model before any user's model is touched, so that a bad build is told as one.

A llama.cpp that was built for another CPU, or by a compiler that breaks its code (gcc 12 with AMX), loads, reports
itself healthy, and dies at the first prompt. The tiny model has the weight types of real ones, since each has its own
kernels, and several tokens go in one batch, since prompts and single tokens take different paths.
"""

import hashlib
import logging
import struct
import tempfile
import time
from pathlib import Path

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import LoadParams, SamplingParams
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend, DecodeOutcome, Expert
from layadesk.engine.batch import Batch

log = logging.getLogger(__name__)

FILE_NAME = "self-test.gguf"
N_PROMPT = 8
N_SINGLE = 3

_N_EMBD, _N_FF, _N_HEAD, _N_VOCAB, _N_LAYER = 256, 256, 4, 64, 2
_ALIGNMENT = 32

# enum gguf_type
_UINT32, _FLOAT32, _STRING = 4, 6, 8
# enum ggml_type -> weights per block, and how a block's bytes are laid out: pairs of "half-float scale" or "any bytes"
_F32, _Q4_0, _Q8_0, _Q4_K, _Q6_K = 0, 2, 8, 12, 14
_SCALE = -1
_BLOCKS: dict[int, tuple[int, tuple[int, ...]]] = {
    _Q4_0: (32, (_SCALE, 16)),
    _Q8_0: (32, (_SCALE, 32)),
    _Q4_K: (256, (_SCALE, _SCALE, 12, 128)),
    _Q6_K: (256, (128, 64, 16, _SCALE)),
}
_TINY_SCALE = struct.pack("<e", 0.002)  # keeps every sum far from infinity whatever the bytes are


def run_self_test(backend: Backend, cache_dir: Path) -> float:
    """Decode N_PROMPT tokens at once and N_SINGLE one by one; returns the milliseconds it took.

    Raises ENGINE_BAD_BUILD with `detail`. A build that is bad enough kills the process instead: the app sees that.
    """
    began = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix="layadesk-") as spare_dir:
            path = _write_model(cache_dir, Path(spare_dir))
            params = LoadParams(n_ctx=256, n_batch=64, n_ubatch=64, n_parallel=1, use_mmap=False)
            expert = backend.load(ExpertSpec("self-test", str(path), params), lambda _fraction: True)
        try:
            _decode_some(expert)
        finally:
            expert.close()
    except LayaDeskError as failure:
        detail = str(failure.facts.get("detail") or failure.facts.get("reason") or failure.code)
        raise fail(ErrorCode.ENGINE_BAD_BUILD, detail=detail) from failure
    return (time.perf_counter() - began) * 1000


def tiny_model() -> bytes:
    """A GGUF file: two layers, 64 tokens, no vocabulary, weights from a hash. The same bytes on every machine."""
    tensors = _tensors()
    entries = _metadata()
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entries)
    infos: list[bytes] = []
    blobs: list[bytes] = []
    offset = 0
    for name, shape, ggml_type in tensors:
        blob = _weights(name, shape, ggml_type)
        dimensions = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        infos.append(_string(name) + dimensions + struct.pack("<IQ", ggml_type, offset))
        blobs.append(blob + bytes(-len(blob) % _ALIGNMENT))
        offset += len(blobs[-1])
    head += b"".join(infos)
    return head + bytes(-len(head) % _ALIGNMENT) + b"".join(blobs)


def _decode_some(expert: Expert) -> None:
    sampler = expert.new_sampler(SamplingParams(temperature=0.0, repeat_penalty=1.0), 1)
    try:
        tokens = list(range(N_PROMPT))
        position = 0
        for _ in range(1 + N_SINGLE):
            batch = Batch()
            row = batch.add(tokens, 0, position=position, wants_logits=True)
            outcome = expert.decode(batch, None)
            if outcome is not DecodeOutcome.OK:
                raise fail(ErrorCode.ENGINE_BAD_BUILD, detail=f"decode: {outcome.name}")
            position += len(tokens)
            tokens = [sampler.sample(row)]
            if not 0 <= tokens[0] < expert.facts.n_vocab:
                raise fail(ErrorCode.ENGINE_BAD_BUILD, detail=f"token {tokens[0]}")
    finally:
        sampler.close()


def _write_model(cache_dir: Path, spare_dir: Path) -> Path:
    """The file in `cache_dir`, written anew where it is missing or damaged; in `spare_dir` where that cannot be."""
    content = tiny_model()
    path = cache_dir / FILE_NAME
    try:
        if path.is_file() and hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(content).digest():
            return path
        cache_dir.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".tmp")
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        log.info("the tiny model cannot be kept in the cache: %s", error)
        path = spare_dir / FILE_NAME
        path.write_bytes(content)
    return path


def _metadata() -> list[bytes]:
    numbers = {
        "llama.context_length": 256,
        "llama.embedding_length": _N_EMBD,
        "llama.block_count": _N_LAYER,
        "llama.feed_forward_length": _N_FF,
        "llama.attention.head_count": _N_HEAD,
        "llama.attention.head_count_kv": _N_HEAD,
        "llama.rope.dimension_count": _N_EMBD // _N_HEAD,
        "llama.vocab_size": _N_VOCAB,
    }
    texts = {"general.architecture": "llama", "general.name": "self-test", "tokenizer.ggml.model": "no_vocab"}
    entries = [_string(key) + struct.pack("<I", _STRING) + _string(value) for key, value in texts.items()]
    entries += [_string(key) + struct.pack("<II", _UINT32, value) for key, value in numbers.items()]
    entries.append(_string("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT32, 1e-5))
    return entries


def _tensors() -> list[tuple[str, tuple[int, ...], int]]:
    """Names, shapes (innermost first) and types: the first layer as in Q4_K_M files, the second as in Q4_0 and Q8_0."""
    tensors: list[tuple[str, tuple[int, ...], int]] = [
        ("token_embd.weight", (_N_EMBD, _N_VOCAB), _Q8_0),
        ("output_norm.weight", (_N_EMBD,), _F32),
        ("output.weight", (_N_EMBD, _N_VOCAB), _Q6_K),
    ]
    for layer, (attention, feed_forward) in enumerate([(_Q4_K, _Q6_K), (_Q8_0, _Q4_0)]):
        block = f"blk.{layer}."
        tensors += [(f"{block}{name}_norm.weight", (_N_EMBD,), _F32) for name in ("attn", "ffn")]
        tensors += [(f"{block}attn_{name}.weight", (_N_EMBD, _N_EMBD), attention) for name in ("q", "k", "v", "output")]
        tensors += [(f"{block}ffn_{name}.weight", (_N_EMBD, _N_FF), feed_forward) for name in ("gate", "up")]
        tensors.append((f"{block}ffn_down.weight", (_N_FF, _N_EMBD), feed_forward))
    return tensors


def _weights(name: str, shape: tuple[int, ...], ggml_type: int) -> bytes:
    n_weights = 1
    for size in shape:
        n_weights *= size
    if ggml_type == _F32:  # norms
        return struct.pack(f"<{n_weights}f", *([1.0] * n_weights))
    n_per_block, layout = _BLOCKS[ggml_type]
    n_blocks = n_weights // n_per_block
    noise = hashlib.shake_256(name.encode()).digest(n_blocks * sum(part for part in layout if part != _SCALE))
    blocks = bytearray()
    at = 0
    for _ in range(n_blocks):
        for part in layout:
            if part == _SCALE:
                blocks += _TINY_SCALE
            else:
                blocks += noise[at : at + part]
                at += part
    return bytes(blocks)


def _string(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded
