"""Light or dark: the setting, the system's wish, and what follows from them for the whole application."""

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication

from layadesk.ui.theme.fonts import control_font
from layadesk.ui.theme.icons import renew_icons
from layadesk.ui.theme.palette import current_colours, make_palette
from layadesk.ui.theme.style import style_sheet
from layadesk.ui.theme.tokens import DARK, LIGHT

SYSTEM = "system"
_SCHEMES = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}


class Theme(QObject):
    """Owned by the application.

    Signals:
        changed: the colours are other ones now; widgets hear it as PaletteChange as well.
    """

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._choice = SYSTEM
        app.setStyle("Fusion")
        app.setFont(control_font())
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    def use(self, choice: str) -> None:
        """`choice` is "system", "light" or "dark". Native frames and dialogs follow it where the system lets them."""
        self._choice = choice
        hints = self._app.styleHints()
        if choice in _SCHEMES:
            hints.setColorScheme(_SCHEMES[choice])
        else:
            hints.unsetColorScheme()
        self._apply(_SCHEMES.get(choice, hints.colorScheme()))

    def _apply(self, scheme: Qt.ColorScheme) -> None:
        colours = DARK if scheme is Qt.ColorScheme.Dark else LIGHT
        if self._app.styleSheet() and colours is current_colours():
            return
        self._app.setPalette(make_palette(colours))
        self._app.setStyleSheet(style_sheet(colours))
        renew_icons()
        self.changed.emit()

    @Slot(Qt.ColorScheme)
    def _on_scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        self._apply(_SCHEMES.get(self._choice, scheme))
