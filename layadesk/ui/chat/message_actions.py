"""The row of small buttons below a message: switch between siblings, copy, edit or answer again."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.icon_button import IconButton

BUTTON_PX = 24
COPIED_MS = 1500


class SiblingSwitcher(QWidget):
    """`‹ 2/3 ›`; hidden for an only child.

    Signals:
        chosen: the id of the sibling to show.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ids: tuple[str, ...] = ()
        self._index = 0
        self.earlier = IconButton("chevron-left", size=BUTTON_PX)
        self.earlier.setObjectName("sibling-earlier")
        self.earlier.clicked.connect(self._on_earlier)
        self.label = QLabel()
        self.label.setFont(small_font())
        self.label.setProperty("ink", "muted")
        self.later = IconButton("chevron-right", size=BUTTON_PX)
        self.later.setObjectName("sibling-later")
        self.later.clicked.connect(self._on_later)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for widget in (self.earlier, self.label, self.later):
            layout.addWidget(widget)
        self._retranslate()
        self.hide()

    def set_siblings(self, message_id: str, ids: Sequence[str]) -> None:
        """All ids under the same parent, `message_id` among them; empty for an only child."""
        self._ids = tuple(ids)
        self._index = self._ids.index(message_id) if message_id in self._ids else 0
        n = len(self._ids)
        self.label.setText(f"{self._index + 1}/{n}")
        self.earlier.setEnabled(self._index > 0)
        self.later.setEnabled(self._index + 1 < n)
        self.setVisible(n > 1)
        self._retranslate()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.earlier.set_name(self.tr("Show the previous version"))
        self.later.set_name(self.tr("Show the next version"))
        self.label.setAccessibleName(
            self.tr("Version {number} of {count}").format(number=self._index + 1, count=max(len(self._ids), 1))
        )

    @Slot()
    def _on_earlier(self) -> None:
        self.chosen.emit(self._ids[self._index - 1])

    @Slot()
    def _on_later(self) -> None:
        self.chosen.emit(self._ids[self._index + 1])


class CopyButton(IconButton):
    """Shows a tick for a moment after the press; the copying is its owner's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("copy", parent, size=BUTTON_PX)
        self.setObjectName("copy")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COPIED_MS)
        self._timer.timeout.connect(self._on_time_up)
        self._retranslate()

    def show_done(self) -> None:
        """The text is in the clipboard."""
        self.set_icon("check", Ink.OK)
        self.set_name(self.tr("Copied"))
        self._timer.start()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.set_name(self.tr("Copy the message"))

    @Slot()
    def _on_time_up(self) -> None:
        self.set_icon("copy")
        self._retranslate()


def actions_row(*widgets: QWidget, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> QHBoxLayout:
    """The buttons side by side."""
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    if align == Qt.AlignmentFlag.AlignRight:
        row.addStretch(1)
    for widget in widgets:
        row.addWidget(widget)
    if align == Qt.AlignmentFlag.AlignLeft:
        row.addStretch(1)
    return row
