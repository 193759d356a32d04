"""`models.json`: the models this program knows by name, with facts only; what nobody has read is left out, not guessed.

Shape (schema_version 2); fields with `?` may be missing, unknown ones are ignored:

    {"schema_version": 2,
     "models": [
       {"model_id":  "qwen3.5-4b",                  stable for ever: conversations and settings refer to it
        "kind"?:     "expert",                      or "router": a Laya checkpoint
        "name":      "Qwen3.5 4B",
        "source":    "huggingface:owner/repository", or "python-package:name"
        "revision"?: "e87f1764…",                   of the source; 40 hexadecimal digits for huggingface
        "modelscope"?: "owner/repository@revision", where ModelScope has the same files
        "license":   "apache-2.0",                  as the file or its publisher names it
        "license_url"?: "https://…",                "needs_consent"?: true where it is not a plain open licence
        "languages": ["en"],                        as stated by the maker; empty: not stated
        "note":      "Tiny, English only ...",      what it is good for, or its limits
        "strengths"?: {"tasks": {"code": 0.9}, …},  as in expert_table.py; the user's table goes before it
        "thinking"?: {"switch": "enable_thinking", "by_default": true, "efforts": []},
        "sampling"?: {"temperature": 0.7, ...},     as its maker recommends, names of domain/sampling_defaults.py
        "sampling_thinking"?: {...},                the same for answers that begin with thinking
        "files":     [{"quantization": "Q4_K_M", "path": "model.gguf", "size_bytes"?: 1, "sha256"?: "b179..."},
                      {"quantization": "BF16", "parts": [{"path": ..., "size_bytes"?: ..., "sha256"?: ...}, ...]},
                      {…, "rounded_bytes"?: 1,      as a page shows it; for a first price, never compared
                          "source"?: …, "revision"?: …}],  where this file does not lie with the others
        "gguf"?:     {"general.architecture": "qwen3", "qwen3.block_count": 28, ...}]}]}

The first file is the one that is offered first. A router has one file, of quantization `checkpoint`. A size or sum that
is missing is asked of the hub at download. Without a revision it is the newest, whose files are held to the sums here.

`gguf` has the numbers of the file's own header, under its own keys, from which memory is priced before a download; of
ours is only `ARCHITECTURE.tie_embeddings`: the file has no output tensor, since the embeddings serve as one.

A user's `models.json` in the data directory has the same shape; its entries replace those of the same id or come after
the others. A bad entry is skipped and reported; the others stay usable.
"""

import json
import logging
import threading
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.models import ModelCard
from layadesk.domain.strengths import Strengths
from layadesk.model_library.catalogue_entry import card_from
from layadesk.paths import catalogue_file

log = logging.getLogger(__name__)

SCHEMA_VERSION = 2
STARTER_MODEL_ID = "smollm2-135m-instruct"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The cards in the order of the file, and a report for each entry left out: CATALOGUE_DAMAGED or, in the user's own
    file, OWN_CATALOGUE_DAMAGED."""

    cards: tuple[ModelCard, ...]
    problems: tuple[ErrorReport, ...] = ()

    def card(self, model_id: str) -> ModelCard | None:
        """The card of that id."""
        return next((card for card in self.cards if card.model_id == model_id), None)

    def overridden_by(self, other: "Catalogue") -> "Catalogue":
        """Both, an entry of `other` in place of ours with the same id."""
        cards = {card.model_id: card for card in self.cards} | {card.model_id: card for card in other.cards}
        return Catalogue(tuple(cards.values()), (*self.problems, *other.problems))


class Catalogues:
    """What ships, and the user's own file over it; each is read again when it has changed. Any thread, never raises."""

    def __init__(self, own: Path | None = None, shipped: Path | None = None) -> None:
        self._paths = tuple(path for path in (shipped or catalogue_file(), own) if path is not None)
        self._shipped = self._paths[0]
        self._lock = threading.Lock()
        self._stamps: tuple[tuple[int, int] | None, ...] | None = None
        self._catalogue = Catalogue(())

    def current(self) -> Catalogue:
        """The catalogue as it is now."""
        with self._lock:
            stamps = tuple(_stamp(path) for path in self._paths)
            if stamps != self._stamps:
                self._stamps = stamps
                self._catalogue = self._read(stamps)
            return self._catalogue

    def _read(self, stamps: tuple[tuple[int, int] | None, ...]) -> Catalogue:
        found = read_catalogue(self._shipped)
        for path, stamp in list(zip(self._paths, stamps, strict=True))[1:]:
            if stamp is not None:
                found = found.overridden_by(read_catalogue(path, ErrorCode.OWN_CATALOGUE_DAMAGED))
        return found


def shipped_strengths(catalogue: Catalogue) -> dict[str, Strengths]:
    """What the catalogue says each expert is good at, where it says so."""
    return {card.model_id: card.strengths for card in catalogue.cards if card.strengths is not None}


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size)


def read_catalogue(path: Path, code: ErrorCode = ErrorCode.CATALOGUE_DAMAGED) -> Catalogue:
    """Read a catalogue; never raises: without a usable file there are no cards and one problem. `code` is theirs."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        entries = document["models"]
        version = document["schema_version"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return Catalogue((), (_problem(code, path, None, f"{type(error).__name__}: {error}"),))
    if not isinstance(entries, list):
        return Catalogue((), (_problem(code, path, None, "models is no list"),))
    cards: dict[str, ModelCard] = {}
    problems: list[ErrorReport] = []
    if version != SCHEMA_VERSION:  # an older or newer file is read as far as it can be understood
        problems.append(_problem(code, path, None, f"schema_version {version!r}"))
    for number, raw in enumerate(entries):
        try:
            card = _new_card(raw, cards)
        except ValueError as error:  # msgspec.ValidationError is one
            problems.append(_problem(code, path, number, f"{_called(raw)}{error}"))
        else:
            cards[card.model_id] = card
    return Catalogue(tuple(cards.values()), tuple(problems))


def _called(raw: object) -> str:
    name = raw.get("model_id") if isinstance(raw, dict) else None
    return f"{name}: " if isinstance(name, str) else ""


def _new_card(raw: object, taken: Container[str]) -> ModelCard:
    card = card_from(raw)
    if card.model_id in taken:
        raise ValueError(f"a second {card.model_id}")
    return card


def _problem(code: ErrorCode, path: Path, number: int | None, detail: str) -> ErrorReport:
    log.warning("catalogue %s, entry %s: %s", path, number, detail)
    return ErrorReport(code, {"path": str(path), "entry": number, "detail": detail[:200]})
