"""The right column: the machine, what each expert takes of it, and the route of the last answer. It folds away."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.monitor.memory_bills import MemoryBills
from layadesk.ui.monitor.resource_panel import ResourcePanel
from layadesk.ui.route.route_panel import RoutePanel
from layadesk.ui.theme.tokens import GAP_L, GAP_M, PANEL_MAX_WIDTH, PANEL_MIN_WIDTH
from layadesk.ui.widgets.roles import set_role


class SidePanel(QScrollArea):
    """Scrolls where the window is low."""

    def __init__(
        self, resources: ResourcePanel, bills: MemoryBills, experts: ExpertList, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("side-panel")
        set_role(self, "side")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(PANEL_MIN_WIDTH)
        self.setMaximumWidth(PANEL_MAX_WIDTH)
        self.resources = resources
        self.bills = bills
        experts.changed.connect(bills.refresh)
        self.route = RoutePanel(name_of=experts.name_of)
        experts.changed.connect(self.route.refresh_names)
        content = QWidget()
        set_role(content, "side")
        layout = QVBoxLayout(content)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_L)
        layout.addWidget(resources)
        layout.addWidget(bills)
        layout.addWidget(self.route)
        layout.addStretch(1)
        self.setWidget(content)
