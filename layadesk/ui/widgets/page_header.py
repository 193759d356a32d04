"""The row at the top of a page: its title, and buttons at the end."""

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from layadesk.ui.theme.fonts import title_font
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, HEADER_HEIGHT
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.roles import set_role


class PageHeader(QWidget):
    """For every page but the chat, which has one of its own."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "header")
        self.setFixedHeight(HEADER_HEIGHT)
        self.title = ElidedLabel()
        self.title.setFont(title_font())
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GAP_L, 0, GAP_S, 0)
        self._row.setSpacing(GAP_M)
        self._row.addWidget(self.title, 1)

    def add_button(self, button: QWidget) -> None:
        """Put a button at the right end."""
        self._row.addWidget(button)

    def stand_on(self, page: QWidget, body: QWidget, *below: QWidget) -> None:
        """Lay out a page: this at its top, then `body`, which takes all the room, then what stays below it."""
        set_role(page, "surface")
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self)
        column.addWidget(body, 1)
        for widget in below:
            column.addWidget(widget)
