"""A notice of the desktop when a long answer is done and nobody looks at the window; off by default."""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSystemTrayIcon, QWidget

from layadesk.domain.chat import Message, MessageStatus
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.ui.theme.icons import application_icon

LONG_S = 20.0
SHOWN_MS = 8_000


class Notices(QObject):
    """The icon is in the tray only while the setting is on; a click on it or the notice brings the window back."""

    def __init__(self, settings: Settings, window: QWidget, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(window)
        self._settings = settings
        self._window = window
        self._now = now
        self._tray: QSystemTrayIcon | None = None
        self.shown: list[str] = []
        self.follow()

    @Slot()
    def follow(self) -> None:
        """The setting may be another one."""
        is_on = self._settings.get(definitions.UI_NOTICE)
        if is_on and self._tray is None and QSystemTrayIcon.isSystemTrayAvailable():
            self._tray = QSystemTrayIcon(application_icon(), self)
            self._tray.setToolTip("LayaDesk")
            self._tray.activated.connect(self._on_activated)
            self._tray.messageClicked.connect(self._on_activated)
            self._tray.show()
        elif not is_on and self._tray is not None:
            self._tray.hide()
            self._tray.deleteLater()
            self._tray = None

    @Slot(object)
    def tell(self, message: Message) -> None:
        """An answer has ended. Its text is not shown: others may see the screen."""
        took_s = self._now() - message.created_at
        is_done = message.status is MessageStatus.COMPLETE
        if not self._settings.get(definitions.UI_NOTICE) or took_s < LONG_S or self._window.isActiveWindow():
            return
        text = self.tr("The answer is complete.") if is_done else self.tr("The answer has ended early.")
        self.shown.append(text)
        if self._tray is not None:
            self._tray.showMessage("LayaDesk", text, QSystemTrayIcon.MessageIcon.Information, SHOWN_MS)

    @Slot()
    def _on_activated(self) -> None:
        self._window.showNormal()
        self._window.raise_()
        self._window.activateWindow()
