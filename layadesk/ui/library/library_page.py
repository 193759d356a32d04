"""The Models page: what there is, what fits here, what is on this disk, and what is on its way."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QToolButton, QWidget

from layadesk.domain.downloads import DownloadState
from layadesk.domain.models import CardKind
from layadesk.ui.bridge import Bridge
from layadesk.ui.library.catalogue_view import CatalogueView
from layadesk.ui.library.disk_view import DiskView
from layadesk.ui.library.downloads_bar import DownloadsBar
from layadesk.ui.library.library_actions import LibraryActions
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.theme.tokens import GAP_M, GAP_XS
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import set_role

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class LibraryPage(QWidget):
    """Asks when it is shown.

    Signals:
        chat_requested: id of the expert that is to answer in a new chat.
        page_requested: an address outside this program.
        suggestion_requested: the user wants to see what suits this machine.
        failed: an ErrorReport.
        told: a sentence about something that was done.
        refused: sentences about files that were not taken.
        focus_changed: other controls are there.
    """

    chat_requested = Signal(str)
    page_requested = Signal(str)
    suggestion_requested = Signal()
    failed = Signal(object)
    told = Signal(str)
    refused = Signal(object)
    focus_changed = Signal()

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._use_cases = use_cases
        self.shelf = Shelf(use_cases, bridge=bridge, parent=self)
        self.doing = LibraryActions(use_cases, self.shelf, bridge=bridge, window=self)
        self.header = PageHeader()
        self.suggest, self.import_button = QPushButton(), QPushButton()
        self.suggest.setObjectName("suggest")
        self.import_button.setObjectName("import-models")
        self.import_menu = QMenu(self.import_button)
        self._import_files = self.import_menu.addAction("")
        self._import_folder = self.import_menu.addAction("")
        self.import_button.setMenu(self.import_menu)
        self.header.add_button(self.suggest)
        self.header.add_button(self.import_button)
        self.catalogue = CatalogueView(self.shelf)
        self.disk = DiskView(self.shelf)
        self.tabs = (QToolButton(), QToolButton())
        self.downloads = DownloadsBar(self._name_of, self._is_expert, self)
        self._area = ReadingArea(spacing=GAP_M)
        self._lay_out()
        self._connect()
        self.show_disk(is_shown=False)
        self._retranslate()

    def show_disk(self, *, is_shown: bool) -> None:
        """What is on this disk, or the catalogue."""
        self.catalogue.setVisible(not is_shown)
        self.disk.setVisible(is_shown)
        for tab, is_on in zip(self.tabs, (not is_shown, is_shown), strict=True):
            tab.setChecked(is_on)
        self.focus_changed.emit()

    @Slot(str)
    def show_model(self, model_id: str) -> None:
        """Open a model's card and bring it into view."""
        self.show_disk(is_shown=False)
        card = self.catalogue.open_card(model_id)
        if card is not None:
            self._area.ensureWidgetVisible(card)

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        view = self.disk if self.disk.isVisibleTo(self) else self.catalogue
        stops: list[QWidget] = [self.suggest, self.import_button, *self.tabs]
        return [*stops, *view.focus_chain(), *self.downloads.focus_chain()]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.shelf.look()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.downloads.fit_height()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        tabs = QHBoxLayout()
        tabs.setSpacing(GAP_XS)
        for tab, name in zip(self.tabs, ("tab-catalogue", "tab-disk"), strict=True):
            tab.setObjectName(name)
            tab.setCheckable(True)
            tab.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            set_role(tab, "range")
            tabs.addWidget(tab)
        tabs.addStretch(1)
        column = self._area.column
        column.addLayout(tabs)
        column.addWidget(self.catalogue)
        column.addWidget(self.disk)
        column.addStretch(1)
        self.header.stand_on(self, self._area, self.downloads)

    def _connect(self) -> None:
        actions, downloads = self.doing, self._use_cases.downloads
        self.suggest.clicked.connect(self.suggestion_requested)
        self._import_files.triggered.connect(actions.choose_files)
        self._import_folder.triggered.connect(actions.choose_folder)
        self.tabs[0].clicked.connect(lambda: self.show_disk(is_shown=False))
        self.tabs[1].clicked.connect(lambda: self.show_disk(is_shown=True))
        self.catalogue.download_requested.connect(actions.download)
        self.catalogue.router_requested.connect(actions.use_router)
        for view in (self.catalogue, self.downloads):
            view.chat_requested.connect(self._on_chat)
            view.page_requested.connect(self.page_requested)
        self.disk.chat_requested.connect(self.chat_requested)
        self.disk.verify_requested.connect(actions.verify)
        self.disk.remove_requested.connect(actions.ask_remove)
        self.disk.leftover_requested.connect(actions.ask_delete_leftover)
        self.disk.move_requested.connect(actions.choose_models_dir)
        self.catalogue.focus_changed.connect(self.focus_changed)
        self.disk.focus_changed.connect(self.focus_changed)
        self.downloads.pause_requested.connect(downloads.pause)
        self.downloads.resume_requested.connect(downloads.resume)
        self.downloads.cancel_requested.connect(downloads.cancel)
        self.shelf.downloads_changed.connect(self._on_downloads)
        self.shelf.seen_changed.connect(self._on_seen)
        self.shelf.failed.connect(self.failed)
        actions.failed.connect(self.failed)
        actions.told.connect(self.told)
        actions.refused.connect(self.refused)
        actions.verifying.connect(self._on_verifying)
        actions.verified.connect(self._on_verified)
        actions.not_verified.connect(self._on_not_verified)
        actions.moving.connect(self.disk.show_moving)

    def _name_of(self, model_id: str) -> str:
        entry = self.shelf.entry(model_id)
        return model_id if entry is None or entry.card is None else entry.card.name

    def _is_expert(self, model_id: str) -> bool:
        entry = self.shelf.entry(model_id)
        return entry is None or entry.kind is CardKind.EXPERT

    @Slot(str)
    def _on_chat(self, model_id: str) -> None:
        """An expert's own id, or for a download that of its card."""
        entry = self.shelf.entry(model_id)
        done = {one.quantization for one in self.shelf.downloads if one.state is DownloadState.INSTALLED}
        installed = () if entry is None else entry.installed
        newest = sorted(installed, key=lambda one: (one.card_quantization in done, one.installed_at))
        self.chat_requested.emit(newest[-1].model_id if newest else model_id)

    @Slot()
    def _on_downloads(self) -> None:
        n_before = len(self.downloads.rows())
        self.downloads.show_downloads(self.shelf.downloads)
        if len(self.downloads.rows()) != n_before:
            self.focus_changed.emit()

    @Slot()
    def _on_seen(self) -> None:
        self.downloads.show_downloads(self.shelf.downloads)  # they may have names now
        self._retranslate()

    @Slot(str, object)
    def _on_verifying(self, model_id: str, share: float | None) -> None:
        if model_id in self.disk.rows:
            self.disk.rows[model_id].show_progress(share)

    @Slot(str, object)
    def _on_verified(self, model_id: str, is_right: bool | None) -> None:
        if model_id in self.disk.rows:
            self.disk.rows[model_id].show_verdict(is_right)

    @Slot(str)
    def _on_not_verified(self, model_id: str) -> None:
        if model_id in self.disk.rows:
            self.disk.rows[model_id].end_progress()

    def _retranslate(self) -> None:
        self.header.title.set_text(self.tr("Models"))
        self.suggest.setText(self.tr("What suits this machine?"))
        self.import_button.setText(self.tr("Import…"))
        for button in (self.suggest, self.import_button):
            button.setAccessibleName(button.text())
        self._import_files.setText(self.tr("Model files…"))
        self._import_folder.setText(self.tr("A folder…"))
        n = sum(len(entry.installed) + (entry.router_dir is not None) for entry in self.shelf.seen.entries)
        self.tabs[0].setText(self.tr("Catalogue"))
        self.tabs[1].setText(self.tr("On this disk ({n})").format(n=n))
        for tab in self.tabs:
            tab.setAccessibleName(tab.text())
