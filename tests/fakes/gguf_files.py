"""Small GGUF files, whole or wrong in one chosen way, written byte by byte: only headers, the weights are zeros."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from layadesk.model_library.gguf_types import tensor_bytes

U32, I32, F32, BOOL, STRING, ARRAY, U64 = 4, 5, 6, 7, 8, 9, 10
_CODES = {0: "B", 1: "b", 2: "H", 3: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True)
class Typed:
    """A value of a type other than the one its Python type stands for."""

    type_id: int
    value: object


@dataclass(frozen=True)
class Tensor:
    """A tensor whose data are zeros. `offset` and `size_bytes` are computed unless a wrong one is wanted."""

    name: str
    shape: tuple[int, ...] = (32, 2)
    type_id: int = 0
    offset: int | None = None
    size_bytes: int | None = None


Metadata = Mapping[str, object] | Sequence[tuple[str, object]]

TENSORS = (Tensor("token_embd.weight"), Tensor("blk.0.attn_q.weight", (32, 32), 2), Tensor("output_norm.weight", (32,)))


def chat_metadata(architecture: str = "llama", **more: object) -> dict[str, object]:
    """What a small chat model of that architecture says about itself; dots in names of `more` are written as `__`."""
    metadata: dict[str, object] = {
        "general.architecture": architecture,
        "general.name": "Tiny Chat",
        "general.file_type": 2,
        f"{architecture}.context_length": 512,
        f"{architecture}.embedding_length": 32,
        f"{architecture}.block_count": 1,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "你好"],
        "tokenizer.ggml.scores": [0.0, 0.0, 0.0, -1.0],
        "tokenizer.chat_template": "{{ messages[0]['content'] }}",
    }
    metadata.update({key.replace("__", "."): value for key, value in more.items()})
    return metadata


def packed_text(text: str | bytes, order: str = "<") -> bytes:
    """A length and the bytes."""
    raw = text if isinstance(text, bytes) else text.encode()
    return struct.pack(order + "Q", len(raw)) + raw


def packed_value(value: object, order: str = "<") -> bytes:
    """A value type and the value."""
    if isinstance(value, Typed):
        if value.type_id not in _CODES:
            assert isinstance(value.value, bytes)
            return struct.pack(order + "I", value.type_id) + value.value
        return struct.pack(order + "I" + _CODES[value.type_id], value.type_id, value.value)
    if isinstance(value, str | bytes):
        return struct.pack(order + "I", STRING) + packed_text(value, order)
    if isinstance(value, list | tuple):
        return struct.pack(order + "I", ARRAY) + _packed_array(value, order)
    kind = BOOL if isinstance(value, bool) else F32 if isinstance(value, float) else U32
    return struct.pack(order + "I" + _CODES[kind], kind, value)


def _packed_array(values: Sequence[object], order: str) -> bytes:
    first = values[0] if values else 0
    if isinstance(first, str):
        return struct.pack(order + "IQ", STRING, len(values)) + b"".join(packed_text(str(v), order) for v in values)
    kind = BOOL if isinstance(first, bool) else F32 if isinstance(first, float) else I32
    return struct.pack(f"{order}IQ{len(values)}{_CODES[kind]}", kind, len(values), *values)


def gguf_bytes(
    metadata: Metadata | None = None,
    tensors: Iterable[Tensor] = TENSORS,
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    order: str = "<",
    alignment: int = 32,
    n_keys: int | None = None,
    n_tensors: int | None = None,
) -> bytes:
    """A whole file; `n_keys` and `n_tensors` lie when given."""
    pairs = list(
        (chat_metadata() if metadata is None else metadata).items()
        if metadata is None or isinstance(metadata, Mapping)
        else metadata
    )
    entries, size = [], 0
    for tensor in (all_tensors := list(tensors)):
        n_bytes = tensor_bytes(tensor.type_id, tensor.shape) if tensor.size_bytes is None else tensor.size_bytes
        offset = size if tensor.offset is None else tensor.offset
        dims = struct.pack(f"{order}I{len(tensor.shape)}Q", len(tensor.shape), *tensor.shape)
        entries.append(packed_text(tensor.name, order) + dims + struct.pack(order + "IQ", tensor.type_id, offset))
        size += (n_bytes + alignment - 1) // alignment * alignment
    head = magic + struct.pack(
        order + "IQQ",
        version,
        len(all_tensors) if n_tensors is None else n_tensors,
        len(pairs) if n_keys is None else n_keys,
    )
    body = b"".join(packed_text(key, order) + packed_value(value, order) for key, value in pairs)
    front = head + body + b"".join(entries)
    padding = b"\0" * (-len(front) % alignment) if all_tensors else b""
    return front + padding + b"\0" * size


def write_gguf(path: Path, metadata: Metadata | None = None, tensors: Iterable[Tensor] = TENSORS) -> Path:
    """A whole file at `path`, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf_bytes(metadata, tensors))
    return path


def write_shards(folder: Path, prefix: str = "big", parts: int = 3) -> tuple[Path, ...]:
    """One model in several files, one tensor in each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(parts):
        split: dict[str, object] = {
            "split.no": Typed(2, number),
            "split.count": Typed(2, parts),
            "split.tensors.count": Typed(I32, parts),
        }
        metadata = {**chat_metadata(), **split} if number == 0 else split
        path = folder / f"{prefix}-{number + 1:05d}-of-{parts:05d}.gguf"
        path.write_bytes(gguf_bytes(metadata, [Tensor(f"blk.{number}.attn_q.weight", (32, 32), 2)]))
        paths.append(path)
    return tuple(paths)
