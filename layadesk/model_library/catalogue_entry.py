"""One entry of `models.json`, checked: a wrong sum would fail every download, a bad path could leave its folder."""

import re
from typing import Any

import msgspec

from layadesk.domain.models import CHECKPOINT, CardKind, FilePart, ModelCard, ModelFile, ThinkingFacts
from layadesk.domain.sampling_defaults import FIELDS, FLOAT_RANGES, INT_RANGES, SamplingDefaults
from layadesk.model_library.expert_table import strengths_from
from layadesk.model_library.safe_names import file_name, is_safe_id, is_safe_path
from layadesk.model_library.shards import shard_prefix

HUGGINGFACE = "huggingface:"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHECKPOINT_FILES = {"rl_agent_config.json", "model.safetensors"}


class _Part(msgspec.Struct):
    path: str
    size_bytes: int | None = None
    sha256: str | None = None


class _File(msgspec.Struct):
    quantization: str
    path: str | None = None
    size_bytes: int | None = None
    sha256: str | None = None
    parts: tuple[_Part, ...] = ()
    rounded_bytes: int | None = None
    source: str | None = None
    revision: str | None = None


class _Entry(msgspec.Struct):
    model_id: str
    name: str
    source: str
    license: str
    note: str
    languages: tuple[str, ...]
    files: tuple[_File, ...]
    kind: CardKind = CardKind.EXPERT
    revision: str | None = None
    modelscope: str | None = None
    license_url: str | None = None
    needs_consent: bool = False
    strengths: dict[str, Any] | None = None
    thinking: ThinkingFacts | None = None
    sampling: SamplingDefaults = SamplingDefaults()
    sampling_thinking: SamplingDefaults = SamplingDefaults()
    gguf: dict[str, int | bool | str | tuple[int, ...]] | None = None


def card_from(raw: object) -> ModelCard:
    """The card of an entry as JSON gave it. Raises ValueError with what is wrong."""
    entry = msgspec.convert(raw, _Entry)
    if not is_safe_id(entry.model_id):
        raise ValueError(f"model_id {entry.model_id!r}")
    if not entry.name:
        raise ValueError("no name")
    _check_source(entry.source, entry.revision)
    if entry.modelscope is not None and not _is_repository(entry.modelscope.partition("@")[0]):
        raise ValueError(f"modelscope {entry.modelscope!r}")
    if entry.license_url is not None and not entry.license_url.startswith("https://"):
        raise ValueError(f"license_url {entry.license_url!r}")
    return ModelCard(
        model_id=entry.model_id,
        name=entry.name,
        source=entry.source,
        license=entry.license,
        languages=entry.languages,
        note=entry.note,
        files=_files(entry),
        revision=entry.revision,
        sampling=_sampling(entry.sampling),
        gguf=entry.gguf or {},
        kind=entry.kind,
        license_url=entry.license_url,
        needs_consent=entry.needs_consent,
        strengths=None if entry.strengths is None else strengths_from(entry.strengths),
        thinking=entry.thinking,
        sampling_thinking=_sampling(entry.sampling_thinking),
        modelscope=entry.modelscope,
    )


def _check_source(source: str, revision: str | None) -> None:
    scheme, separator, where = source.partition(":")
    if not (scheme and separator and where):
        raise ValueError(f"source {source!r}")
    if source.startswith(HUGGINGFACE):
        if not _is_repository(where):
            raise ValueError(f"source {source!r}")
        if revision is not None and not _COMMIT.fullmatch(revision):
            raise ValueError(f"revision {revision!r}")


def _is_repository(name: str) -> bool:
    return _REPOSITORY.fullmatch(name) is not None and is_safe_path(name)


def _files(entry: _Entry) -> tuple[ModelFile, ...]:
    files = tuple(_file(file, entry) for file in entry.files)
    names = [file.quantization for file in files]
    if len(set(names)) != len(names):
        raise ValueError("two files of one quantization")
    if entry.kind is CardKind.ROUTER:
        if names != [CHECKPOINT] or not {part.path for part in files[0].parts} >= _CHECKPOINT_FILES:
            raise ValueError("a router has one checkpoint, with its model and its configuration")
        return files
    on_disk = [file_name(part.path).casefold() for file in files for part in file.parts]
    if len(set(on_disk)) != len(on_disk):  # they share a folder on this disk
        raise ValueError("two files of one name")
    return files


def _file(file: _File, entry: _Entry) -> ModelFile:
    raw = file.parts or ((_Part(file.path, file.size_bytes, file.sha256),) if file.path is not None else ())
    parts = tuple(_part(part) for part in raw)
    if not parts or not file.quantization:
        raise ValueError("a file without a quantization or a path")
    if entry.kind is CardKind.EXPERT:
        prefixes = {shard_prefix(file_name(part.path)) for part in parts}
        if len(parts) > 1 and (len(prefixes) > 1 or prefixes & {file_name(part.path) for part in parts}):
            raise ValueError(f"the parts of {file.quantization} are no shards of one model")
        if list(parts) != sorted(parts, key=lambda part: part.path):
            raise ValueError(f"the parts of {file.quantization} are not in order")
    if file.rounded_bytes is not None and file.rounded_bytes <= 0:
        raise ValueError(f"rounded_bytes {file.rounded_bytes}")
    source, revision = file.source or entry.source, file.revision if file.source else entry.revision
    _check_source(source, revision)
    return ModelFile(file.quantization, parts, source, revision, file.rounded_bytes)


def _part(part: _Part) -> FilePart:
    if not is_safe_path(part.path):
        raise ValueError(f"path {part.path!r}")
    if part.size_bytes is not None and part.size_bytes <= 0:
        raise ValueError(f"size_bytes {part.size_bytes} of {part.path}")
    if part.sha256 is not None and not _SHA256.fullmatch(part.sha256):
        raise ValueError(f"sha256 of {part.path}")
    return FilePart(part.path, part.size_bytes, part.sha256)


def _sampling(sampling: SamplingDefaults) -> SamplingDefaults:
    ranges = {**FLOAT_RANGES, **INT_RANGES}
    for name in FIELDS:
        value = getattr(sampling, name)
        if value is not None and not ranges[name][0] <= value <= ranges[name][1]:
            raise ValueError(f"sampling.{name} {value}")
    return sampling
