"""Above the transcript: the title, who answers, how full the context is."""

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from layadesk.ui.chat.context_gauge import ContextGauge
from layadesk.ui.chat.expert_list import ExpertList
from layadesk.ui.chat.expert_picker import ExpertPicker
from layadesk.ui.theme.fonts import title_font
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, HEADER_HEIGHT
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_role

COMPACT_WIDTH = 560


class ChatHeader(QWidget):
    """One row; whoever owns the window may add buttons at its end."""

    def __init__(self, experts: ExpertList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "header")
        self.setFixedHeight(HEADER_HEIGHT)
        self.title = ElidedLabel()
        self.title.setObjectName("title")
        self.title.setFont(title_font())
        self.picker = ExpertPicker(experts)
        self.gauge = ContextGauge()
        self.options_button = IconButton("options")
        self.options_button.setObjectName("conversation-options")
        self._retranslate()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(GAP_L, 0, GAP_S, 0)
        self._row.setSpacing(GAP_M)
        self._row.addWidget(self.title, 1)
        self._row.addWidget(self.gauge)
        self._row.addWidget(self.picker)
        self._row.addWidget(self.options_button)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.gauge.set_compact(self.width() < COMPACT_WIDTH)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.options_button.set_name(self.tr("System prompt and sampling of this conversation"))

    def add_button(self, button: QWidget) -> None:
        """Put a button at the right end."""
        self._row.addWidget(button)
