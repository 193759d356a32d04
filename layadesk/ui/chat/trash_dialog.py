"""Conversations that were deleted and are still there, with the way back."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QDate, QDateTime, QLocale, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from layadesk.domain.chat import DeletedConversation
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.manage_conversations import Conversations

SIZE = (520, 380)


class TrashDialog(QDialog):
    """Signals:
    restore_requested: id of the conversation to bring back.
    failed: an ErrorReport of something that did not happen.
    """

    restore_requested = Signal(str)
    failed = Signal(object)

    def __init__(self, conversations: "Conversations", *, bridge: Bridge, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Deleted conversations"))
        self.resize(*SIZE)
        self._conversations = conversations
        self._bridge = bridge
        self._sure_of = ""  # which one the user has begun to remove for good
        self.told = note()
        self.list = QListWidget()
        self.list.setObjectName("deleted-conversations")
        self.list.setAccessibleName(self.tr("Deleted conversations"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.currentRowChanged.connect(self._on_row_changed)
        self.list.itemActivated.connect(self._on_restore)
        buttons = QDialogButtonBox()
        self.restore_button: QPushButton = buttons.addButton(
            self.tr("Bring back"), QDialogButtonBox.ButtonRole.ActionRole
        )
        self.erase_button: QPushButton = buttons.addButton("", QDialogButtonBox.ButtonRole.DestructiveRole)
        buttons.addButton(self.tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        self.restore_button.setDefault(True)
        self.restore_button.clicked.connect(self._on_restore)
        self.erase_button.clicked.connect(self._on_erase)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addWidget(self.told)
        layout.addWidget(self.list, 1)
        layout.addWidget(buttons)
        self._show(())
        self._ask()

    def _ask(self) -> None:
        self._bridge.deliver(self._conversations.deleted(), self._show, on_error=self._on_failed)

    def _show(self, deleted: tuple[DeletedConversation, ...]) -> None:
        self.list.clear()
        for one in deleted:
            day = QLocale().toString(_day_of(one.deleted_at), QLocale.FormatType.ShortFormat)
            words = self.tr("deleted {day} · %n message(s)", "", one.n_messages).format(day=day)
            item = QListWidgetItem(f"{one.title or self.tr('Untitled')}\n{words}")
            item.setData(Qt.ItemDataRole.UserRole, one.conversation_id)
            self.list.addItem(item)
        self.told.setText(
            self.tr("They are kept for 30 days after you deleted them.")
            if deleted
            else self.tr("Nothing was deleted in the last 30 days.")
        )
        self.list.setVisible(bool(deleted))
        self.list.setCurrentRow(0 if deleted else -1)
        self._on_row_changed()

    def _current_id(self) -> str:
        item = self.list.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))

    @Slot()
    def _on_row_changed(self) -> None:
        self._sure_of = ""
        self.erase_button.setText(self.tr("Remove for good"))
        for button in (self.restore_button, self.erase_button):
            button.setEnabled(bool(self._current_id()))

    @Slot()
    def _on_restore(self) -> None:
        conversation_id = self._current_id()
        if conversation_id:
            self.restore_requested.emit(conversation_id)
            self.accept()

    @Slot()
    def _on_erase(self) -> None:
        """At the second press: nothing brings it back."""
        conversation_id = self._current_id()
        if conversation_id != self._sure_of:
            self._sure_of = conversation_id
            self.erase_button.setText(self.tr("Really remove it for good"))
            return
        self._bridge.deliver(self._conversations.erase(conversation_id), self._on_erased, on_error=self._on_failed)

    def _on_erased(self, _: None) -> None:
        self._ask()

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)


def _day_of(seconds: float) -> QDate:
    return QDateTime.fromSecsSinceEpoch(int(seconds)).date()
