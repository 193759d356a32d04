"""The pages of the window by name, at the top of the left column. Only pages that were added are offered."""

from enum import StrEnum
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, ICON_PX, Ink
from layadesk.ui.widgets.roles import set_role


class Destination(StrEnum):
    """The pages there can be, in their order."""

    CHAT = "chat"
    MODELS = "models"
    ROUTES = "routes"
    INSIDE = "inside"
    HEALTH = "health"
    SERVER = "server"
    SETTINGS = "settings"


_ICONS: Final = {
    Destination.CHAT: "chat",
    Destination.MODELS: "models",
    Destination.ROUTES: "route",
    Destination.INSIDE: "inside",
    Destination.HEALTH: "health",
    Destination.SERVER: "server",
    Destination.SETTINGS: "options",
}


class NavigationRail(QWidget):
    """Signals:
    chosen: a `Destination`.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: dict[Destination, QToolButton] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GAP_S, GAP_S, GAP_S, GAP_XS)
        self._column.setSpacing(1)

    def offer(self, destination: Destination) -> None:
        """Add its button, at its place in the order."""
        button = QToolButton()
        button.setObjectName(f"go-{destination}")
        set_role(button, "rail")
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        button.setIconSize(QSize(ICON_PX, ICON_PX))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_icon(button, _ICONS[destination], Ink.TEXT)
        button.clicked.connect(lambda: self.chosen.emit(destination.value))
        self._buttons[destination] = button
        self._column.insertWidget(self.destinations().index(destination), button)
        self._retranslate()

    def destinations(self) -> tuple[Destination, ...]:
        """What is offered, from top to bottom."""
        return tuple(destination for destination in Destination if destination in self._buttons)

    def show_current(self, destination: Destination) -> None:
        """Mark the page that is shown."""
        for other, button in self._buttons.items():  # no QButtonGroup: the Tab key would reach one of its buttons only
            button.setChecked(other is destination)

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self._buttons[destination] for destination in self.destinations()]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        names = {
            Destination.CHAT: self.tr("Chat"),
            Destination.MODELS: self.tr("Models"),
            Destination.ROUTES: self.tr("Routes"),
            Destination.INSIDE: self.tr("Inside"),
            Destination.HEALTH: self.tr("Health"),
            Destination.SERVER: self.tr("Server"),
            Destination.SETTINGS: self.tr("Settings"),
        }
        for place, destination in enumerate(self.destinations(), start=1):
            button = self._buttons[destination]
            button.setText(names[destination])
            button.setAccessibleName(names[destination])
            button.setToolTip(f"{names[destination]} (Ctrl+{place})")
