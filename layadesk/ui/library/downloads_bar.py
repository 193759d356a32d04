"""The downloads at the lower edge of the page, so that nothing above moves when one begins."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from layadesk.domain.downloads import ACTIVE, Download
from layadesk.ui.library.download_row import DownloadRow
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_L, GAP_S
from layadesk.ui.widgets.roles import set_role

MAX_SHARE = 0.4  # of the page's height


class DownloadsBar(QFrame):
    """Not there while there is no download.

    Signals: those of `DownloadRow`.
    """

    pause_requested = Signal(str)
    resume_requested = Signal(str)
    cancel_requested = Signal(str)
    chat_requested = Signal(str)
    page_requested = Signal(str)

    def __init__(self, name_of: Callable[[str], str], is_expert: Callable[[str], bool], parent: QWidget) -> None:
        super().__init__(parent)
        set_role(self, "bar")
        self.setObjectName("downloads")
        self._page = parent
        self._name_of = name_of
        self._is_expert = is_expert
        self._downloads: tuple[Download, ...] = ()
        self._rows: dict[str, DownloadRow] = {}
        self._title = QLabel()
        self._title.setFont(strong_font())
        content = QWidget()
        set_role(content, "plain")
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(0, 0, GAP_S, 0)
        self._column.setSpacing(0)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_L, GAP_S, GAP_S, GAP_S)
        layout.setSpacing(0)
        layout.addWidget(self._title)
        layout.addWidget(self._area)
        self.hide()

    def show_downloads(self, downloads: tuple[Download, ...]) -> None:
        """Bring the rows up to date; they keep their places."""
        self._downloads = downloads
        for gone in self._rows.keys() - {one.download_id for one in downloads}:
            row = self._rows.pop(gone)
            self._column.removeWidget(row)
            row.deleteLater()
        for download in downloads:
            row = self._rows.get(download.download_id) or self._new_row(download)
            row.show_download(download, self._name_of(download.model_id), is_expert=self._is_expert(download.model_id))
        self._retranslate()
        self.setVisible(bool(downloads))
        self.fit_height()

    def rows(self) -> tuple[DownloadRow, ...]:
        """From top to bottom."""
        return tuple(self._rows.values())

    def row(self, download_id: str) -> DownloadRow | None:
        """One of them."""
        return self._rows.get(download_id)

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [widget for row in self._rows.values() for widget in row.focus_chain()]

    def fit_height(self) -> None:
        """As high as its rows, up to a share of the page; then they scroll."""
        width = max(self._area.viewport().width() - GAP_S, 1)
        needed = sum(
            row.heightForWidth(width) if row.hasHeightForWidth() else row.sizeHint().height()
            for row in self._rows.values()
        )
        self._area.setFixedHeight(min(needed, max(int(self._page.height() * MAX_SHARE), 60)))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _new_row(self, download: Download) -> DownloadRow:
        row = DownloadRow(download, self._name_of(download.model_id))
        row.pause_requested.connect(self.pause_requested)
        row.resume_requested.connect(self.resume_requested)
        row.cancel_requested.connect(self.cancel_requested)
        row.chat_requested.connect(self.chat_requested)
        row.page_requested.connect(self.page_requested)
        self._rows[download.download_id] = row
        self._column.addWidget(row)
        return row

    def _retranslate(self) -> None:
        n_active = sum(one.state in ACTIVE for one in self._downloads)
        title = self.tr("Downloads") if not n_active else self.tr("Downloads, %n under way", "", n_active)
        self._title.setText(title)
        self.setAccessibleName(title)
