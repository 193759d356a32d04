"""The models on this disk: those the program installed under `models/`, and those of the user, wherever they lie.

A user's file is listed where it is, never copied (reported fault D30) and never deleted. Every change reads the list
again under a lock between processes, so that the window and the command line can both import at once.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import InstalledModel, ModelCard, Origin
from layadesk.model_library.catalogue import STARTER_MODEL_ID, Catalogues
from layadesk.model_library.disk import copy_verified, process_lock
from layadesk.model_library.inventory_file import (
    InventoryContent,
    InventoryEntry,
    as_installed,
    files_of_entry,
    is_there,
    move_aside,
    read_inventory,
    second_copy,
    write_inventory,
)
from layadesk.model_library.model_ids import free_id, slug
from layadesk.model_library.scan import describe, entries_from_files, gguf_files
from layadesk.model_library.shards import read_model
from layadesk.paths import DataPaths, catalogue_file

log = logging.getLogger(__name__)


class Inventory:
    """Any thread. Nothing is created on disk until something is added."""

    def __init__(
        self,
        paths: DataPaths,
        catalogues: Catalogues | None = None,
        *,
        models_dir: Path | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._catalogues = catalogues or Catalogues()
        self._dir = _absolute(models_dir or paths.models)
        self._file = _absolute(paths.inventory)
        self._lock_file = self._file.with_suffix(".lock")
        self._now = now
        self._lock = threading.RLock()
        self._problems: tuple[ErrorReport, ...] = ()

    @property
    def is_new(self) -> bool:
        """Whether there never was a list here: nothing has been installed, and nothing removed."""
        return not self._file.exists()

    @property
    def problems(self) -> tuple[ErrorReport, ...]:
        """What was wrong with the list when it was last read; INVENTORY_DAMAGED reports."""
        return self._problems

    def list(self) -> tuple[InstalledModel, ...]:
        """All models in the order of their installation; one whose file has vanished has `is_present` False.

        Never raises. A list that is damaged as a whole is moved aside and made again from the files under `models/`.
        """
        with self._lock:
            content = self._read()
        return tuple(as_installed(entry, self._dir) for entry in content.entries)

    def find(self, model_id: str) -> InstalledModel | None:
        """The model of that id."""
        return next((model for model in self.list() if model.model_id == model_id), None)

    def files_of(self, model_id: str) -> tuple[Path, ...]:
        """All files of a model, the one that is opened first. Raises UNKNOWN_EXPERT."""
        return files_of_entry(self._entry(model_id), self._dir)

    def sums_of(self, model_id: str) -> Mapping[str, str]:
        """The sha256 that the files of a download were found to have, by their names. Raises UNKNOWN_EXPERT."""
        return self._entry(model_id).sums

    def _entry(self, model_id: str) -> InventoryEntry:
        with self._lock:
            entries = self._read().entries
        entry = next((entry for entry in entries if entry.model_id == model_id), None)
        if entry is None:
            raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id)
        return entry

    def files(self) -> tuple[Path, ...]:
        """All files of all models."""
        with self._lock:
            entries = self._read().entries
        return tuple(path for entry in entries for path in files_of_entry(entry, self._dir))

    def use_dir(self, models_dir: Path) -> None:
        """The models that the program installed lie there from now on; their files have been moved."""
        with self._lock:
            self._dir = _absolute(models_dir)

    def import_file(
        self,
        path: Path,
        *,
        origin: Origin = Origin.IMPORTED,
        model_id: str | None = None,
        name: str | None = None,
        note: str = "",
        card: tuple[str, str] | None = None,
        sums: Mapping[str, str] = MappingProxyType({}),
    ) -> InstalledModel:
        """Check a GGUF and list it where it lies; any shard of a split model stands for the whole.

        A file that is listed already gives the model it is, with its facts read again. MODEL_ALREADY_INSTALLED only
        where `model_id` belongs to another file that is present, or the file to another id. Else as `read_model`.
        `card` is the id and quantization of the catalogue's entry it came from.
        """
        model = read_model(_unicode(_absolute(path)))
        with self._lock, process_lock(self._lock_file):
            content = self._read_to_change()
            same = self._same_file(content, model.path)
            chosen = self._choose_id(content, model.path, same, wanted=model_id)
            entry = describe(model, self._dir, model_id=chosen, origin=origin, now=self._now())
            before = next((old for old in content.entries if old.model_id == chosen), None)
            if before is not None:
                entry = _continued(entry, before, same_place=same is not None)
            entry = msgspec.structs.replace(entry, name=name or entry.name, note=note or entry.note)
            if card is not None:
                entry = msgspec.structs.replace(
                    entry, card_id=card[0], card_quantization=card[1], sums=dict(sums) or entry.sums
                )
            write_inventory(self._file, content.with_entry(entry), content.document)
        return as_installed(entry, self._dir)

    def add_download(
        self, path: Path, card: ModelCard, quantization: str, sums: Mapping[str, str] = MappingProxyType({})
    ) -> InstalledModel:
        """List a file of the catalogue that was put under `models/`, under the card's id or one made from it.

        `sums` are the sha256 that its files were found to have, by their names.
        """
        models = self.list()
        listed = next((model.model_id for model in models if Path(model.path) == path), None)  # as when a list was lost
        taken = {model.model_id for model in models if model.is_present and model.model_id != listed}
        is_first = card.model_id not in taken
        wanted = card.model_id if is_first else free_id(slug(f"{card.model_id}-{quantization}"), taken)
        return self.import_file(
            path,
            origin=Origin.DOWNLOADED,
            model_id=listed or wanted,
            name=card.name if is_first else f"{card.name} {quantization}",
            note=card.note,
            card=(card.model_id, quantization),
            sums=sums,
        )

    def add_starter(self, source: Path, *, card: ModelCard | None = None) -> InstalledModel:
        """Copy the starter expert into `models/` and list it; quick when that was done before.

        `card` is what the file must be (size and sha256), by default the catalogue's starter; GGUF_DAMAGED when it
        is something else.
        """
        card = card or self._catalogues.current().card(STARTER_MODEL_ID)
        if card is None or not card.files:
            raise fail(ErrorCode.CATALOGUE_DAMAGED, path=str(catalogue_file()), detail=STARTER_MODEL_ID)
        file = card.files[0]
        target = self._dir / card.model_id / Path(file.path).name
        if not (is_there(target) and target.stat().st_size == file.size_bytes):
            found = read_model(_absolute(source))
            if file.size_bytes not in (None, found.size_bytes):
                facts = {"value": found.size_bytes, "expected": file.size_bytes}
                raise fail(ErrorCode.GGUF_DAMAGED, path=str(source), reason="size", **facts)
            copy_verified(found.path, target, sha256=file.parts[0].sha256)
        return self.import_file(target, origin=Origin.STARTER, model_id=card.model_id, name=card.name, note=card.note)

    def remove(self, model_id: str, *, delete_file: bool = False) -> None:
        """Forget a model. `delete_file` deletes what the program itself put under `models/`, never a user's file.

        Raises UNKNOWN_EXPERT.
        """
        with self._lock, process_lock(self._lock_file):
            content = self._read_to_change()
            entry = next((entry for entry in content.entries if entry.model_id == model_id), None)
            if entry is None:
                raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id)
            write_inventory(self._file, content.without(model_id), content.document)
            if delete_file and entry.origin != Origin.IMPORTED.value and not Path(entry.path).is_absolute():
                for file in files_of_entry(entry, self._dir):
                    file.unlink(missing_ok=True)

    def _read(self) -> InventoryContent:
        content = self._remembered(read_inventory(self._file))
        lost = content.is_damaged or (not content.exists and gguf_files(self._dir))
        if not lost:
            return content
        try:
            with process_lock(self._lock_file):
                return self._read_to_change()
        except LayaDeskError as error:  # a read-only or full disk: the list is made anew each time it is asked for
            log.info("the list of models cannot be written: %s", error)
            return self._made_from_files(content)

    def _read_to_change(self) -> InventoryContent:
        """For one that holds the lock between processes. Raises DISK_ERROR rather than lose a list."""
        content = self._remembered(read_inventory(self._file))
        if content.is_unreadable:
            raise fail(ErrorCode.DISK_ERROR, path=str(self._file), reason="unreadable")
        if content.exists and not content.is_damaged:
            return content
        made = self._made_from_files(content)
        if content.is_damaged:
            log.info("moved the damaged list of models to %s", move_aside(self._file))
        if content.is_damaged or made.rows:
            write_inventory(self._file, made.rows, made.document)
        return made

    def _made_from_files(self, content: InventoryContent) -> InventoryContent:
        copy = read_inventory(second_copy(self._file)) if content.is_damaged else InventoryContent()
        made = InventoryContent(copy.rows, copy.document, content.problems, exists=True)
        for entry in entries_from_files(self._dir, self._catalogues.current(), now=self._now()):
            if not any(known.path == entry.path for known in made.entries):
                made = made.plus(entry)
        return made

    def _remembered(self, content: InventoryContent) -> InventoryContent:
        if content.problems != self._problems:
            for report in content.problems:
                log.warning("the list of models: %s", dict(report.facts))
        self._problems = content.problems
        return content

    def _same_file(self, content: InventoryContent, path: Path) -> InventoryEntry | None:
        for entry in content.entries:
            other = self._dir / entry.path
            try:
                if other == path or other.samefile(path):  # a symlink, a hard link, another spelling
                    return entry
            except OSError:
                continue
        return None

    def _choose_id(
        self, content: InventoryContent, path: Path, same: InventoryEntry | None, *, wanted: str | None
    ) -> str:
        if same is not None:
            if wanted not in (None, same.model_id):
                raise fail(ErrorCode.MODEL_ALREADY_INSTALLED, path=str(path), model_id=same.model_id)
            return same.model_id
        holders = {entry.model_id: self._dir / entry.path for entry in content.entries}
        first = wanted or slug(path.name)
        holder = holders.get(first)
        if holder is None or (not is_there(holder) and (wanted is not None or holder.name == path.name)):
            return first  # a file that was moved keeps its id, and with it what refers to it
        if wanted is not None:
            raise fail(ErrorCode.MODEL_ALREADY_INSTALLED, path=str(holder), model_id=wanted)
        return free_id(first, holders)


def _continued(entry: InventoryEntry, before: InventoryEntry, *, same_place: bool) -> InventoryEntry:
    """The facts of `entry` under what the user and the program know this model by."""
    return msgspec.structs.replace(
        entry,
        name=before.name,
        note=before.note,
        origin=before.origin if entry.origin == Origin.IMPORTED else entry.origin,
        installed_at=before.installed_at,
        card_id=before.card_id,
        card_quantization=before.card_quantization,
        sums=before.sums,
        path=before.path if same_place else entry.path,
    )


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # not resolve(): a symlink stays the name the user knows the file by


def _unicode(path: Path) -> Path:
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:  # neither JSON nor the engine's pipe could carry it
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise fail(ErrorCode.MODEL_FILE_UNREADABLE, path=shown, reason="name_not_unicode") from error
    return path
