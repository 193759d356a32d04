"""What a GGUF says about itself, and whether this program can chat with it: known before the engine sees the file.

`read_header` finds files that are damaged, cut short or no GGUF; `check_chat_model` those that are whole but no chat
model. Both raise a UserError with the path and the numbers.
"""

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.models import NotChatKind
from layadesk.model_library import architectures
from layadesk.model_library.byte_source import ByteSource, FileSource
from layadesk.model_library.foreign_files import looks_like
from layadesk.model_library.gguf_reader import (
    MAX_KEYS,
    MAX_TENSORS,
    GgufReader,
    MetaValue,
    TensorEntry,
)
from layadesk.model_library.gguf_types import DEFAULT_ALIGNMENT, FILE_TYPES

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
MAX_LAYERS = 512  # LLAMA_MAX_LAYERS
MAX_EXPERTS = 1024  # LLAMA_MAX_EXPERTS
_TOKENS = "tokenizer.ggml.tokens"


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The front of one GGUF file. `metadata` lacks what was too long to keep; `array_lengths` has every array.

    `size_bytes` is the file's own size; of a model in several shards see `shards.py`.
    """

    path: str
    size_bytes: int
    version: int
    alignment: int
    data_offset: int
    metadata: Mapping[str, MetaValue] = field(repr=False)
    array_lengths: Mapping[str, int] = field(repr=False)
    tensors: tuple[TensorEntry, ...] = field(repr=False)

    @property
    def architecture(self) -> str | None:
        """`general.architecture`, for instance `llama`; None where the file names none."""
        return self.text("general.architecture")

    @property
    def general_type(self) -> str | None:
        """`model`, `adapter`, `mmproj`, `imatrix`; None in older files."""
        return self.text("general.type")

    @property
    def name(self) -> str | None:
        """The name its maker gave it; often that of a checkpoint."""
        return self.text("general.name")

    @property
    def n_ctx_train(self) -> int | None:
        """Tokens it was trained for."""
        return self.count("context_length")

    @property
    def n_layer(self) -> int | None:
        """Blocks, without the output layer (`block_count`)."""
        return self.count("block_count")

    @property
    def n_embd(self) -> int | None:
        """Width of the residual stream."""
        return self.count("embedding_length")

    @property
    def n_vocab(self) -> int | None:
        """Tokens of its vocabulary."""
        n_tokens = self.array_lengths.get(_TOKENS)
        return self.count("vocab_size") if n_tokens is None else n_tokens

    @property
    def chat_template(self) -> str | None:
        """The Jinja source; None for base models."""
        return self.text("tokenizer.chat_template") or None

    @property
    def file_type(self) -> int | None:
        """`general.file_type`; see `gguf_types.FILE_TYPES`."""
        value = self.metadata.get("general.file_type")
        return value if isinstance(value, int) else None

    @property
    def quantization(self) -> str | None:
        """`Q4_K_M` and the like; where the file does not say, the type that most of its bytes have."""
        named = FILE_TYPES.get(self.file_type) if self.file_type is not None else None
        if named is not None:
            return named
        weight: dict[str, int] = {}
        for tensor in self.tensors:
            weight[tensor.type_name] = weight.get(tensor.type_name, 0) + tensor.size_bytes
        return max(weight, key=lambda name: weight[name]) if weight else None

    @property
    def n_tensors(self) -> int:
        """Tensors in this file."""
        return len(self.tensors)

    @property
    def n_parameters(self) -> int:
        """Elements of all tensors in this file."""
        return sum(tensor.n_elements for tensor in self.tensors)

    @property
    def weights_bytes(self) -> int:
        """Bytes of all tensors in this file, without padding."""
        return sum(tensor.size_bytes for tensor in self.tensors)

    @property
    def split_count(self) -> int:
        """Shards of the model; 1 for a model in one file."""
        return max(self._plain_count("split.count"), 1)

    @property
    def split_no(self) -> int:
        """Which shard this is, from 0."""
        return self._plain_count("split.no")

    def text(self, key: str) -> str | None:
        """A string of the metadata, or None."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def count(self, key: str) -> int | None:
        """A number under the architecture's own prefix, for instance `block_count` → `llama.block_count`."""
        value = self.metadata.get(f"{self.architecture}.{key}")
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def _plain_count(self, key: str) -> int:
        value = self.metadata.get(key)
        return value if isinstance(value, int) else 0


def read_header(path: Path) -> GgufHeader:
    """Read the front of a GGUF; some ms for most files. Raises MODEL_FILE_* and GGUF_* errors, nothing else.

    Checked: magic, version, every length against the file's size, each tensor's end against the file's size, and what
    llama.cpp's own reader refuses or aborts on.
    """
    try:
        size = _regular_size(path)
        with path.open("rb") as file:
            return read_source(FileSource(file, str(path), size))
    except FileNotFoundError as error:
        raise fail(ErrorCode.MODEL_FILE_MISSING, path=str(path)) from error
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte in it
        raise fail(ErrorCode.MODEL_FILE_UNREADABLE, path=str(path), reason=str(error)) from error


def _regular_size(path: Path) -> int:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):  # a named pipe would block for ever
        reason = "directory" if stat.S_ISDIR(status.st_mode) else "not_a_file"
        raise fail(ErrorCode.MODEL_FILE_UNREADABLE, path=str(path), reason=reason)
    if status.st_size == 0:
        raise fail(ErrorCode.GGUF_EMPTY, path=str(path))
    return status.st_size


def read_source(source: ByteSource) -> GgufHeader:
    """Read the front of a GGUF wherever it lies: as `read_header`, and with the errors of the source."""
    size, path = source.size_bytes, source.name
    reader = GgufReader(source)
    head = reader.take(min(size, 512))
    if head[:4] != _MAGIC:
        if _MAGIC.startswith(head):
            raise reader.truncated(24)
        raise fail(ErrorCode.GGUF_NOT_GGUF, path=path, looks_like=looks_like(head))
    reader.rewind(4)
    version = reader.number("I")
    if version not in _VERSIONS:
        raise _wrong_version(version, path)
    n_tensors, n_keys = reader.number("Q"), reader.number("Q")
    if n_keys > MAX_KEYS or n_tensors > MAX_TENSORS:
        raise reader.damaged("counts", keys=min(n_keys, 2**63), tensors=min(n_tensors, 2**63))
    metadata, array_lengths = reader.metadata(n_keys)
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise reader.damaged("alignment", value=str(alignment)[:40])
    tensors = reader.tensors(n_tensors)
    data_offset = _padded(reader.position, alignment) if tensors else reader.position
    _check_extents(reader, tensors, data_offset, size=size, alignment=alignment)
    return GgufHeader(path, size, version, alignment, data_offset, metadata, array_lengths, tensors)


def _wrong_version(version: int, path: str) -> LayaDeskError:
    swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
    big_endian = version > max(_VERSIONS) and swapped <= max(_VERSIONS)
    return fail(
        ErrorCode.GGUF_VERSION,
        path=path,
        version=swapped if big_endian else version,
        byte_order="big" if big_endian else "little",
    )


def _check_extents(
    reader: GgufReader, tensors: tuple[TensorEntry, ...], data_offset: int, *, size: int, alignment: int
) -> None:
    expected = 0
    last: TensorEntry | None = None
    beyond: TensorEntry | None = None
    for tensor in tensors:
        if tensor.offset != expected:
            raise reader.damaged("offset", tensor=tensor.name, value=tensor.offset, expected=expected)
        expected = _padded(expected + tensor.size_bytes, alignment)
        last = tensor
        if beyond is None and data_offset + tensor.offset + tensor.size_bytes > size:
            beyond = tensor
    if last is not None and beyond is not None:
        raise reader.truncated(data_offset + last.offset + last.size_bytes, tensor=beyond.name)


def _padded(n: int, alignment: int) -> int:
    return (n + alignment - 1) & -alignment


def check_chat_model(header: GgufHeader) -> None:
    """Return if the engine can chat with it; of a model in shards, give the first one.

    Raises GGUF_NOT_CHAT (fact `kind`), GGUF_UNKNOWN_ARCHITECTURE, GGUF_NO_VOCABULARY, or GGUF_DAMAGED for numbers
    that would abort llama.cpp.
    """
    kind = _other_kind(header)
    if kind is not None:
        raise _not_chat(header, kind)
    if header.split_no != 0:
        raise fail(
            ErrorCode.GGUF_NOT_CHAT,
            path=header.path,
            kind=NotChatKind.SPLIT_PART,
            part=header.split_no + 1,
            parts=header.split_count,
        )
    if header.architecture not in architectures.CHAT:
        raise fail(ErrorCode.GGUF_UNKNOWN_ARCHITECTURE, path=header.path, architecture=header.architecture)
    if not header.tensors and header.split_count == 1:
        raise _not_chat(header, NotChatKind.VOCAB_ONLY)
    if header.text("tokenizer.ggml.model") in (None, "no_vocab", "none") or not header.array_lengths.get(_TOKENS):
        raise fail(ErrorCode.GGUF_NO_VOCABULARY, path=header.path)
    _check_numbers(header)


def _other_kind(header: GgufHeader) -> NotChatKind | None:
    kind = architectures.NOT_CHAT_TYPES.get(header.general_type or "")
    if kind is not None:
        return kind
    if header.architecture in architectures.NOT_CHAT:
        return architectures.NOT_CHAT[header.architecture]
    if header.architecture not in architectures.CHAT:
        is_image = any(tensor.name.startswith(architectures.DIFFUSION_TENSORS) for tensor in header.tensors)
        return NotChatKind.DIFFUSION if is_image else None
    if header.count("pooling_type") == 4:
        return NotChatKind.RERANKER
    if header.count("pooling_type") or header.metadata.get(f"{header.architecture}.attention.causal") is False:
        return NotChatKind.EMBEDDING  # Qwen3-Embedding and its like use a chat architecture
    return None


def _not_chat(header: GgufHeader, kind: NotChatKind) -> LayaDeskError:
    return fail(ErrorCode.GGUF_NOT_CHAT, path=header.path, kind=kind, architecture=header.architecture)


def _check_numbers(header: GgufHeader) -> None:
    """The hyperparameters that llama.cpp needs, or guards with an abort() of the whole engine (llama-model.cpp)."""
    for key, maximum in (("context_length", 2**31 - 1), ("embedding_length", 2**31 - 1), ("block_count", MAX_LAYERS)):
        value = header.count(key)
        if value is None or not 0 < value <= maximum:
            raise fail(ErrorCode.GGUF_DAMAGED, path=header.path, reason="hyperparameter", key=key, value=value)
    n_expert = header.count("expert_count") or 0
    if n_expert <= 1 and header.architecture in ("hunyuan-dense", "hunyuan_vl"):
        return  # llama.cpp takes one expert for none there
    used = header.metadata.get(f"{header.architecture}.expert_used_count", 0)
    n_used = max(used, default=0) if isinstance(used, tuple) else used
    if not isinstance(n_used, int) or n_expert > MAX_EXPERTS or n_used > n_expert or (n_expert > 0) != (n_used > 0):
        raise fail(
            ErrorCode.GGUF_DAMAGED, path=header.path, reason="hyperparameter", key="expert_count", value=n_expert
        )
