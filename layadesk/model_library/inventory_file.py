"""`models/inventory.json` on disk: read entry by entry, so that one bad entry costs only itself; written atomically.

    {"schema_version": 1, "models": [{"model_id": ..., "path": ..., ...}]}

A path below `models/` is stored relative to it, so the data directory can be moved. Entries and fields of a newer
version, and entries that cannot be read, are carried along when the file is written.
"""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.models import InstalledModel, Origin
from layadesk.model_library.disk import write_atomically

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1


class InventoryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One installed model as stored; `shards` are the other files of a split model, `sums` sha256 by file name."""

    model_id: str
    name: str
    path: str
    size_bytes: int
    architecture: str
    quantization: str | None = None
    n_ctx_train: int | None = None
    n_layer: int | None = None
    has_chat_template: bool = False
    origin: str = Origin.IMPORTED.value
    installed_at: float = 0.0
    note: str = ""
    shards: tuple[str, ...] = ()
    card_id: str | None = None
    card_quantization: str | None = None
    sums: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Row:
    """An entry with the JSON it came from; `entry` is None where that JSON could not be understood."""

    raw: Mapping[str, object]
    entry: InventoryEntry | None


@dataclass(frozen=True, slots=True)
class InventoryContent:
    """The file as read. `is_damaged`: its text is no list; `is_unreadable`: the system would not give us its text."""

    rows: tuple[Row, ...] = ()
    document: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[ErrorReport, ...] = ()
    exists: bool = False
    is_damaged: bool = False
    is_unreadable: bool = False

    @property
    def entries(self) -> tuple[InventoryEntry, ...]:
        """The usable entries."""
        return tuple(row.entry for row in self.rows if row.entry is not None)

    def with_entry(self, entry: InventoryEntry) -> tuple[Row, ...]:
        """All rows, that one added or in place of the one with its id."""
        old = next((row for row in self.rows if row.entry and row.entry.model_id == entry.model_id), None)
        new = Row({**(old.raw if old else {}), **msgspec.to_builtins(entry)}, entry)
        return (*self.rows, new) if old is None else tuple(new if row is old else row for row in self.rows)

    def plus(self, entry: InventoryEntry) -> "InventoryContent":
        """The same with one more entry."""
        return replace(self, rows=self.with_entry(entry))

    def without(self, model_id: str) -> tuple[Row, ...]:
        """All rows but those of that id."""
        return tuple(row for row in self.rows if row.entry is None or row.entry.model_id != model_id)


def read_inventory(path: Path) -> InventoryContent:
    """Never raises: an unreadable file is said in `problems`."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return InventoryContent()
    except OSError as error:
        return InventoryContent(problems=(problem(path, None, str(error)),), exists=True, is_unreadable=True)
    except (ValueError, RecursionError) as error:
        return InventoryContent(problems=(problem(path, None, str(error)),), exists=True, is_damaged=True)
    models = document.get("models") if isinstance(document, dict) else None
    if not isinstance(models, list):
        return InventoryContent(problems=(problem(path, None, "models is no list"),), exists=True, is_damaged=True)
    rows: list[Row] = []
    problems: list[ErrorReport] = []
    ids: set[str] = set()
    for number, raw in enumerate(models):
        entry, detail = _entry(raw, ids)
        if entry is None:
            problems.append(problem(path, number, detail))
        else:
            ids.add(entry.model_id)
        if isinstance(raw, dict):
            rows.append(Row(raw, entry))
    return InventoryContent(tuple(rows), document, tuple(problems), exists=True)


def _entry(raw: object, taken: set[str]) -> tuple[InventoryEntry | None, str]:
    try:
        entry = msgspec.convert(raw, InventoryEntry)
    except msgspec.ValidationError as error:
        return None, str(error)
    if not entry.model_id or not entry.path or entry.model_id in taken:
        return None, f"empty, or a second {entry.model_id}"
    return entry, ""


def write_inventory(path: Path, rows: tuple[Row, ...], document: Mapping[str, object]) -> None:
    """Replace the file, and then its second copy. Raises what `disk_failure` says."""
    whole = {"schema_version": SCHEMA_VERSION, **document, "models": [dict(row.raw) for row in rows]}
    written = (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
    write_atomically(path, written)
    write_atomically(second_copy(path), written)


def second_copy(path: Path) -> Path:
    """Where the same list lies again; only it knows the user's own files once the first is damaged."""
    return path.with_name(f"{path.name}.bak")


def move_aside(path: Path) -> Path | None:
    """Rename a damaged file so that nothing of it is lost; None where that is not allowed."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    number = 1
    while aside.exists():  # twice within a second
        number += 1
        aside = path.with_name(f"{path.stem}.damaged-{stamp}-{number}{path.suffix}")
    try:
        path.replace(aside)
    except OSError as error:
        log.warning("could not move %s aside: %s", path, error)
        return None
    return aside


def problem(path: Path, number: int | None, detail: str) -> ErrorReport:
    """A report of INVENTORY_DAMAGED; `entry` None means the whole file."""
    return ErrorReport(ErrorCode.INVENTORY_DAMAGED, {"path": str(path), "entry": number, "detail": detail[:200]})


def files_of_entry(entry: InventoryEntry, models_dir: Path) -> tuple[Path, ...]:
    """All its files, the one that is opened first."""
    path = models_dir / entry.path  # an absolute path stays what it is
    return (path, *(path.with_name(name) for name in entry.shards))


def as_installed(entry: InventoryEntry, models_dir: Path) -> InstalledModel:
    """The entry as the rest of the program sees it; looks whether its files are there."""
    files = files_of_entry(entry, models_dir)
    origin = entry.origin if entry.origin in set(Origin) else Origin.IMPORTED
    return InstalledModel(
        model_id=entry.model_id,
        name=entry.name,
        path=str(files[0]),
        size_bytes=entry.size_bytes,
        architecture=entry.architecture,
        quantization=entry.quantization,
        n_ctx_train=entry.n_ctx_train,
        n_layer=entry.n_layer,
        has_chat_template=entry.has_chat_template,
        origin=Origin(origin),
        installed_at=entry.installed_at,
        note=entry.note,
        is_present=all(is_there(file) for file in files),
        card_id=entry.card_id,
        card_quantization=entry.card_quantization,
    )


def is_there(path: Path) -> bool:
    """Whether a file lies there that can be seen; a folder we may not enter counts as empty."""
    try:
        return path.is_file()
    except OSError:
        return False
