"""The right column: the machine, what each expert takes of it, its inside, the last answer's route. It folds away."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.inside.inside_strip import InsideStrip
from layadesk.ui.monitor.memory_bills import MemoryBills
from layadesk.ui.monitor.resource_panel import ResourcePanel
from layadesk.ui.route.route_panel import RoutePanel
from layadesk.ui.theme.tokens import GAP_L, GAP_M, PANEL_MAX_WIDTH, PANEL_MIN_WIDTH
from layadesk.ui.widgets.roles import set_role

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class SidePanel(QScrollArea):
    """Scrolls where the window is low."""

    def __init__(
        self, use_cases: "UseCases", experts: ExpertList, *, bridge: Bridge, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("side-panel")
        set_role(self, "side")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(PANEL_MIN_WIDTH)
        self.setMaximumWidth(PANEL_MAX_WIDTH)
        self.resources = ResourcePanel(use_cases.resources, bridge=bridge)
        self.bills = MemoryBills(
            use_cases.ledger, use_cases.resources, use_cases.workers, name_of=experts.name_of, bridge=bridge
        )
        self.inside = InsideStrip(use_cases.inside, bridge=bridge)
        experts.changed.connect(self.bills.refresh)
        self.route = RoutePanel(name_of=experts.name_of)
        experts.changed.connect(self.route.refresh_names)
        content = QWidget()
        set_role(content, "side")
        layout = QVBoxLayout(content)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_L)
        for widget in (self.resources, self.bills, self.inside, self.route):
            layout.addWidget(widget)
        layout.addStretch(1)
        self.setWidget(content)
