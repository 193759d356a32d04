"""Closing the window while an answer is being written: asked once, never at the end of the session."""

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QWidget

ENDING = "is_ending"  # a property of the application: somebody else ends it, and nobody is there to answer


class Closing(QObject):
    """Decides whether the window may close now."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._is_confirmed = False
        self.asks = True
        self.box: QMessageBox | None = None

    def may_close(self, n_running: int) -> bool:
        """True where nothing is lost, or the user has said so; else the question is on screen."""
        app = QGuiApplication.instance()
        is_ending = isinstance(app, QApplication) and (bool(app.property(ENDING)) or app.isSavingSession())
        if not n_running or self._is_confirmed or is_ending or not self.asks:
            return True
        if self.box is None:
            self._ask(n_running)
        return False

    def _ask(self, n_running: int) -> None:
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle("LayaDesk")
        box.setText(self.tr("%n answer(s) are still being written.", "", n_running))
        box.setInformativeText(self.tr("What is there so far is kept."))
        self._close = box.addButton(self.tr("Stop and close"), QMessageBox.ButtonRole.DestructiveRole)
        stay = box.addButton(self.tr("Stay"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        box.buttonClicked.connect(self._on_clicked)
        self.box = box
        box.open()

    @Slot(QAbstractButton)
    def _on_clicked(self, button: QAbstractButton) -> None:
        self.box = None
        if button is self._close:
            self._is_confirmed = True
            self._window.close()
