"""GGUF files below folders that a user named, at any depth; a link that leads in a circle is walked once."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from layadesk.model_library.shards import shard_prefix

MAX_FOLDERS = 100_000


def models_below(paths: Iterable[Path]) -> Iterator[Path]:
    """One path for each model: files as they were named, of folders each `.gguf`, of a split model its first shard."""
    seen: set[tuple[int, int] | str] = set()
    for path in paths:
        files = _files_below(path) if path.is_dir() else [path]
        for file in files:
            which = _identity(file, seen)
            if which is not None:
                seen.add(which)
                yield file


def _identity(file: Path, seen: set[tuple[int, int] | str]) -> tuple[int, int] | str | None:
    prefix = shard_prefix(file.name)
    which: tuple[int, int] | str
    if prefix != file.name:
        which = str(file.with_name(prefix))
    else:
        try:
            status = file.stat()
            which = (status.st_dev, status.st_ino)
        except OSError:
            which = str(file)
    return None if which in seen else which


def _files_below(folder: Path) -> list[Path]:
    """What lies there itself comes before what links lead to: a link may go, and the file stays."""
    found: list[Path] = []
    entered: set[tuple[int, int]] = set()
    ahead = [folder]
    for start in ahead:  # grows by the links to folders that are met
        for parent, folders, names in os.walk(start):
            try:
                status = os.stat(parent)
            except OSError:
                folders.clear()
                continue
            if (status.st_dev, status.st_ino) in entered or len(entered) >= MAX_FOLDERS:
                folders.clear()
                continue
            entered.add((status.st_dev, status.st_ino))
            folders.sort()
            ahead += [Path(parent, name) for name in folders if os.path.islink(Path(parent, name))]
            found += [Path(parent, name) for name in sorted(names) if name.casefold().endswith(".gguf")]
    return sorted(found, key=Path.is_symlink)
