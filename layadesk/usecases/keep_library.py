"""What is done to the models on this disk: bring in, check, take off, move, clean up. Blocks; `Library` has threads."""

import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import InstalledModel, Origin
from layadesk.model_library.disk import disk_failure
from layadesk.model_library.download_job import is_in_use, staging_of
from layadesk.model_library.find_files import models_below
from layadesk.model_library.library_disk import Leftover, LibraryDisk
from layadesk.model_library.move_models import ModelsMove
from layadesk.model_library.verify import Progress
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.model_rooms import ModelRooms


@dataclass(frozen=True, slots=True)
class Removal:
    """What removing a model would do; `n_bytes` is what comes free where its files are deleted.

    `is_users_file`: it is only forgotten unless its deletion is asked for.
    """

    model_id: str
    paths: tuple[str, ...]
    n_bytes: int
    is_users_file: bool


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the files and folders that were given: models found, and why others were refused."""

    installed: tuple[InstalledModel, ...]
    refused: tuple[ErrorReport, ...] = ()


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

    def leftover(self, path: str) -> Leftover:
        """What `leftovers` lists now at that place. Raises NO_LEFTOVER."""
        wanted = Path(path).absolute()
        found = next((one for one in self.leftovers() if Path(one.path).absolute() == wanted), None)
        if found is None:
            raise fail(ErrorCode.NO_LEFTOVER, path=path)
        return found

    def check_unused(self, leftover: Leftover) -> None:
        """Raises DOWNLOAD_ELSEWHERE where a download is writing there now."""
        if is_in_use(Path(leftover.path)):
            raise fail(ErrorCode.DOWNLOAD_ELSEWHERE, model_id=leftover.download_id, path=leftover.path)

    def delete_leftover(self, leftover: Leftover) -> None:
        """Raises DOWNLOAD_ELSEWHERE, DISK_*."""
        self.check_unused(leftover)
        place = Path(leftover.path)
        try:
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)
        except OSError as error:
            raise disk_failure(error, place) from error

    def removal(self, model_id: str) -> Removal:
        """Raises MODEL_NOT_HERE."""
        paths = [path for path, _ in self._rooms.verifier.expected(model_id)]
        model = self._rooms.inventory.find(model_id)
        is_users_file = model is not None and model.origin is Origin.IMPORTED
        return Removal(model_id, tuple(map(str, paths)), _freed_by(paths), is_users_file)

    def remove(self, model_id: str, *, delete_users_file: bool) -> int:
        """The bytes that came free. Raises MODEL_NOT_HERE, DISK_*."""
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


def _freed_by(paths: Iterable[Path]) -> int:
    """What deleting them frees: nothing for a link, or where the file has another name."""
    found = [path.lstat() for path in paths if path.is_file()]
    return sum(one.st_size for one in found if stat.S_ISREG(one.st_mode) and one.st_nlink == 1)
