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
    set_role(made, "card")
    column = QVBoxLayout(made)
    column.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_M)
    column.setSpacing(GAP_S)
    column.addWidget(title)
    for widget in inside:
        column.addWidget(widget)
    return made
