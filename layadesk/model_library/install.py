"""Puts downloaded files, whole and checked, where models are kept, and lists them."""

from collections.abc import Sequence
from pathlib import Path

from layadesk.domain.models import CardKind, ModelCard, ModelFile
from layadesk.model_library.disk import disk_failure
from layadesk.model_library.inventory import Inventory
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.partial_file import checked_sum
from layadesk.model_library.shards import read_model
from layadesk.model_library.verify import Progress, Verifier


class Installer:
    """Any thread; the moves are renames on one disk, so they are quick."""

    def __init__(self, inventory: Inventory, disk: LibraryDisk, verifier: Verifier) -> None:
        self._inventory = inventory
        self._disk = disk
        self._verifier = verifier

    def is_installed(self, card: ModelCard, file: ModelFile, progress: Progress) -> bool:
        """Whether that file is here already and undamaged; where it is here, it is read. Raises MODEL_FILE_UNREADABLE,
        and what `progress` raises, to end it."""
        model_id = self._id_of(card, file)
        return model_id is not None and not self._verifier.verify(model_id, progress).is_damaged

    def _id_of(self, card: ModelCard, file: ModelFile) -> str | None:
        if card.kind is CardKind.ROUTER:
            return None if self._disk.checkpoint_dir(card) is None else card.model_id
        wanted = (card.model_id, file.quantization)
        models = [model for model in self._inventory.list() if model.is_present]
        return next((one.model_id for one in models if (one.card_id, one.card_quantization) == wanted), None)

    def install(self, card: ModelCard, file: ModelFile, staged: Sequence[Path]) -> Path:
        """Move the files of a download to their place; where the model lies then: its first file, or its folder.

        Raises DISK_* and, where the file cannot be loaded by this version, GGUF_* errors; it is
        not moved then, so it is still the download's.
        """
        if card.kind is CardKind.EXPERT:
            read_model(staged[0])
        folder = self._disk.models_dir / card.model_id
        sums = {source.name: found for source in staged if (found := checked_sum(source)) is not None}
        placed: list[Path] = []
        for part, source in zip(file.parts, staged, strict=True):
            target = folder.joinpath(*part.path.split("/")) if card.kind is CardKind.ROUTER else folder / source.name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                source.replace(target)
            except OSError as error:
                raise disk_failure(error, target) from error
            placed.append(target)
        if card.kind is CardKind.ROUTER:
            return folder
        self._inventory.add_download(placed[0], card, file.quantization, sums)
        return placed[0]
