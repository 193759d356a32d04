"""Tokens as a QPalette, and back: a widget that paints itself asks for the colours each time, and so follows."""

from PySide6.QtGui import QColor, QGuiApplication, QPalette

from layadesk.ui.theme.tokens import DARK, LIGHT, Colours, Ink


def make_palette(colours: Colours) -> QPalette:
    """The palette Fusion draws with."""
    palette = QPalette()
    role = QPalette.ColorRole
    for which, value in (
        (role.Window, colours.background),
        (role.WindowText, colours.text),
        (role.Base, colours.surface),
        (role.AlternateBase, colours.raised),
        (role.Text, colours.text),
        (role.Button, colours.raised),
        (role.ButtonText, colours.text),
        (role.BrightText, colours.danger),
        (role.PlaceholderText, colours.muted),
        (role.ToolTipBase, colours.raised),
        (role.ToolTipText, colours.text),
        (role.Highlight, colours.accent),
        (role.HighlightedText, colours.on_accent),
        (role.Accent, colours.accent),
        (role.Link, colours.accent),
        (role.LinkVisited, colours.accent),
        (role.Light, colours.surface),
        (role.Midlight, colours.raised),
        (role.Mid, colours.border),
        (role.Dark, colours.border),
        (role.Shadow, colours.border),
    ):
        palette.setColor(which, QColor(value))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(colours.muted))
    return palette


def current_colours() -> Colours:
    """The theme in force, told by the application's palette, so that no widget has to hold the theme.

    Not by a widget's own palette: the style sheet makes backgrounds in those transparent, which reads as black.
    """
    window = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if window.lightness() < 128 else LIGHT


def ink(meaning: Ink) -> QColor:
    """The colour of a meaning in the theme in force."""
    return QColor(str(getattr(current_colours(), meaning.value)))
