"""A model may lie in several files, `NAME-00001-of-00003.gguf`; for the user and the engine it is one model."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.model_library.gguf_header import GgufHeader, check_chat_model, read_header

_SHARD = re.compile(r"(?P<prefix>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})\.gguf", re.DOTALL)
_MAX_SHARDS = 1000


@dataclass(frozen=True, slots=True)
class ModelOnDisk:
    """A whole, checked chat model: all its headers and files, the first of which is what the engine opens."""

    headers: tuple[GgufHeader, ...]
    paths: tuple[Path, ...]
    size_bytes: int

    @property
    def header(self) -> GgufHeader:
        """That of the first file, which describes the whole."""
        return self.headers[0]

    @property
    def path(self) -> Path:
        """The file to open."""
        return self.paths[0]


def read_model(path: Path) -> ModelOnDisk:
    """Read and check a model by any of its files; a later shard leads to the first.

    Raises what `read_header` and `check_chat_model` raise, and GGUF_SPLIT_INCOMPLETE with the name of the missing file.
    """
    header = read_header(path)
    if header.split_count == 1:
        check_chat_model(header)
        return ModelOnDisk((header,), (path,), header.size_bytes)
    paths = tuple(path.with_name(name) for name in shard_names(path.name, header))
    missing = next((shard for shard in paths if not shard.is_file()), None)
    if missing is not None:
        raise _incomplete(header, missing.name)
    first = header if paths[0] == path else read_header(paths[0])
    check_chat_model(first)
    headers = (first, *(read_header(shard) for shard in paths[1:]))
    check_shards(headers)
    return ModelOnDisk(headers, paths, sum(shard.size_bytes for shard in headers))


def shard_names(name: str, header: GgufHeader) -> tuple[str, ...]:
    """The file names of all shards of the model that has `header` in its file `name`.

    Raises GGUF_SPLIT_INCOMPLETE where the file is not named as llama.cpp, which finds the others by the name alone,
    needs it, and GGUF_DAMAGED for numbers that make no sense.
    """
    part, parts = header.split_no + 1, header.split_count
    if not 1 <= part <= parts <= _MAX_SHARDS:
        raise fail(ErrorCode.GGUF_DAMAGED, path=header.path, reason="split_number", value=part, expected=parts)
    match = _SHARD.fullmatch(name)
    prefix = match["prefix"] if match is not None else name.removesuffix(".gguf")
    names = tuple(f"{prefix}-{number:05d}-of-{parts:05d}.gguf" for number in range(1, parts + 1))
    if match is None or (int(match["part"]), int(match["parts"])) != (part, parts):
        raise _incomplete(header, names[part - 1])
    return names


def check_shards(headers: Sequence[GgufHeader]) -> None:
    """Raise GGUF_DAMAGED where these are not all shards of one model, in order."""
    for number, shard in enumerate(headers):
        if (shard.split_no, shard.split_count) != (number, len(headers)):
            raise fail(
                ErrorCode.GGUF_DAMAGED, path=shard.path, reason="split_number", value=shard.split_no, expected=number
            )
    first = headers[0]
    n_expected = first.metadata.get("split.tensors.count")
    n_found = sum(shard.n_tensors for shard in headers)
    if n_expected != n_found:
        raise fail(
            ErrorCode.GGUF_DAMAGED, path=first.path, reason="split_tensors", value=n_found, expected=str(n_expected)
        )


def _incomplete(header: GgufHeader, missing: str) -> LayaDeskError:
    part, parts = header.split_no + 1, header.split_count
    return fail(ErrorCode.GGUF_SPLIT_INCOMPLETE, path=header.path, part=part, parts=parts, missing=missing)


def shard_prefix(name: str) -> str:
    """What the file names of all shards begin with; the name itself where it is no shard's."""
    match = _SHARD.fullmatch(name)
    return name if match is None else match["prefix"]
