"""Entries of the inventory made from files: one model described by its header, or all that lie under `models/`."""

import logging
import os
import unicodedata
from pathlib import Path

import msgspec

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.models import ModelCard, Origin
from layadesk.model_library.catalogue import STARTER_MODEL_ID, Catalogue
from layadesk.model_library.inventory_file import InventoryEntry
from layadesk.model_library.model_ids import free_id, slug
from layadesk.model_library.safe_names import file_name
from layadesk.model_library.shards import ModelOnDisk, read_model

log = logging.getLogger(__name__)

_MAX_NAME = 100


def describe(model: ModelOnDisk, models_dir: Path, *, model_id: str, origin: Origin, now: float) -> InventoryEntry:
    """The entry of a checked model; a path below `models_dir` is stored relative to it."""
    header = model.header
    path = model.path
    inside = path.is_relative_to(models_dir)
    return InventoryEntry(
        model_id=model_id,
        name=_readable(header.name or "") or path.stem,
        path=path.relative_to(models_dir).as_posix() if inside else str(path),
        size_bytes=model.size_bytes,
        architecture=header.architecture or "",
        quantization=header.quantization,
        n_ctx_train=header.n_ctx_train,
        n_layer=header.n_layer,
        has_chat_template=header.chat_template is not None,
        origin=origin.value,
        installed_at=now,
        shards=tuple(shard.name for shard in model.paths[1:]),
    )


def entries_from_files(models_dir: Path, catalogue: Catalogue, *, now: float) -> tuple[InventoryEntry, ...]:
    """Every usable model in `models/` and its folders `models/<model id>/`; what is no chat model is passed over."""
    entries: dict[str, InventoryEntry] = {}
    seen: set[Path] = set()
    for path in gguf_files(models_dir):
        if path in seen:
            continue
        try:
            model = read_model(path)
        except LayaDeskError as error:
            log.info("passed over %s: %s", path, error)
            continue
        seen.update(model.paths)
        own_folder = path.parent != models_dir
        model_id = free_id(path.parent.name if own_folder else slug(path.name), entries)
        origin = Origin.DOWNLOADED if own_folder else Origin.IMPORTED
        if model_id == STARTER_MODEL_ID:
            origin = Origin.STARTER
        entry = describe(model, models_dir, model_id=model_id, origin=origin, now=now)
        card = catalogue.card(path.parent.name) if own_folder else None
        if card is not None:
            entry = _of_card(entry, card, model.path.name)
        entries[model_id] = entry
    return tuple(entries.values())


def _of_card(entry: InventoryEntry, card: ModelCard, name: str) -> InventoryEntry:
    """The entry of a file in the folder of a catalogue's model; which of its files it is, its name says."""
    names = {file_name(part.path): file.quantization for file in card.files for part in file.parts}
    is_first = entry.model_id == card.model_id
    return msgspec.structs.replace(
        entry,
        name=card.name if is_first else f"{card.name} {names.get(name, '')}".strip(),
        note=card.note,
        card_id=card.model_id,
        card_quantization=names.get(name),
    )


def _readable(name: str) -> str:
    """A name from a file, fit for a line on the screen: no control or direction characters, not endless."""
    kept = "".join(c for c in name if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(kept.split())[:_MAX_NAME]


def gguf_files(models_dir: Path) -> list[Path]:
    """The `.gguf` files in a folder and in its direct subfolders, sorted; empty where it cannot be read."""
    found: list[Path] = []
    for folder in (models_dir, *_folders(models_dir)):
        try:
            with os.scandir(folder) as items:
                found += sorted(Path(item.path) for item in items if item.name.lower().endswith(".gguf"))
        except OSError as error:
            log.info("cannot look into %s: %s", folder, error)
    return found


def _folders(models_dir: Path) -> list[Path]:
    try:
        with os.scandir(models_dir) as items:
            return sorted(Path(item.path) for item in items if item.is_dir())
    except OSError:
        return []
