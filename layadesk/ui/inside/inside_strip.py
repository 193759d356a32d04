"""A small field beside the chat while MoE experts are watched; hidden otherwise."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.inside.heat_map import HeatMap
from layadesk.ui.texts.inside import cost
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.usecases.look_inside import LookInside


class InsideStrip(QFrame):
    """Signals:
    opened: the user wants the page.
    """

    opened = Signal()

    def __init__(self, inside: "LookInside", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._inside = inside
        self._title = QLabel()
        self._title.setFont(strong_font())
        self.map = HeatMap(is_small=True)
        self.cost = note()
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        column.setSpacing(GAP_S)
        for widget in (self._title, self.map, self.cost):
            column.addWidget(widget)
        bridge.follow(inside.changed, self._on_changed)
        self._render()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.opened.emit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _on_changed(self, _: str) -> None:
        self._render()

    def _render(self) -> None:
        answer = self._inside.last_answer() if self._inside.is_on else None
        self.setVisible(answer is not None)
        self._title.setText(self.tr("MoE experts of the last answer"))
        self.map.setAccessibleName(self._title.text())
        if answer is not None:
            self.map.show_counts(answer.record.layers, answer.record.shape.n_expert, answer.record.counts())
            self.cost.setText(cost(answer.record))
