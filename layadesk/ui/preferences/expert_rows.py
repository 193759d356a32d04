"""The installed experts on the Settings page, each with the way to how it is loaded."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.preferences.load_dialog import LoadDialog
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.load_settings import LoadSettings


class ExpertRows(QWidget):
    """Signals:
    failed: an ErrorReport of something that was not kept.
    rows_changed: other experts, or another one has a choice of its own.
    """

    failed = Signal(object)
    rows_changed = Signal()

    def __init__(self, load_settings: "LoadSettings", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._load_settings = load_settings
        self._bridge = bridge
        self.dialog: LoadDialog | None = None
        self.buttons: dict[str, QPushButton] = {}
        self._heading = QLabel()
        self._heading.setFont(strong_font())
        self._what = note()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(GAP_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_M, 0, 0)
        layout.setSpacing(GAP_S)
        for widget in (self._heading, self._what):
            layout.addWidget(widget)
        layout.addLayout(self._rows)
        bridge.follow(load_settings.changed, self._on_changed)

    @Slot()
    def fill(self) -> None:
        """The experts there are now."""
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.buttons.clear()
        for model, has_own in self._load_settings.experts():
            self._rows.addWidget(self._row(model.model_id, model.name, has_own=has_own))
        self._heading.setText(self.tr("Loading of each expert"))
        empty = self.tr("There is no expert yet.")
        what = self.tr(
            "The planner chooses for this machine. You can choose otherwise for each expert, and see what it takes."
        )
        self._what.setText(what if self.buttons else empty)
        self.rows_changed.emit()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange and self.isVisible():
            self.fill()
        super().changeEvent(event)

    def open_dialog(self, model_id: str, name: str) -> None:
        """Choose how that expert is loaded."""
        self.dialog = LoadDialog(self._load_settings, model_id, name, bridge=self._bridge, parent=self.window())
        self.dialog.failed.connect(self.failed)
        self.dialog.open()

    def _row(self, model_id: str, name: str, *, has_own: bool) -> QWidget:
        row = QWidget()
        label = ElidedLabel()
        label.set_text(name)
        own = note(self.tr("chosen by you") if has_own else self.tr("as the planner chooses"))
        button = QPushButton(self.tr("Change…"))
        button.setObjectName(f"load-settings-{model_id}")
        button.setAccessibleName(self.tr("Change how {name} is loaded").format(name=name))
        button.clicked.connect(partial(self._on_clicked, model_id, name))
        self.buttons[model_id] = button
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_M)
        layout.addWidget(label, 1)
        layout.addWidget(own)
        layout.addWidget(button)
        return row

    def _on_clicked(self, model_id: str, name: str, _checked: bool = False) -> None:
        self.open_dialog(model_id, name)

    def _on_changed(self, _: str) -> None:
        if self.isVisible():
            self.fill()
