"""The model library: what there is to download, what is on this disk, and what would fit on this machine."""

import os
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeVar

from layadesk.domain.downloads import ACTIVE
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import Outlook, Resident
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import CardKind, InstalledModel, ModelCard, ModelFile, Verified
from layadesk.model_library.catalogue_facts import has_numbers, numbers_of
from layadesk.model_library.library_disk import DiskRoom, Leftover
from layadesk.model_library.remote_model import read_remote_model
from layadesk.model_library.verify import Progress
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.download_models import Downloads
from layadesk.usecases.fitting import Fitting, best_that_fits
from layadesk.usecases.keep_library import Imported, KeepLibrary, Removal
from layadesk.usecases.manage_experts import Experts
from layadesk.usecases.model_rooms import ModelRooms
from layadesk.usecases.price_file import FileQuestion
from layadesk.usecases.price_files import PriceFiles

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One model of the catalogue, or a file of the user's own (`card` None), with what is on this disk.

    `installed` are experts, one for each quantization; `router_dir` is where a checkpoint lies, ready for
    `laya:DIRECTORY`. `n_bytes_on_disk` counts both.
    """

    model_id: str
    card: ModelCard | None
    installed: tuple[InstalledModel, ...] = ()
    router_dir: str | None = None
    n_bytes_on_disk: int = 0

    @property
    def kind(self) -> CardKind:
        """Expert or router; a file of one's own is an expert."""
        return CardKind.EXPERT if self.card is None else self.card.kind

    @property
    def is_installed(self) -> bool:
        """Whether any form of it can be used now."""
        return self.router_dir is not None or any(model.is_present for model in self.installed)


@dataclass(frozen=True, slots=True)
class Pricing:
    """The planner, and what it judges by: the machine as it is now, and the experts in memory that could go."""

    files: PriceFiles
    machine: Callable[[], MachineMemory]
    residents: Callable[[], tuple[Resident, ...]] = tuple


class Library:
    """Any thread. What may take long comes as a Future from the threads "library" and "library-fit".

    `changed` tells of every change.
    """

    def __init__(
        self,
        rooms: ModelRooms,
        experts: Experts,
        downloads: Downloads,
        pricing: Pricing,
        settings: Settings,
    ) -> None:
        self._catalogues = rooms.catalogues
        self._inventory = rooms.inventory
        self._disk = rooms.disk
        self._hub = rooms.hub
        self._learned: Mapping[str, Mapping[str, int | bool | str | tuple[int, ...]]] = {}  # by model id
        self._verifier = rooms.verifier
        self._keep = KeepLibrary(rooms, settings)
        self._has_changed = experts.has_changed
        self._downloads = downloads
        self._pricing = pricing
        self._settings = settings
        self._executor = ThreadPoolExecutor(1, "library")
        self._fits = ThreadPoolExecutor(1, "library-fit")
        self._lock = threading.Lock()
        self._round = 0  # of `fit_all`
        self._is_closed = False
        self.changed: Feed[None] = experts.changed

    def entries(self) -> tuple[LibraryEntry, ...]:
        """The catalogue in its order, then models that are in no catalogue. Looks at the disk: some milliseconds."""
        cards = self._catalogues.current().cards
        known = {card.model_id for card in cards}
        by_card: dict[str, list[InstalledModel]] = {}
        own: list[LibraryEntry] = []
        for model in self._inventory.list():
            card_id = model.card_id or model.model_id
            if card_id in known:
                by_card.setdefault(card_id, []).append(model)
            else:
                own.append(LibraryEntry(model.model_id, None, (model,), None, model.size_bytes))
        return (*(self._entry(card, by_card.get(card.model_id, [])) for card in cards), *own)

    def _entry(self, card: ModelCard, installed: list[InstalledModel]) -> LibraryEntry:
        n_bytes = sum(model.size_bytes for model in installed if model.is_present)
        router_dir = self._disk.checkpoint_dir(card) if card.kind is CardKind.ROUTER else None
        if router_dir is not None:
            n_bytes += self._disk.bytes_of(router_dir)
        return LibraryEntry(
            card.model_id, card, tuple(installed), None if router_dir is None else str(router_dir), n_bytes
        )

    def entry(self, model_id: str) -> LibraryEntry:
        """One of them. Raises UNKNOWN_MODEL."""
        for entry in self.entries():
            if entry.model_id == model_id or any(model.model_id == model_id for model in entry.installed):
                return entry
        raise fail(ErrorCode.UNKNOWN_MODEL, model_id=model_id)

    def problems(self) -> tuple[ErrorReport, ...]:
        """Entries of the catalogues that were left out (CATALOGUE_DAMAGED, OWN_CATALOGUE_DAMAGED)."""
        return self._catalogues.current().problems

    def room(self) -> DiskRoom:
        """Where models are kept and what is free there. Looks at the disk."""
        return self._disk.room()

    def machine(self) -> Future[MachineMemory]:
        """What this machine has and what is free now."""
        return self._fits.submit(self._pricing.machine)

    def fit(self, model_id: str, quantization: str, n_ctx: int) -> Future[Fitting]:
        """Whether that file fits at that context for each conversation. Fails with UNKNOWN_MODEL, BAD_PARAMETER."""
        card, file = self._file(model_id, quantization)
        return self._fits.submit(lambda: self._fitting(card, file, self._question(n_ctx)))

    def fit_all(self, n_ctx: int, on_each: Callable[[Fitting], None] | None = None) -> Future[tuple[Fitting, ...]]:
        """The same for every file of every expert, judged against one look at the machine; takes some seconds.

        `on_each` has each as soon as it is known, on the thread "library-fit". Cancelled by the next call.
        """
        with self._lock:
            self._round += 1
            number = self._round
        return self._fits.submit(self._fit_all, n_ctx, number, on_each or (lambda _: None))

    def survey(
        self, n_ctx: int, files: Callable[[ModelCard], Iterable[ModelFile]]
    ) -> Future[tuple[MachineMemory, tuple[Fitting, ...]]]:
        """The same for those `files` of each card, with the machine it was judged by; no other call cancels it."""
        return self._fits.submit(self._survey, n_ctx, files)

    def recommended(self, model_id: str, n_ctx: int) -> Future[Fitting | None]:
        """The best quantization that fits; None where none does. Fails with UNKNOWN_MODEL."""
        card = self._card(model_id)

        def find() -> Fitting | None:
            question = self._question(n_ctx)
            return best_that_fits(card, [self._fitting(card, file, question) for file in card.files])

        return self._fits.submit(find)

    def ask_hub(self, model_id: str) -> Future[None]:
        """Read the header of the model's first file from its hub, some megabytes, where the catalogue lacks numbers.

        From then on, until the program ends, `fit` knows them. Fails with UNKNOWN_MODEL, NOT_DOWNLOADABLE,
        REMOTE_FILE_UNREADABLE, GGUF_*.
        """
        card = self._card(model_id)

        def ask() -> None:
            file = next((one for one in card.files if one.is_downloadable), card.files[0])
            headers = read_remote_model(self._hub.address_of(file, file.parts[0]))
            self._learned = {**self._learned, model_id: numbers_of(headers)}

        return self._executor.submit(ask)

    def leftovers(self) -> tuple[Leftover, ...]:
        """Unfinished downloads and files that no list knows, with their sizes. Looks at the disk."""
        return self._keep.leftovers()

    def delete_leftover(self, path: str) -> Future[int]:
        """Delete one of them, with its row where it is a download's; the bytes that came free.

        Fails with NO_LEFTOVER, DISK_*, and DOWNLOAD_ELSEWHERE where another process is at it.
        """

        def delete() -> int:
            found = self._keep.leftover(path)
            row = None if found.download_id is None else self._downloads.find(found.download_id)
            if row is None or row.state not in ACTIVE:
                self._keep.check_unused(found)
            if row is not None:
                self._downloads.cancel(row.download_id).result()
            if os.path.lexists(found.path):
                self._keep.delete_leftover(found)
            return found.n_bytes

        return self._change(delete)

    def removal(self, model_id: str) -> Removal:
        """What `remove` would do, to be shown before. Raises MODEL_NOT_HERE. Looks at the disk."""
        return self._keep.removal(model_id)

    def remove(self, model_id: str, *, delete_users_file: bool = False) -> Future[int]:
        """Take an installed expert or router off; the bytes that came free. A file the user brought is only forgotten
        unless `delete_users_file`. Fails with MODEL_NOT_HERE, DISK_*.
        """
        return self._change(lambda: self._keep.remove(model_id, delete_users_file=delete_users_file))

    def verify(self, model_id: str, progress: Progress | None = None) -> Future[Verified]:
        """Read every file of an installed model and compare its sha256 with the catalogue's; `progress` in bytes."""
        return self._executor.submit(self._verifier.verify, model_id, self._watched(progress))

    def import_files(self, paths: Sequence[str], progress: Progress | None = None) -> Future[Imported]:
        """List GGUF files where they lie, and those in folders at any depth. `progress` counts files."""
        return self._change(lambda: self._keep.import_files(paths, self._watched(progress)))

    def move_models_dir(self, new_dir: str, progress: Progress | None = None) -> Future[int]:
        """Move what the program installed to another folder or disk; the bytes moved. Downloads wait meanwhile.

        Fails with BAD_PARAMETER, NO_ROOM_FOR_DOWNLOAD, DISK_*; nothing has changed then.
        """

        def move() -> int:
            with self._downloads.held():
                return self._keep.move(new_dir, self._watched(progress))

        return self._change(move)

    def _watched(self, progress: Progress | None) -> Progress:
        """`progress`, and the end of the work where the program ends; it may also end it itself by raising."""

        def tell(done: int, total: int | None) -> None:
            if self._is_closed:
                raise CancelledError
            if progress is not None:
                progress(done, total)

        return tell

    def _change(self, step: Callable[[], ResultT]) -> Future[ResultT]:
        def carry_out() -> ResultT:
            try:
                return step()
            finally:
                self._has_changed()

        return self._executor.submit(carry_out)

    def close(self) -> None:
        """Wait for what runs; nothing new is taken."""
        with self._lock:
            self._round += 1
            self._is_closed = True
        self._fits.shutdown(wait=True, cancel_futures=True)
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _fit_all(self, n_ctx: int, number: int, on_each: Callable[[Fitting], None]) -> tuple[Fitting, ...]:
        files = [(card, file) for card in self._experts() for file in card.files]
        found: list[Fitting] = []
        with closing(self._fittings(files, self._question(n_ctx), lambda: number == self._round)) as fittings:
            for fitting in fittings:
                found.append(fitting)
                on_each(fitting)
        return tuple(found)

    def _survey(
        self, n_ctx: int, files: Callable[[ModelCard], Iterable[ModelFile]]
    ) -> tuple[MachineMemory, tuple[Fitting, ...]]:
        question = self._question(n_ctx)
        wanted = [(card, file) for card in self._experts() for file in files(card)]
        return question.machine, tuple(self._fittings(wanted, question, lambda: not self._is_closed))

    def _experts(self) -> list[ModelCard]:
        return [card for card in self._catalogues.current().cards if card.kind is CardKind.EXPERT]

    def _question(self, n_ctx: int) -> FileQuestion:
        get = self._settings.get
        return FileQuestion(
            self._pricing.machine(),
            n_ctx,
            get(definitions.N_PARALLEL),
            get(definitions.N_GPU_LAYERS),
            self._pricing.residents(),
        )

    def _fittings(
        self, files: Sequence[tuple[ModelCard, ModelFile]], question: FileQuestion, is_wanted: Callable[[], bool]
    ) -> Generator[Fitting]:
        known = [(self._with_learned(card), file) for card, file in files]
        with closing(self._pricing.files.each(known, question, is_wanted)) as outlooks:
            for (card, file), outlook in zip(files, outlooks, strict=True):
                yield _fitting(card, file, outlook)

    def _fitting(self, card: ModelCard, file: ModelFile, question: FileQuestion) -> Fitting:
        return _fitting(card, file, self._pricing.files.one(self._with_learned(card), file, question))

    def _with_learned(self, card: ModelCard) -> ModelCard:
        if has_numbers(card) or card.model_id not in self._learned:
            return card
        return replace(card, gguf=self._learned[card.model_id])

    def _card(self, model_id: str) -> ModelCard:
        card = self._catalogues.current().card(model_id)
        if card is None:
            raise fail(ErrorCode.UNKNOWN_MODEL, model_id=model_id)
        return card

    def _file(self, model_id: str, quantization: str) -> tuple[ModelCard, ModelFile]:
        card = self._card(model_id)
        file = card.file(quantization)
        if file is None:
            known = ", ".join(one.quantization for one in card.files)
            raise fail(ErrorCode.BAD_PARAMETER, parameter="quantization", value=quantization, known=known)
        return card, file


def _fitting(card: ModelCard, file: ModelFile, outlook: Outlook | None) -> Fitting:
    verdict = Verdict.UNKNOWN if outlook is None else outlook.verdict
    return Fitting(card.model_id, file.quantization, verdict, outlook)
