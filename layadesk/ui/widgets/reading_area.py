"""What a page of text and cards lies in: one column at reading width, in the middle, that scrolls up and down only."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from layadesk.ui.theme.tokens import GAP_L, TRANSCRIPT_WIDTH
from layadesk.ui.widgets.roles import set_role


class ReadingArea(QScrollArea):
    """Widgets go into `column`. The Tab key passes it by: its controls are stops, the area is not."""

    def __init__(self, *, spacing: int = GAP_L, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        content = QWidget()
        set_role(content, "plain")
        content.setMaximumWidth(TRANSCRIPT_WIDTH)
        self.column = QVBoxLayout(content)
        self.column.setContentsMargins(GAP_L, GAP_L, GAP_L, GAP_L)
        self.column.setSpacing(spacing)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(content)
