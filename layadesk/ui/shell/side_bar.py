"""The left column: the pages, the conversations, and the options below them."""

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from layadesk.ui.chat.conversation_list import ConversationList
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.navigation_rail import NavigationRail
from layadesk.ui.shell.options_menu import OptionsButton
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, SIDE_BAR_MAX_WIDTH, SIDE_BAR_MIN_WIDTH
from layadesk.ui.widgets.roles import set_role
from layadesk.usecases.about import About


class SideBar(QWidget):
    """From top to bottom: where to go, what was said, how it looks."""

    def __init__(self, appearance: Appearance, about: About, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "side")
        self.setMinimumWidth(SIDE_BAR_MIN_WIDTH)
        self.setMaximumWidth(SIDE_BAR_MAX_WIDTH)
        self.rail = NavigationRail()
        self.conversations = ConversationList()
        self.options = OptionsButton(appearance, about)
        foot = QVBoxLayout()
        foot.setContentsMargins(GAP_S, 0, GAP_S, GAP_S)
        foot.addWidget(self.options)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_XS)
        layout.addWidget(self.rail)
        layout.addWidget(_rule())
        layout.addWidget(self.conversations, 1)
        layout.addWidget(_rule())
        layout.addLayout(foot)


def _rule() -> QFrame:
    rule = QFrame()
    set_role(rule, "rule")
    return rule
