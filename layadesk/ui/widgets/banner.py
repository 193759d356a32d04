"""A message across the page about something that goes on: storage, a child process. It stays until it is over."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from layadesk.ui.theme.icons import icon_pixmap
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_look, set_role

_ICONS = {Ink.OK: "check", Ink.WARN: "alert", Ink.DANGER: "alert", Ink.MUTED: "info"}
_LOG_LINES_SHOWN = 6


class Banner(QFrame):
    """An icon, a sentence, at most one action, details to unfold, a cross.

    Signals:
        accepted: the action was pressed.
    """

    accepted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "banner")
        self._ink = Ink.MUTED
        self._symbol = QLabel()
        self._label = QLabel()
        self._label.setWordWrap(True)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.action = QPushButton()
        self.action.setObjectName("banner-action")
        self.action.clicked.connect(self.accepted)
        self.details = QPushButton()
        self.details.setObjectName("banner-details")
        self.details.setCheckable(True)
        set_role(self.details, "quiet")
        self.details.toggled.connect(self._on_details)
        self.cross = IconButton("close")
        self.cross.setObjectName("banner-close")
        self.cross.clicked.connect(self.hide)
        self._log = QPlainTextEdit()
        self._log.setReadOnly(True)
        self._log.setTabChangesFocus(True)
        set_role(self._log, "log")
        self._lay_out()
        self._retranslate()
        self.hide()

    def show_message(
        self,
        text: str,
        *,
        ink: Ink = Ink.MUTED,
        action: str = "",
        details: Sequence[str] = (),
        can_close: bool = True,
    ) -> None:
        """Show `text`; `ink` is OK, WARN, DANGER or MUTED. `details` are lines to unfold, as of a log."""
        self._ink = ink
        self._label.setText(text)
        self.setAccessibleName(text)
        set_look(self, "severity", ink.value)
        self._draw_symbol()
        self.action.setText(action)
        self.action.setAccessibleName(action)
        self.action.setVisible(bool(action))
        self._log.setPlainText("\n".join(details))
        self.details.setVisible(bool(details))
        if not details:
            self.details.setChecked(False)
        self.cross.setVisible(can_close)
        self.show()

    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def focus_chain(self) -> tuple[QWidget, ...]:
        """Its stops for the Tab key, in order."""
        return (self.details, self.action, self.cross, self._log)

    def log_text(self) -> str:
        """The details, while they are unfolded."""
        return "" if self._log.isHidden() else self._log.toPlainText()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            self._draw_symbol()
        elif event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(GAP_S)
        row.addWidget(self._symbol, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._label, 1)
        row.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.action, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.cross, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_S, GAP_S, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addLayout(row)
        layout.addWidget(self._log)
        self._log.setFixedHeight(self._log.fontMetrics().lineSpacing() * _LOG_LINES_SHOWN + GAP_M)
        self._log.hide()

    def _draw_symbol(self) -> None:
        name = _ICONS.get(self._ink, "info")
        self._symbol.setPixmap(icon_pixmap(name, self._ink, ratio=self.devicePixelRatio()))

    def _retranslate(self) -> None:
        self.cross.set_name(self.tr("Close this message"))
        self.details.setText(self.tr("Details"))
        self.details.setAccessibleName(self.tr("Show the last lines of the log"))
        self._log.setAccessibleName(self.tr("The last lines of the log"))

    @Slot(bool)
    def _on_details(self, is_open: bool) -> None:
        self._log.setVisible(is_open)
