"""What belongs to one conversation alone: its system prompt, and how its answers are sampled."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from layadesk.domain.chat import Conversation
from layadesk.domain.presets import PRESETS
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.roles import note

SIZE = (480, 340)


class ConversationDialog(QDialog):
    """Signals:
    chosen: system prompt and preset, "" for those of the settings.
    """

    chosen = Signal(str, str)

    def __init__(self, conversation: Conversation, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("This conversation"))
        self.resize(*SIZE)
        self.prompt = QPlainTextEdit(conversation.system_prompt)
        self.prompt.setObjectName("own-system-prompt")
        self.prompt.setTabChangesFocus(True)
        self.prompt.setAccessibleName(self.tr("System prompt of this conversation"))
        self.prompt.setPlaceholderText(self.tr("Empty: the system prompt of the settings"))
        self.preset = QComboBox()
        self.preset.setObjectName("preset")
        self.preset.setAccessibleName(self.tr("Sampling"))
        names = {"precise": self.tr("Precise"), "balanced": self.tr("Balanced"), "creative": self.tr("Creative")}
        self.preset.addItem(self.tr("As in the settings"), "")
        for preset in PRESETS:
            self.preset.addItem(names.get(preset, preset), preset)
        self.preset.setCurrentIndex(max(self.preset.findData(conversation.preset), 0))
        buttons = QDialogButtonBox()
        buttons.addButton(self.tr("Keep"), QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self._on_accepted)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addWidget(QLabel(self.tr("System prompt of this conversation")))
        layout.addWidget(self.prompt, 1)
        layout.addWidget(QLabel(self.tr("Sampling")))
        layout.addWidget(self.preset)
        layout.addWidget(note(self.tr("Both hold from the next answer on.")))
        layout.addWidget(buttons)

    @Slot()
    def _on_accepted(self) -> None:
        self.chosen.emit(self.prompt.toPlainText(), str(self.preset.currentData()))
        self.accept()
