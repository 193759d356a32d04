"""The remote experts on the Settings page: add, change, test and remove them."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.remote import RemoteExpert
from layadesk.ui.bridge import Bridge
from layadesk.ui.preferences.remote_dialog import RemoteDialog
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.remote import where_to
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.remote_experts import RemoteExperts, Removed


class RemoteRows(QWidget):
    """Signals:
    failed: an ErrorReport of something that was not kept.
    removed: in words, and what brings it back, a callable.
    rows_changed: other entries, so other stops for the Tab key.
    """

    failed = Signal(object)
    removed = Signal(str, object)
    rows_changed = Signal()

    def __init__(self, remotes: "RemoteExperts", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("remote-experts")
        self._remotes = remotes
        self._bridge = bridge
        self.dialog: RemoteDialog | None = None
        self.buttons: list[QPushButton] = []
        self._heading = QLabel()
        self._heading.setFont(strong_font())
        self._what = note()
        self.told = note()
        self.told.hide()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(GAP_S)
        self.add_button = QPushButton()
        self.add_button.setObjectName("add-remote")
        self.add_button.clicked.connect(self.add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, GAP_M, 0, 0)
        layout.setSpacing(GAP_S)
        for widget in (self._heading, self._what, self.told):
            layout.addWidget(widget)
        layout.addLayout(self._rows)
        layout.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        bridge.follow(remotes.changed, self._on_changed)
        self._retranslate()

    def stops(self) -> list[QWidget]:
        """For the Tab key."""
        return [*self.buttons, self.add_button]

    def text(self) -> str:
        """All that it says."""
        return "\n".join(label.text() for label in self.findChildren(QLabel) if not label.isHidden())

    @Slot()
    def fill(self) -> None:
        """The entries there are now."""
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.buttons.clear()
        for expert in self._remotes.list():
            self._rows.addWidget(self._row(expert))
        self.rows_changed.emit()

    @Slot()
    def add(self) -> None:
        """Enter a new one."""
        self._open(None)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
            self.fill()
        super().changeEvent(event)

    def _row(self, expert: RemoteExpert) -> QWidget:
        row = QWidget()
        name = ElidedLabel()
        name.set_text(expert.name)
        what = note(f"{expert.model} · {where_to(expert.host)} · {self._state(expert)}")
        column = QVBoxLayout()
        column.setSpacing(GAP_XS)
        column.addWidget(name)
        column.addWidget(what)
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addLayout(column, 1)
        for text, called, act in (
            (self.tr("Change…"), self.tr("Change {name}"), self._change),
            (self.tr("Remove"), self.tr("Remove {name}"), self._remove),
        ):
            button = QPushButton(text)
            button.setAccessibleName(called.format(name=expert.name))
            button.clicked.connect(partial(act, expert.model_id))
            layout.addWidget(button)
            self.buttons.append(button)
        return row

    def _state(self, expert: RemoteExpert) -> str:
        state = self._remotes.state(expert.model_id)
        if state.is_up is None:
            return self.tr("not looked at yet")
        if state.error is None:
            return self.tr("its server answers")
        return explain(state.error, name=expert.name).what

    def _retranslate(self) -> None:
        self._heading.setText(self.tr("Remote experts"))
        self._what.setText(
            self.tr(
                "Models that run elsewhere, behind an OpenAI-compatible address. What you ask them leaves this "
                "machine, and each answer says so."
            )
        )
        self.add_button.setText(self.tr("Add a remote expert…"))
        self.add_button.setAccessibleName(self.add_button.text())

    def _change(self, model_id: str) -> None:
        self._open(self._remotes.find(model_id))

    def _open(self, expert: RemoteExpert | None) -> None:
        self.dialog = RemoteDialog(self._remotes, expert, bridge=self._bridge, parent=self)
        self.dialog.kept.connect(self._on_kept)
        self.dialog.open()

    def _remove(self, model_id: str) -> None:
        self._bridge.deliver(self._remotes.remove(model_id), self._on_removed, on_error=self._on_failed)

    def _on_removed(self, removed: "Removed") -> None:
        said = self.tr("{name} and its key are removed.").format(name=removed.expert.name)
        self.removed.emit(said, partial(self._restore, removed))

    def _restore(self, removed: "Removed") -> None:
        self._bridge.deliver(self._remotes.restore(removed), self._on_restored, on_error=self._on_failed)

    def _on_restored(self, _: None) -> None:
        """The list has told of it."""

    @Slot(str)
    def _on_kept(self, said: str) -> None:
        self.told.setText(said)
        self.told.show()

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)

    @Slot(object)
    def _on_changed(self, _: object) -> None:
        if self.isVisible():
            self.fill()
