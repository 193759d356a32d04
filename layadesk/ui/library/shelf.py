"""What the page knows: entries, judgements, downloads. It asks the use cases and says when there is something new."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from layadesk.domain.downloads import ENDED, Download, download_id
from layadesk.domain.errors import ErrorReport
from layadesk.domain.models import ModelCard
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.ui.bridge import Bridge
from layadesk.usecases.browse_library import LibraryEntry
from layadesk.usecases.fitting import Fitting, best_that_fits
from layadesk.usecases.look_at_library import LibrarySeen

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class Shelf(QObject):
    """Nothing is asked before the first `look`.

    Signals:
        seen_changed: entries, what is free on the disk, leftovers.
        fits_changed: nothing is judged any more, or everything is, at the context that was chosen.
        model_judged: id of a model of which all quantizations are judged now.
        downloads_changed: the list of downloads, up to four times a second while one runs.
        failed: an ErrorReport.
    """

    seen_changed = Signal()
    fits_changed = Signal()
    model_judged = Signal(str)
    downloads_changed = Signal()
    failed = Signal(object)

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._use_cases = use_cases
        self._bridge = bridge
        self._is_asked = False
        self._question = 0  # an answer to an older one is out of date
        self._judged: Feed[tuple[int, Fitting]] = Feed()
        self._fits: dict[tuple[str, str], Fitting] = {}
        self.n_ctx = use_cases.settings.get(definitions.N_CTX)
        self.seen = LibrarySeen()
        self.is_seen = False  # nothing has been answered yet
        self.downloads: tuple[Download, ...] = use_cases.downloads.list()
        bridge.follow(self._judged, self._on_judged)
        bridge.follow(use_cases.library.changed, self._on_library_changed)
        bridge.follow(use_cases.downloads.changed, self._on_downloads_changed)

    @Slot()
    def look(self) -> None:
        """Ask for everything again; what is known stays until the answers come."""
        self._is_asked = True
        self._bridge.deliver(self._use_cases.look_at_library(), self._on_seen, on_error=self._on_failed)
        self._ask_fits()

    def set_context(self, n_ctx: int) -> None:
        """Judge anew with `n_ctx` tokens for each conversation."""
        if n_ctx != self.n_ctx:
            self.n_ctx = n_ctx
            self._fits = {}
            self.fits_changed.emit()
            self._ask_fits()

    @property
    def router(self) -> str:
        """The setting: which router is in use."""
        return self._use_cases.settings.get(definitions.ROUTER)

    def entry(self, model_id: str) -> LibraryEntry | None:
        """One of them."""
        return next((entry for entry in self.seen.entries if entry.model_id == model_id), None)

    def fitting(self, model_id: str, quantization: str) -> Fitting | None:
        """None while it is being found out."""
        return self._fits.get((model_id, quantization))

    def best(self, entry: LibraryEntry) -> Fitting | None:
        """The quantization that is recommended here; None where none fits, or nothing is known yet."""
        card = entry.card
        if card is None:
            return None
        known = [self._fits.get((card.model_id, file.quantization)) for file in card.files]
        found = [one for one in known if one is not None]
        return best_that_fits(card, found) if found and len(found) == len(card.files) else None

    def download_of(self, model_id: str, quantization: str) -> Download | None:
        """The row of that file, also one that has ended."""
        wanted = download_id(model_id, quantization)
        return next((one for one in self.downloads if one.download_id == wanted), None)

    def running_of(self, model_id: str) -> Download | None:
        """What is under way for a model."""
        return next((one for one in self.downloads if one.model_id == model_id and one.state not in ENDED), None)

    def is_judged(self, model_id: str) -> bool:
        """Whether what fits of a model is known for the context that is chosen."""
        card = self._card(model_id)
        return card is not None and all((model_id, file.quantization) in self._fits for file in card.files)

    def _card(self, model_id: str) -> ModelCard | None:
        entry = self.entry(model_id)
        return None if entry is None else entry.card

    def _ask_fits(self) -> None:
        self._question += 1
        question = self._question

        def on_each(fitting: Fitting) -> None:
            self._judged.publish((question, fitting))

        future = self._use_cases.library.fit_all(self.n_ctx, on_each)
        self._bridge.deliver(future, partial(self._on_fits, self._question), on_error=self._on_failed)

    @Slot(object)
    def _on_judged(self, judged: tuple[int, Fitting]) -> None:
        """One of many; a model is told of when all of its own are known, so that no recommendation flickers."""
        question, fitting = judged
        if question != self._question:
            return
        self._fits[fitting.model_id, fitting.quantization] = fitting
        card = self._card(fitting.model_id)
        if card is not None and card.files[-1].quantization == fitting.quantization:
            self.model_judged.emit(fitting.model_id)

    def _on_fits(self, question: int, fits: tuple[Fitting, ...]) -> None:
        if question == self._question:
            self._fits = {(one.model_id, one.quantization): one for one in fits}
            self.fits_changed.emit()

    def _on_seen(self, seen: LibrarySeen) -> None:
        self.seen, self.is_seen = seen, True
        self.seen_changed.emit()

    @Slot(object)
    def _on_library_changed(self, _: object) -> None:
        if self._is_asked:
            self._bridge.deliver(self._use_cases.look_at_library(), self._on_seen, on_error=self._on_failed)

    @Slot(object)
    def _on_downloads_changed(self, downloads: tuple[Download, ...]) -> None:
        self.downloads = downloads
        self.downloads_changed.emit()

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)
