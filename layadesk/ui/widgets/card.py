"""A card of a page: a heading, and what belongs to it below."""

from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.roles import set_role


def heading() -> QLabel:
    """The title of a card; it wraps."""
    label = QLabel()
    label.setFont(strong_font())
    label.setWordWrap(True)
    return label


def card(title: QLabel, *inside: QWidget) -> QFrame:
    """A card with these in a column."""
    made = QFrame()
    make_card(made, title, *inside)
    return made


def make_card(frame: QFrame, title: QLabel, *inside: QWidget) -> None:
    """Let a frame that is a class of its own be a card with these in a column."""
    set_role(frame, "card")
    column = QVBoxLayout(frame)
    column.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_M)
    column.setSpacing(GAP_S)
    for widget in (title, *inside):
        column.addWidget(widget)
