"""The models directory as a place: what is free there, which checkpoints lie in it, and what was left behind."""

import logging
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from layadesk.domain.models import ModelCard

log = logging.getLogger(__name__)

STAGING = ".downloads"  # unfinished downloads, each in a folder of its own
PART = ".part"


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """`free_bytes` None: the disk cannot be asked. `reserve_bytes` stay free whatever is downloaded."""

    models_dir: str
    free_bytes: int | None
    reserve_bytes: int


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something in the models directory that no list knows. `is_partial`: an unfinished download, and whose."""

    path: str
    n_bytes: int
    is_partial: bool
    download_id: str | None = None


class LibraryDisk:
    """Any thread; every call looks at the disk."""

    def __init__(self, models_dir: Callable[[], Path], reserve_bytes: Callable[[], int]) -> None:
        self._models_dir = models_dir
        self._reserve_bytes = reserve_bytes

    @property
    def models_dir(self) -> Path:
        """Where models are kept now."""
        return self._models_dir()

    def room(self) -> DiskRoom:
        """What is free where models are kept."""
        return DiskRoom(str(self.models_dir), free_bytes(self.models_dir), self._reserve_bytes())

    def checkpoint_dir(self, card: ModelCard) -> Path | None:
        """Where a router's files lie, if all are there in their size."""
        folder = self.models_dir / card.model_id
        for part in card.files[0].parts:
            try:
                n_bytes = (folder / part.path).stat().st_size
            except OSError:
                return None
            if part.size_bytes not in (None, n_bytes):
                return None
        return folder

    def bytes_of(self, folder: Path) -> int:
        """Of all files below."""
        return sum(_size(path) for path in _files_below(folder))

    def drop_empty(self, paths: Iterable[Path]) -> None:
        """Remove the folders of files that were deleted, as far as they are empty and below the models directory."""
        for path in paths:
            for folder in path.parents:
                if self.models_dir not in folder.parents:
                    break
                with suppress(OSError):
                    folder.rmdir()

    def leftovers(self, known: Iterable[Path], ids: Mapping[str, str]) -> tuple[Leftover, ...]:
        """Unfinished downloads, and model files that are in no list. `ids`: download id by its folder."""
        staging = self.models_dir / STAGING
        found = [
            Leftover(str(folder), self.bytes_of(folder), is_partial=True, download_id=ids.get(str(folder)))
            for folder in _folders(staging)
        ]
        listed = {os.path.normcase(path) for path in known}
        for path in _files_below(self.models_dir):
            if staging in path.parents or path.suffix.casefold() not in (".gguf", PART):
                continue
            if os.path.normcase(path) not in listed:
                found.append(Leftover(str(path), _size(path), is_partial=path.suffix == PART))
        return tuple(found)


def free_bytes(folder: Path) -> int | None:
    """Of the disk on which that folder is, or will be."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except FileNotFoundError:
            continue
        except OSError:
            return None
    return None


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):  # never follows links to folders
        for name in names:
            yield Path(parent, name)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
