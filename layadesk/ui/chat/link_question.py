"""Before a link of a message is opened: where it leads, and whether that is wanted."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QMessageBox, QWidget


class LinkQuestion(QObject):
    """Asks each time; nothing is opened or looked up before the answer.

    Signals:
        asked: the question is on screen.
    """

    asked = Signal()

    def __init__(self, window: QWidget, open_url: Callable[[QUrl], object] = QDesktopServices.openUrl) -> None:
        super().__init__(window)
        self._window = window
        self._open_url = open_url
        self.box: QMessageBox | None = None
        self._address = ""

    @Slot(str)
    def ask(self, address: str) -> None:
        """Show the whole address, and offer to open or copy it."""
        self._address = address
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(self.tr("Open a link"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(self.tr("This link leaves LayaDesk and is opened in your browser:"))
        box.setInformativeText(address if len(address) <= 600 else f"{address[:600]}…")
        self._open = box.addButton(self.tr("Open"), QMessageBox.ButtonRole.AcceptRole)
        self._copy = box.addButton(self.tr("Copy the address"), QMessageBox.ButtonRole.ActionRole)
        cancel = box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(cancel)
        box.setEscapeButton(cancel)
        box.buttonClicked.connect(self._on_clicked)
        self.box = box
        box.open()
        self.asked.emit()

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        if button is self._open:
            self._open_url(QUrl(self._address))
        elif button is self._copy:
            QGuiApplication.clipboard().setText(self._address)
        self.box = None
