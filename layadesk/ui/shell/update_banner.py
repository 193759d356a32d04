"""There is a newer version: which, who said so, and where to read about it. Only while the user has it switched on."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.widgets.banner import Banner

if TYPE_CHECKING:
    from layadesk.usecases.watch_updates import UpdateNotice, WatchUpdates


class UpdateBanner(Banner):
    """Closed by its cross, it does not come back for the same version.

    Signals:
        page_wanted: the address of the page about the new version; ask before it is opened.
    """

    page_wanted = Signal(str)

    def __init__(self, updates: "WatchUpdates", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner-update")
        self._updates = updates
        self._notice = updates.notice
        self.accepted.connect(self._on_accepted)
        self.cross.clicked.connect(self._on_dismissed)
        bridge.follow(updates.feed, self._on_notice)
        self._render()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange and hasattr(self, "_notice"):
            self._render()

    @Slot(object)
    def _on_notice(self, notice: "UpdateNotice | None") -> None:
        self._notice = notice
        self._render()

    def _render(self) -> None:
        notice = self._notice
        if notice is None:
            self.hide()
            return
        text = self.tr("LayaDesk {version} is there; this is {running}. {host} was asked, as you wanted.")
        told = text.format(version=notice.version, running=notice.running, host=notice.host)
        self.show_message(told, action=self.tr("Read about it…") if notice.page else "")

    @Slot()
    def _on_accepted(self) -> None:
        if self._notice is not None:
            self.page_wanted.emit(self._notice.page)

    @Slot()
    def _on_dismissed(self) -> None:
        if self._notice is not None:
            self._updates.dismiss(self._notice.version)
            self._notice = None
