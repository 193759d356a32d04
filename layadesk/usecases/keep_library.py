"""What is done to the models on this disk: bring in, check, take off, move, clean up. Blocks; `Library` has threads."""

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import CardKind, FilePart, InstalledModel, ModelCard, ModelFile, Origin
from layadesk.model_library.disk import disk_failure
from layadesk.model_library.download_job import staging_of
from layadesk.model_library.find_files import models_below
from layadesk.model_library.library_disk import Leftover, LibraryDisk
from layadesk.model_library.move_models import ModelsMove
from layadesk.model_library.safe_names import file_name
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.model_rooms import ModelRooms

Progress = Callable[[int, int | None], None]  # how much is done, and of how much

_CHUNK = 1 << 20
# Laya writes this file anew when it loads a checkpoint, so it may differ without being damaged.
_REWRITTEN = "tokenizer/tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing a model would do. `is_users_file`: it is only forgotten unless its deletion is asked for."""

    model_id: str
    paths: tuple[str, ...]
    n_bytes: int
    is_users_file: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the files and folders that were given: models found, and why others were refused."""

    installed: tuple[InstalledModel, ...]
    refused: tuple[ErrorReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Verified:
    """Of each file its path, whether it is as it should be, and None where nobody knows how it should be."""

    model_id: str
    files: tuple[tuple[str, bool | None], ...]

    @property
    def is_damaged(self) -> bool:
        """Whether a file is not what it was."""
        return any(right is False for _, right in self.files)


class KeepLibrary:
    """One thread at a time."""

    def __init__(self, rooms: ModelRooms, settings: Settings) -> None:
        self._rooms = rooms
        self._settings = settings

    @property
    def _disk(self) -> LibraryDisk:
        return self._rooms.disk

    def leftovers(self) -> tuple[Leftover, ...]:
        """What no list knows, the unfinished downloads with their ids."""
        ids = {
            str(staging_of(self._disk.models_dir, card, file).folder): f"{card.model_id}:{file.quantization}"
            for card in self._rooms.catalogues.current().cards
            for file in card.files
        }
        return self._disk.leftovers(self._rooms.inventory.files(), ids)

    def delete_leftover(self, path: str) -> int:
        """Only what `leftovers` lists now. Raises BAD_PARAMETER, DISK_*."""
        found = next((one for one in self.leftovers() if one.path == path), None)
        if found is None:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="path", value=path)
        place = Path(path)
        try:
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink()
        except OSError as error:
            raise disk_failure(error, place) from error
        return found.n_bytes

    def removal(self, model_id: str) -> Removal:
        """Raises UNKNOWN_EXPERT."""
        model = self._rooms.inventory.find(model_id)
        if model is not None:
            paths = self._rooms.inventory.files_of(model_id)
            return Removal(model_id, _texts(paths), _bytes_of(paths), model.origin is Origin.IMPORTED)
        folder, card = self._checkpoint(model_id)
        paths = tuple(folder.joinpath(*part.path.split("/")) for part in card.files[0].parts)
        return Removal(model_id, _texts(paths), _bytes_of(paths), is_users_file=False)

    def remove(self, model_id: str, *, delete_users_file: bool) -> int:
        """The bytes that came free. Raises UNKNOWN_EXPERT, DISK_*."""
        planned = self.removal(model_id)
        deletes = delete_users_file or not planned.is_users_file
        if self._rooms.inventory.find(model_id) is not None:
            self._rooms.inventory.remove(model_id)
        for path in map(Path, planned.paths if deletes else ()):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise disk_failure(error, path) from error
        if not planned.is_users_file:
            self._disk.drop_empty(map(Path, planned.paths))
        return planned.n_bytes if deletes else 0

    def verify(self, model_id: str, progress: Progress) -> Verified:
        """Raises UNKNOWN_EXPERT, MODEL_FILE_MISSING, DISK_*."""
        files = tuple(self._expected(model_id))
        total, done = _bytes_of([path for path, _ in files]), 0
        verdicts: list[tuple[str, bool | None]] = []
        for path, sha256 in files:
            found, size = _sha256(path, partial(_onward, progress, done, total))
            done += size
            verdicts.append((str(path), None if sha256 is None else found == sha256))
        return Verified(model_id, tuple(verdicts))

    def import_files(self, paths: Sequence[str], progress: Progress) -> Imported:
        """List GGUF files where they lie; never raises for one of them. Where there is none, NO_MODEL_FOUND says so."""
        found: list[InstalledModel] = []
        refused: list[ErrorReport] = []
        candidates = list(models_below(Path(path).expanduser() for path in paths))
        for number, path in enumerate(candidates):
            progress(number, len(candidates))
            try:
                found.append(self._rooms.inventory.import_file(path))
            except LayaDeskError as error:
                refused.append(error.report)
        if not candidates:
            refused.append(ErrorReport(ErrorCode.NO_MODEL_FOUND, {"path": ", ".join(paths)}))
        progress(len(candidates), len(candidates))
        return Imported(tuple(dict.fromkeys(found)), tuple(refused))

    def move(self, new_dir: str, progress: Progress) -> int:
        """Bytes moved. Raises BAD_PARAMETER, NO_ROOM_FOR_DOWNLOAD, DISK_*; nothing has changed then."""
        room = self._disk.room()
        new = Path(new_dir).expanduser()
        move = ModelsMove(self._disk.models_dir, new, reserve_bytes=room.reserve_bytes)
        n_bytes = move.bring(progress)
        try:
            self._settings.set(definitions.MODELS_DIR, str(new.absolute()))
            self._rooms.inventory.use_dir(new)
        except LayaDeskError:
            move.undo()
            raise
        move.finish()
        return n_bytes

    def _expected(self, model_id: str) -> Iterator[tuple[Path, str | None]]:
        model = self._rooms.inventory.find(model_id)
        if model is None:
            folder, card = self._checkpoint(model_id)
            for part in card.files[0].parts:
                sha256 = None if part.path == _REWRITTEN else part.sha256
                yield folder.joinpath(*part.path.split("/")), sha256
            return
        parts, found = self._parts_of(model), self._rooms.inventory.sums_of(model_id)
        for path in self._rooms.inventory.files_of(model_id):
            known = parts.get(path.name)
            yield path, (None if known is None else known.sha256) or found.get(path.name)

    def _parts_of(self, model: InstalledModel) -> dict[str, FilePart]:
        card = self._rooms.catalogues.current().card(model.card_id or model.model_id)
        file: ModelFile | None = None
        if card is not None and model.origin is not Origin.IMPORTED:
            file = card.file(model.card_quantization or model.quantization or "")
        return {} if file is None else {file_name(part.path): part for part in file.parts}

    def _checkpoint(self, model_id: str) -> tuple[Path, ModelCard]:
        card = self._rooms.catalogues.current().card(model_id)
        folder = self._disk.checkpoint_dir(card) if card is not None and card.kind is CardKind.ROUTER else None
        if card is None or folder is None:
            known = ", ".join(model.model_id for model in self._rooms.inventory.list())
            raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id, known=known)
        return folder, card


def _onward(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _sha256(path: Path, progress: Callable[[int], None]) -> tuple[str, int]:
    digest, done = hashlib.sha256(), 0
    try:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
                done += len(chunk)
                progress(done)
    except FileNotFoundError as error:
        raise fail(ErrorCode.MODEL_FILE_MISSING, path=str(path)) from error
    except OSError as error:
        raise fail(ErrorCode.MODEL_FILE_UNREADABLE, path=str(path), reason=str(error)) from error
    return digest.hexdigest(), done


def _bytes_of(paths: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.is_file())


def _texts(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple(str(path) for path in paths)
