"""The style sheet, made from the tokens. Widgets say what they are by the property `role`; fonts are set in code."""

from string import Template

from layadesk.paths import assets_dir
from layadesk.ui.theme.tokens import BUTTON_PX, CHIP_RADIUS, DARK, GAP_M, GAP_S, GAP_XS, LIGHT, RADIUS, Colours

_SHEET = Template("""
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px; }
QWidget[role="surface"] { background: $surface; }
QWidget[role="side"] { background: $background; }
QSplitter::handle { background: $border; }
QScrollArea { background: transparent; border: none; }
QScrollArea > QWidget > QWidget[role="plain"] { background: transparent; }
QWidget[role="header"] { background: $surface; border: none; border-bottom: 1px solid $border; }
QFrame[role="rule"] { background: $border; border: none; max-height: 1px; min-height: 1px; }

QLabel[ink="muted"] { color: $muted; }
QLabel[ink="accent"] { color: $accent; }
QLabel[ink="ok"] { color: $ok; }
QLabel[ink="warn"] { color: $warn; }
QLabel[ink="danger"] { color: $danger; }

QPushButton {
  background: $surface; color: $text; border: 1px solid $border; border-radius: ${radius}px;
  padding: 5px ${gap_m}px; min-height: 18px;
}
QPushButton:hover { background: $raised; }
QPushButton:pressed { background: $border; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $muted; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border-color: $accent; }
QPushButton[role="primary"]:focus { border: 2px solid $text; padding: 4px 11px; }
QPushButton[role="quiet"] { background: transparent; border-color: transparent; color: $muted; }
QPushButton[role="quiet"]:hover { background: $raised; color: $text; }
QPushButton[role="quiet"]:focus { border-color: $accent; }
QPushButton[role="new"] { text-align: left; padding: 6px 10px; }

QToolButton {
  background: transparent; border: 1px solid transparent; border-radius: 6px; color: $text; padding: 3px;
}
QToolButton:hover { background: $raised; }
QToolButton:pressed { background: $border; }
QToolButton:focus { border-color: $accent; }
QToolButton[role="send"] { background: $accent; border-radius: ${radius}px; }
QToolButton[role="send"]:disabled { background: $raised; }
QToolButton[role="send"]:focus { border: 2px solid $text; }
QToolButton[role="stop"] { background: $raised; border: 1px solid $border; border-radius: ${radius}px; }
QToolButton[role="stop"]:focus { border: 2px solid $accent; }
QToolButton[role="picker"] { border: 1px solid $border; border-radius: ${radius}px; padding: 4px 8px; }
QToolButton[role="picker"]:focus { border-color: $accent; }
QToolButton[role="rail"] { border-radius: ${radius}px; padding: 5px 10px; text-align: left; }
QToolButton[role="rail"]:checked { background: $raised; }
QToolButton[role="rail"]:focus { border-color: $accent; }
QToolButton[role="fold"] { text-align: left; padding: 4px 2px; }
QToolButton[role="range"] { color: $muted; padding: 1px 6px; }
QToolButton[role="range"]:checked { background: $raised; color: $text; border-color: $border; }
QToolButton[role="range"]:focus { border-color: $accent; }
QToolButton::menu-indicator { image: none; width: 0px; }

QFrame[role="question"] { background: $raised; border: none; border-radius: ${radius}px; }
QFrame[role="composer"] { background: $surface; border: 1px solid $border; border-radius: ${radius}px; }
QFrame[role="composer"][active="true"] { border-color: $accent; }
QTextEdit { background: transparent; border: none; selection-background-color: $accent;
  selection-color: $on_accent; }
QTextEdit[role="answer"]:focus, QTextEdit[role="question-text"]:focus { background: transparent; }

QFrame[role="code-frame"] { background: $raised; border: 1px solid $border; border-radius: ${radius}px; }
QPlainTextEdit[role="code"] { background: transparent; color: $text; border: none; padding: 0 ${gap_m}px;
  selection-background-color: $accent; selection-color: $on_accent; }
QToolButton#thinking { color: $muted; text-align: left; padding: 2px 6px 2px 2px; }
QToolButton#thinking:hover { color: $text; }

QToolButton[role="chip"] {
  border-radius: ${chip_radius}px; padding: 1px ${gap_s}px; min-height: 17px; background: $raised;
}
QToolButton[role="chip"]:hover { background: $border; }
QLabel[role="chip"] {
  background: $raised; color: $text; border-radius: ${chip_radius}px; padding: 2px ${gap_s}px; min-height: 17px;
}
QFrame[role="drop"] { background: $surface; border: 2px dashed $accent; border-radius: ${radius}px; }
QFrame[role="bar"] { background: $surface; border: none; border-top: 1px solid $border; }
QFrame[role="badge"] { background: transparent; border: 1px solid $border; border-radius: ${chip_radius}px; }
QFrame[role="badge"][severity="ok"] { border-color: $ok; }
QFrame[role="badge"][severity="warn"] { border-color: $warn; }
QFrame[role="badge"][severity="danger"] { border-color: $danger; }
QFrame[role="badge"][severity="accent"] { border-color: $accent; }
QFrame[role="card"] { background: $surface; border: 1px solid $border; border-radius: ${radius}px; }
QFrame[role="failure"] { background: transparent; border: 1px solid $danger; border-radius: ${radius}px; }
QFrame[role="remark"] { background: transparent; border: 1px solid $border; border-radius: ${radius}px; }
QFrame[role="banner"] { background: $raised; border: none; border-bottom: 1px solid $border;
  border-left: 3px solid $muted; }
QFrame[role="banner"][severity="ok"] { border-left-color: $ok; }
QFrame[role="banner"][severity="warn"] { border-left-color: $warn; }
QFrame[role="banner"][severity="danger"] { border-left-color: $danger; }
QPlainTextEdit[role="log"] { background: $surface; color: $muted; border: 1px solid $border; border-radius: 6px; }
QFrame[role="toast"] { background: $toast; border: none; border-radius: ${radius}px; }
QFrame[role="toast"] QLabel { color: $toast_text; }
QFrame[role="toast"] QPushButton { background: transparent; color: $toast_link; border: 1px solid transparent;
  padding: 3px 8px; }
QFrame[role="toast"] QPushButton:hover, QFrame[role="toast"] QPushButton:focus { border-color: $toast_link; }

QCheckBox::indicator, QRadioButton::indicator { width: 8px; height: 8px; padding: 2px; background-clip: content;
  border: 1px solid $muted; background-color: transparent; }
QCheckBox::indicator { border-radius: 3px; }
QRadioButton::indicator { border-radius: 7px; }
QCheckBox::indicator:checked, QRadioButton::indicator:checked { background-color: $accent; border-color: $accent; }
QCheckBox:focus, QRadioButton:focus { color: $accent; }

QListView { background: transparent; border: none; outline: none; }
QLineEdit, QPlainTextEdit, QAbstractSpinBox, QComboBox { background: $surface; color: $text;
  border: 1px solid $border; border-radius: 6px; padding: 2px 6px; selection-background-color: $accent;
  selection-color: $on_accent; }
QLineEdit:focus, QPlainTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus { border-color: $accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: $muted; border-color: $border; }
QAbstractSpinBox, QComboBox { min-height: 20px; }
QAbstractSpinBox QLineEdit { background: transparent; border: none; padding: 0 2px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { subcontrol-origin: border; width: 18px; border: none; }
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QComboBox::drop-down { subcontrol-origin: padding; subcontrol-position: center right; width: 18px; border: none; }
QAbstractSpinBox::up-arrow { image: url("$arrows/up.svg"); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url("$arrows/down.svg"); width: 10px; height: 10px; }
QComboBox::down-arrow { image: url("$arrows/down.svg"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $surface; color: $text; border: 1px solid $border; outline: none;
  selection-background-color: $raised; selection-color: $text; }

QLineEdit[role="search"] { background: $raised; border: 1px solid transparent; padding: 4px 6px; }
QLineEdit[role="search"]:focus { border-color: $accent; }

QTableView { background: $surface; border: 1px solid $border; border-radius: 6px; outline: none; }
QHeaderView { background: $surface; }
QHeaderView::section { background: $surface; color: $muted; border: none; border-bottom: 1px solid $border;
  padding: 3px 4px; }

QMenu { background: $surface; color: $text; border: 1px solid $border; padding: ${gap_xs}px; }
QMenu::item { padding: 5px 24px 5px 10px; border-radius: 6px; }
QMenu::item:selected { background: $raised; }
QMenu::item:disabled { color: $muted; }
QMenu::separator { height: 1px; background: $border; margin: ${gap_xs}px ${gap_s}px; }
QMenu::indicator { width: 14px; height: 14px; padding-left: 6px; }

QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar::handle:vertical { background: $border; border-radius: 4px; min-height: ${button}px; margin: 1px; }
QScrollBar::handle:vertical:hover { background: $others; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle:horizontal { background: $border; border-radius: 4px; min-width: ${button}px; margin: 1px; }
""")


def style_sheet(colours: Colours) -> str:
    """The whole sheet for one theme. A toast is drawn in the colours of the other one, so that it stands out."""
    other = LIGHT if colours.is_dark else DARK
    return _SHEET.substitute(
        background=colours.background,
        surface=colours.surface,
        raised=colours.raised,
        border=colours.border,
        text=colours.text,
        muted=colours.muted,
        accent=colours.accent,
        on_accent=colours.on_accent,
        ok=colours.ok,
        warn=colours.warn,
        danger=colours.danger,
        others=colours.others,
        toast=other.surface,
        toast_text=other.text,
        toast_link=other.accent,
        radius=RADIUS,
        chip_radius=CHIP_RADIUS,
        gap_xs=GAP_XS,
        gap_s=GAP_S,
        gap_m=GAP_M,
        button=BUTTON_PX,
        arrows=(assets_dir() / "arrows").as_posix(),
    )
