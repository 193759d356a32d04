"""What a model of the catalogue opens to: its quantizations, its licence, and one button."""

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.downloads import ENDED, DownloadState
from layadesk.domain.models import CardKind, ModelCard
from layadesk.ui.library.quantization_list import QuantizationList
from layadesk.ui.library.shelf import Shelf
from layadesk.ui.texts import library
from layadesk.ui.texts.card_notes import card_note
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, GAP_XS
from layadesk.ui.widgets.flow_layout import FlowLayout
from layadesk.ui.widgets.roles import note, set_role
from layadesk.usecases.browse_library import LibraryEntry


class CardDetails(QWidget):
    """Made when the model is opened for the first time.

    Signals:
        download_requested: model id, quantization, whether the licence was accepted.
        chat_requested: id of an installed expert.
        router_requested: what the setting of the router is to be.
        page_requested: an address.
    """

    download_requested = Signal(str, str, bool)
    chat_requested = Signal(str)
    router_requested = Signal(str)
    page_requested = Signal(str)

    def __init__(self, card: ModelCard, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._card = card
        self._shelf = shelf
        self._entry = LibraryEntry(card.model_id, card)
        self._is_router = card.kind is CardKind.ROUTER
        self.about = note()
        self.quantizations = QuantizationList(() if self._is_router else card.files)
        self.fit = note()
        self.origin = note()
        self.consent = QCheckBox()
        self.consent.setObjectName("licence-accepted")
        self.licence = QPushButton()
        self.licence.setObjectName("read-licence")
        set_role(self.licence, "quiet")
        self.download = QPushButton()
        self.download.setObjectName("download")
        set_role(self.download, "primary")
        self.chat = QPushButton()
        self.chat.setObjectName("chat-with-model")
        self._lay_out()
        self.quantizations.chosen.connect(self.refresh)
        self.consent.toggled.connect(self.refresh)
        self.licence.clicked.connect(self._on_licence)
        self.download.clicked.connect(self._on_download)
        self.chat.clicked.connect(self._on_chat)

    def show_entry(self, entry: LibraryEntry) -> None:
        """What is on this disk of it."""
        self._entry = entry
        self.refresh()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [*self.quantizations.focus_chain(), self.consent, self.licence, self.download, self.chat]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self.refresh()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        buttons = FlowLayout(gap=GAP_S, line_gap=GAP_XS)
        for button in (self.download, self.chat, self.licence):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_L + GAP_S, 0, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        for widget in (self.about, self.quantizations, self.fit, self.origin, self.consent):
            layout.addWidget(widget)
        layout.addLayout(buttons)

    @property
    def _chosen(self) -> str:
        return self._card.files[0].quantization if self._is_router else self.quantizations.current

    @Slot()
    def refresh(self) -> None:
        """Everything anew: judgements, downloads or the disk have changed."""
        best = self._shelf.best(self._entry)
        here = {model.card_quantization for model in self._entry.installed if model.is_present}
        for row in self.quantizations.rows:
            name = row.file.quantization
            is_best = best is not None and best.quantization == name
            row.judge(self._shelf.fitting(self._card.model_id, name), is_best=is_best)
            row.set_here(name in here)
        self.quantizations.recommend(None if best is None else best.quantization)
        self._render_words()
        self._render_buttons()

    def _render_words(self) -> None:
        self.about.setText(card_note(self._card.note))
        fitting = self._shelf.fitting(self._card.model_id, self._chosen)
        outlook = None if fitting is None else fitting.outlook
        self.fit.setVisible(not self._is_router)
        self.fit.setText(self.tr("Being judged…") if outlook is None else library.fit_details(outlook))
        if fitting is not None and outlook is None:
            self.fit.setText(library.no_numbers())
        file = self._card.file(self._chosen) or self._card.files[0]
        _, _, place = file.source.partition(":")
        self.origin.setText(
            self.tr("From {place}. Licence: {licence}.").format(
                place=place, licence=library.license_name(self._card.license)
            )
        )

    def _render_buttons(self) -> None:
        card, chosen = self._card, self._chosen
        file = card.file(chosen)
        size = library.file_size(file)
        download = self._shelf.download_of(card.model_id, chosen)
        is_under_way = download is not None and download.state not in ENDED
        expert = self._installed_as(chosen)
        is_here = expert is not None or self._entry.router_dir is not None
        self.consent.setText(self.tr("I have read the licence and agree to it"))
        self.consent.setVisible(card.needs_consent and not is_here)
        self.licence.setText(self.tr("Read the licence…"))
        self.licence.setVisible(bool(card.license_url))
        text = self.tr("Download, {size}").format(size=size)
        if download is not None and is_under_way:
            text = library.state_words(download)
        elif download is not None and download.state is DownloadState.FAILED:
            text = self.tr("Try again, {size}").format(size=size)
        self.download.setText(text)
        self.download.setAccessibleName(f"{card.name} {chosen}: {text}")
        self.download.setVisible(not is_here)
        self.download.setEnabled(not is_under_way and (self.consent.isChecked() or not card.needs_consent))
        in_use = self._is_router and self._shelf.router == self._router_setting
        self.chat.setText(
            (self.tr("In use") if in_use else self.tr("Use this router"))
            if self._is_router
            else self.tr("Chat with it")
        )
        self.chat.setAccessibleName(f"{card.name}: {self.chat.text()}")
        self.chat.setEnabled(not in_use)
        self.chat.setVisible(is_here)

    @property
    def _router_setting(self) -> str:
        return f"laya:{self._entry.router_dir}"

    def _installed_as(self, quantization: str) -> str | None:
        """The id of the expert that this quantization is here."""
        for model in self._entry.installed:
            if model.is_present and quantization in (model.card_quantization, model.quantization):
                return model.model_id
        return None

    @Slot()
    def _on_download(self) -> None:
        self.download_requested.emit(self._card.model_id, self._chosen, self.consent.isChecked())

    @Slot()
    def _on_licence(self) -> None:
        self.page_requested.emit(self._card.license_url or "")

    @Slot()
    def _on_chat(self) -> None:
        if self._is_router:
            self.router_requested.emit(self._router_setting)
        else:
            self.chat_requested.emit(self._installed_as(self._chosen) or "")
