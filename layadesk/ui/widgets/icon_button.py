"""A button that is only an icon; it cannot be made without a name for those who do not see it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QToolButton, QWidget

from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import BUTTON_PX, ICON_PX, Ink


class IconButton(QToolButton):
    """Flat, square, reached by Tab, pressed by Space or Enter. The name is its tool tip as well."""

    def __init__(
        self, icon_name: str, parent: QWidget | None = None, *, ink: Ink = Ink.MUTED, size: int = BUTTON_PX
    ) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedSize(size, size)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.set_icon(icon_name, ink)

    def set_icon(self, icon_name: str, ink: Ink = Ink.MUTED) -> None:
        """Show another icon."""
        set_icon(self, icon_name, ink)

    def set_name(self, name: str, shortcut: str = "") -> None:
        """What it does, for the tool tip and screen readers; `shortcut` is shown in the tool tip only."""
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({shortcut})" if shortcut else name)
