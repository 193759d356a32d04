"""One download: how far it is, how fast, what stopped it, and what can be done."""

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.downloads import ENDED, Download, DownloadState
from layadesk.ui.texts import library
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.words import together
from layadesk.ui.theme.fonts import small_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.roles import note, set_role

_STOPPED = frozenset({DownloadState.PAUSED, DownloadState.FAILED})


class DownloadRow(QFrame):
    """Signals:
    pause_requested, resume_requested, cancel_requested: the download's id.
    chat_requested: the model's id; it is installed.
    page_requested: an address to visit, as where a licence is accepted.
    """

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    cancel_requested = Signal(str)
    chat_requested = Signal(str)
    page_requested = Signal(str)

    def __init__(self, download: Download, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self.setObjectName(f"download-{download.download_id}")
        self.download = download
        self._name = name
        self._is_expert = True
        self._title = ElidedLabel()
        self._title.setFont(strong_font())
        self._meter = MeterBar()
        self._line = ElidedLabel(meaning=Ink.MUTED)
        self._line.setFont(small_font())
        self._failure = note(ink=Ink.DANGER)
        self.page = QPushButton()
        self.page.setObjectName("open-page")
        self.page.clicked.connect(self._on_page)
        self.chat = QPushButton()
        self.chat.setObjectName("chat-with-download")
        self.chat.clicked.connect(self._on_chat)
        self.steer = IconButton("pause")
        self.steer.clicked.connect(self._on_steer)
        self.cancel = IconButton("close")
        self.cancel.clicked.connect(self._on_cancel)
        self._lay_out()
        self._render()

    def show_download(self, download: Download, name: str, *, is_expert: bool) -> None:
        """A newer state of the same one; a router is not chatted with."""
        if (download, name, is_expert) != (self.download, self._name, self._is_expert):
            self.download, self._name, self._is_expert = download, name, is_expert
            self._render()

    def text(self) -> str:
        """All that it says."""
        return " ".join(filter(None, (self._title.text(), self._line.text(), self.failure_text())))

    def failure_text(self) -> str:
        """What stopped it and what to do; empty where nothing did."""
        return "" if self.download.failure is None else self._failure.text()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.page, self.chat, self.steer, self.cancel]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GAP_XS)
        for widget in (self._title, self._meter, self._line, self._failure):
            words.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, GAP_XS, 0, GAP_XS)
        row.setSpacing(GAP_S)
        row.addLayout(words, 1)
        row.addSpacing(GAP_M - GAP_S)
        for button in (self.page, self.chat, self.steer, self.cancel):
            row.addWidget(button)

    def _render(self) -> None:
        download = self.download
        failure = download.failure
        is_stopped = download.state in _STOPPED
        is_done = download.state is DownloadState.INSTALLED
        self._title.set_text(f"{self._name} · {download.quantization}")
        self._line.set_text(library.progress_words(download))
        self._meter.set_shares([(_METER_COLOURS.get(download.state, "accent"), download.share or 0.0)])
        self._meter.setAccessibleName(self._line.text())
        self._failure.setVisible(failure is not None)
        if failure is not None:
            explanation = explain(failure, name=self._name)
            self._failure.setText(together(explanation.what, explanation.remedy))
        self.page.setText(self.tr("Open the page…"))
        self.page.setAccessibleName(self.tr("{name}: open the page").format(name=self._name))
        self.page.setVisible(bool(self._address()))
        self.chat.setText(self.tr("Chat with it"))
        self.chat.setAccessibleName(self.tr("Chat with {name}").format(name=self._name))
        self.chat.setVisible(is_done and self._is_expert)
        self.steer.set_icon("play" if is_stopped else "pause")
        steer = self.tr("{name}: go on") if is_stopped else self.tr("{name}: pause")
        self.steer.set_name(steer.format(name=self._name))
        self.steer.setVisible(not is_done)
        self.steer.setEnabled(download.state is not DownloadState.CHECKING)
        is_over = download.state in ENDED
        cancel = self.tr("{name}: take off the list") if is_over else self.tr("{name}: cancel and delete what came")
        self.cancel.set_name(cancel.format(name=self._name))
        self.setAccessibleName(self.text())

    def _address(self) -> str:
        """A page to visit, where the failure names one; only what a browser opens safely."""
        failure = self.download.failure
        address = "" if failure is None else str(failure.facts.get("page") or "")
        return address if address.startswith("https://") else ""

    @Slot()
    def _on_page(self) -> None:
        self.page_requested.emit(self._address())

    @Slot()
    def _on_chat(self) -> None:
        self.chat_requested.emit(self.download.model_id)

    @Slot()
    def _on_steer(self) -> None:
        is_stopped = self.download.state in _STOPPED
        (self.resume_requested if is_stopped else self.pause_requested).emit(self.download.download_id)

    @Slot()
    def _on_cancel(self) -> None:
        self.cancel_requested.emit(self.download.download_id)


_METER_COLOURS = {
    DownloadState.PAUSED: "others",
    DownloadState.QUEUED: "others",
    DownloadState.FAILED: "danger",
    DownloadState.INSTALLED: "ok",
}
