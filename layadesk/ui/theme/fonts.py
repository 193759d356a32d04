"""The system's fonts at the sizes of the design, with Simplified Chinese glyphs where the font has none."""

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo, QGuiApplication

from layadesk.ui.theme.tokens import CODE_PX, CONTROL_PX, SMALL_PX, TITLE_PX, TRANSCRIPT_PX

# Named before the system's own choice, which may hand out Japanese glyph forms for Chinese text.
CHINESE = ("PingFang SC", "Microsoft YaHei UI", "Microsoft YaHei", "Noto Sans CJK SC", "Source Han Sans SC")

MONOSPACE = ("Cascadia Mono", "Consolas", "Menlo", "Noto Sans Mono", "DejaVu Sans Mono", "Liberation Mono")


def code_font() -> QFont:
    """The system's monospace, for code."""
    font = _sized(QFontDatabase.SystemFont.FixedFont, CODE_PX)
    font.setStyleHint(QFont.StyleHint.Monospace)
    if not QFontInfo(font).fixedPitch():  # a platform without a font of its own for code
        font.setFamilies([*MONOSPACE, *CHINESE])
    return font


def control_font() -> QFont:
    """For buttons, lists and fields."""
    return _sized(QFontDatabase.SystemFont.GeneralFont, CONTROL_PX)


def transcript_font() -> QFont:
    """For what is said."""
    return _sized(QFontDatabase.SystemFont.GeneralFont, TRANSCRIPT_PX)


def title_font() -> QFont:
    """For the title of the conversation."""
    font = _sized(QFontDatabase.SystemFont.GeneralFont, TITLE_PX)
    font.setWeight(QFont.Weight.DemiBold)
    return font


def strong_font() -> QFont:
    """Control size, for headings of panels and names in bold."""
    font = control_font()
    font.setWeight(QFont.Weight.DemiBold)
    return font


def small_font() -> QFont:
    """For chips, axes and notes; figures are tabular, so that nothing jumps when a number changes."""
    return _tabular(_sized(QFontDatabase.SystemFont.GeneralFont, SMALL_PX))


def figure_font() -> QFont:
    """Control size with tabular figures."""
    return _tabular(control_font())


def _sized(which: QFontDatabase.SystemFont, pixels: float) -> QFont:
    font = QFontDatabase.systemFont(which)
    font.setFamilies([*font.families(), *CHINESE])
    # Qt takes fractions in points only; the logical resolution is 72 on macOS and 96 elsewhere.
    screen = QGuiApplication.primaryScreen()
    dots_per_inch = screen.logicalDotsPerInch() if screen is not None else 96.0
    font.setPointSizeF(pixels * 72.0 / dots_per_inch)
    return font


def _tabular(font: QFont) -> QFont:
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
