"""What an empty place shows: one sentence, one button."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.ui.theme.tokens import GAP_M, GAP_XL
from layadesk.ui.widgets.roles import set_role


class EmptyState(QWidget):
    """Centred in whatever room it is given.

    Signals:
        accepted: the button was pressed.
    """

    accepted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._sentence = QLabel()
        self._sentence.setWordWrap(True)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence.setProperty("ink", "muted")
        self.button = QPushButton()
        self.button.setObjectName("empty-state-button")
        self.button.clicked.connect(self.accepted)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_XL, GAP_XL, GAP_XL, GAP_XL)
        layout.setSpacing(GAP_M)
        layout.addStretch(2)
        layout.addWidget(self._sentence)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(3)

    def set_texts(self, sentence: str, button: str) -> None:
        """The sentence, and what the button says; an empty one hides it."""
        self._sentence.setText(sentence)
        self.button.setText(button)
        self.button.setAccessibleName(button)
        self.button.setVisible(bool(button))

    def sentence(self) -> str:
        """What it says."""
        return self._sentence.text()
