"""Whether the files of an installed model are what they should be, by their sha256."""

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.models import CardKind, InstalledModel, Origin, Verified
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.inventory import Inventory
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.safe_names import file_name

Progress = Callable[[int, int | None], None]  # how much is done, and of how much

_CHUNK = 1 << 20
# Laya writes this file anew when it loads a checkpoint, so it may differ without being damaged.
_REWRITTEN = "tokenizer/tokenizer_config.json"


class Verifier:
    """Any thread; blocks as long as the files take to read."""

    def __init__(self, catalogues: Catalogues, inventory: Inventory, disk: LibraryDisk) -> None:
        self._catalogues = catalogues
        self._inventory = inventory
        self._disk = disk

    def verify(self, model_id: str, progress: Progress) -> Verified:
        """Raises MODEL_NOT_HERE, MODEL_FILE_MISSING, MODEL_FILE_UNREADABLE, and what `progress` raises, to end it."""
        files = tuple(self.expected(model_id))
        total, done = sum(path.stat().st_size for path, _ in files if path.is_file()), 0
        verdicts: list[tuple[str, bool | None]] = []
        for path, sha256 in files:
            found, size = _sha256(path, partial(_onward, progress, done, total))
            done += size
            verdicts.append((str(path), None if sha256 is None else found == sha256))
        return Verified(model_id, tuple(verdicts))

    def expected(self, model_id: str) -> Iterator[tuple[Path, str | None]]:
        """The files of an installed expert or router, and their sums where anybody knows. Raises MODEL_NOT_HERE."""
        model = self._inventory.find(model_id)
        if model is None:
            yield from self._of_checkpoint(model_id)
            return
        named, found = self._named(model), self._inventory.sums_of(model_id)
        for path in self._inventory.files_of(model_id):
            yield path, named.get(path.name) or found.get(path.name)

    def _named(self, model: InstalledModel) -> dict[str, str | None]:
        """What the catalogue says, by the names of the files."""
        card = self._catalogues.current().card(model.card_id or model.model_id)
        if card is None or model.origin is Origin.IMPORTED:
            return {}
        file = card.file(model.card_quantization or model.quantization or "")
        return {} if file is None else {file_name(part.path): part.sha256 for part in file.parts}

    def _of_checkpoint(self, model_id: str) -> Iterator[tuple[Path, str | None]]:
        card = self._catalogues.current().card(model_id)
        folder = self._disk.checkpoint_dir(card) if card is not None and card.kind is CardKind.ROUTER else None
        if card is None or folder is None:
            raise fail(ErrorCode.MODEL_NOT_HERE, model_id=model_id)
        for part in card.files[0].parts:
            yield folder.joinpath(*part.path.split("/")), None if part.path == _REWRITTEN else part.sha256


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
