"""The catalogue: filters, a card for each model, routers below the experts."""

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from layadesk.domain.models import CardKind
from layadesk.ui.library.filter_bar import FilterBar
from layadesk.ui.library.filters import is_offered, languages_of
from layadesk.ui.library.model_card import ModelCardView
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_S
from layadesk.ui.widgets.empty_state import EmptyState
from layadesk.ui.widgets.roles import note


class CatalogueView(QWidget):
    """Signals:
    download_requested, chat_requested, router_requested, page_requested: as of `CardDetails`.
    focus_changed: other controls are there.
    """

    download_requested = Signal(str, str, bool)
    chat_requested = Signal(str)
    router_requested = Signal(str)
    page_requested = Signal(str)
    focus_changed = Signal()

    def __init__(self, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shelf = shelf
        self.cards: dict[str, ModelCardView] = {}
        self.filters = FilterBar(shelf.n_ctx)
        self.count = note()
        self.empty = EmptyState()
        self.empty.accepted.connect(self.filters.clear)
        self._routers_title = QLabel()
        self._routers_title.setFont(strong_font())
        self._routers_note = note()
        self._experts, self._routers = QVBoxLayout(), QVBoxLayout()
        self._lay_out()
        self.filters.changed.connect(self.sift)
        self.filters.context_chosen.connect(shelf.set_context)
        shelf.seen_changed.connect(self._on_seen)
        shelf.fits_changed.connect(self._on_fits)
        shelf.model_judged.connect(self._on_judged)
        shelf.downloads_changed.connect(self._on_downloads)
        self._running: set[tuple[str, str, int]] = set()
        self._retranslate()

    def shown(self) -> list[ModelCardView]:
        """The cards that the filters let through, from top to bottom."""
        return [card for card in self.cards.values() if not card.isHidden()]

    def open_card(self, model_id: str) -> ModelCardView | None:
        """Open a model's card, whatever the filters say."""
        card = self.cards.get(model_id)
        if card is not None:
            if card.isHidden():
                self.filters.clear()
            card.open_up()
        return card

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        stops = [*self.filters.focus_chain(), self.empty.button]
        return stops + [widget for card in self.shown() for widget in card.focus_chain()]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        for column in (self._experts, self._routers):
            column.setSpacing(GAP_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.filters)
        layout.addWidget(self.count)
        layout.addWidget(self.empty)
        layout.addLayout(self._experts)
        layout.addSpacing(GAP_S)
        layout.addWidget(self._routers_title)
        layout.addWidget(self._routers_note)
        layout.addLayout(self._routers)

    @Slot()
    def _on_seen(self) -> None:
        entries = [entry for entry in self._shelf.seen.entries if entry.card is not None and is_offered(entry)]
        known = {entry.model_id for entry in entries}
        for gone in self.cards.keys() - known:
            card = self.cards.pop(gone)
            card.setParent(None)
            card.deleteLater()
        for entry in entries:
            assert entry.card is not None
            view = self.cards.get(entry.model_id)
            if view is not None:
                view.show_entry(entry, entry.card)
                continue
            view = ModelCardView(entry, entry.card, self._shelf)
            view.download_requested.connect(self.download_requested)
            view.chat_requested.connect(self.chat_requested)
            view.router_requested.connect(self.router_requested)
            view.page_requested.connect(self.page_requested)
            view.opened.connect(self.focus_changed)
            self.cards[entry.model_id] = view
            (self._routers if entry.kind is CardKind.ROUTER else self._experts).addWidget(view)
        self.filters.offer_languages(code for entry in entries for code in languages_of(entry))
        self.sift()

    @Slot()
    def _on_fits(self) -> None:
        for card in self.cards.values():
            card.refresh()
        if self.filters.filters.fits_here:
            self.sift()

    @Slot(str)
    def _on_judged(self, model_id: str) -> None:
        if model_id in self.cards:
            self.cards[model_id].refresh()

    @Slot()
    def _on_downloads(self) -> None:
        """Up to four times a second: only cards whose line says something else are written anew."""
        now = {
            (one.model_id, one.download_id + one.state, int(100 * (one.share or 0))) for one in self._shelf.downloads
        }
        touched = {model_id for model_id, _, _ in now ^ self._running}
        self._running = now
        for model_id in touched & self.cards.keys():
            self.cards[model_id].refresh()

    @Slot()
    def sift(self) -> None:
        """Show what the filters let through."""
        filters = self.filters.filters
        n_experts = n_routers = 0
        for card in self.cards.values():
            is_shown = filters.takes(card.entry, self._shelf.best(card.entry))
            card.setVisible(is_shown)
            is_router = card.entry.kind is CardKind.ROUTER
            n_routers += is_shown and is_router
            n_experts += is_shown and not is_router
        self._routers_title.setVisible(bool(n_routers))
        self._routers_note.setVisible(bool(n_routers))
        self.empty.setVisible(self._shelf.is_seen and not n_experts + n_routers)
        if self.cards:
            self.empty.set_texts(self.tr("No model of the catalogue is like that."), self.tr("Show all"))
        else:
            self.empty.set_texts(self.tr("The catalogue is empty. Import model files of your own."), "")
        self.count.setText(self.tr("%n model(s)", "", n_experts) if self.cards else "")
        self.focus_changed.emit()

    def _retranslate(self) -> None:
        self._routers_title.setText(self.tr("Routers"))
        self._routers_note.setText(
            self.tr("The router that came with the program does well; these are larger, and slower without a GPU.")
        )
        self.sift()
