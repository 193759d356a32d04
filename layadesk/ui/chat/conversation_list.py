"""The left column: New chat, and the conversations."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.chat import Conversation
from layadesk.ui.chat.conversation_delegate import ConversationDelegate
from layadesk.ui.chat.conversation_item_model import ConversationItemModel
from layadesk.ui.theme.icons import icon, set_icon
from layadesk.ui.theme.tokens import GAP_S, Ink
from layadesk.ui.widgets.roles import note, set_role


class ConversationList(QWidget):
    """Signals:
    chosen: id of the conversation to show.
    new_requested: a new conversation should be begun.
    renamed: conversation id, new title.
    delete_requested: id of the conversation to delete.
    """

    chosen = Signal(str)
    new_requested = Signal()
    renamed = Signal(str, str)
    delete_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_showing = False
        self.new_button = QPushButton()
        self.new_button.setObjectName("new-chat")
        set_role(self.new_button, "new")
        set_icon(self.new_button, "plus", Ink.TEXT)
        self.new_button.clicked.connect(self.new_requested)
        self.model = ConversationItemModel(parent=self)
        self.model.renamed.connect(self.renamed)
        self.view = QListView()
        self.view.setObjectName("conversations")
        self.view.setModel(self.model)
        self.view.setItemDelegate(ConversationDelegate(self.view))
        self.view.setMouseTracking(True)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.view.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._on_context_menu)
        self.view.installEventFilter(self)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        self._empty = note()
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_S, GAP_S, GAP_S, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(self.new_button)
        layout.addWidget(self._empty)
        layout.addWidget(self.view, 1)
        self._retranslate()

    def set_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show them, the newest first; the marked row stays marked."""
        self._is_showing = True
        self.model.set_conversations(conversations)
        self._is_showing = False
        self._empty.setVisible(not conversations)

    def show_current(self, conversation_id: str) -> None:
        """Mark the conversation that is shown; none, when it is not in the list."""
        index = self.model.index_of(conversation_id)
        self._is_showing = True
        self.view.setCurrentIndex(index)
        if not index.isValid():
            self.view.clearSelection()
        self._is_showing = False

    def current_id(self) -> str | None:
        """The marked conversation."""
        conversation = self.model.conversation_at(self.view.currentIndex())
        return None if conversation is None else conversation.conversation_id

    def neighbour(self, conversation_id: str, step: int) -> str | None:
        """The conversation `step` rows away; None beyond the ends."""
        ids = self.model.ids()
        if conversation_id not in ids:
            return ids[0] if ids else None
        at = ids.index(conversation_id) + step
        return ids[at] if 0 <= at < len(ids) else None

    def rename(self, conversation_id: str) -> None:
        """Open the field for a new title."""
        index = self.model.index_of(conversation_id)
        if index.isValid():
            self.view.edit(index)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and watched is self.view:
            current = self.current_id()
            if current is not None and event.matches(QKeySequence.StandardKey.Delete):
                self.delete_requested.emit(current)
                return True
            if event.key() == Qt.Key.Key_F2 and current is not None:
                self.rename(current)
                return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
            self.model.retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self.new_button.setText(self.tr("New chat"))
        self.new_button.setAccessibleName(self.tr("New chat"))
        self.new_button.setToolTip(QKeySequence(QKeySequence.StandardKey.New).toString())
        self.view.setAccessibleName(self.tr("Conversations"))
        self._empty.setText(self.tr("Your conversations will be listed here."))

    @Slot(QModelIndex, QModelIndex)
    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        conversation = self.model.conversation_at(current)
        if conversation is not None and not self._is_showing:
            self.chosen.emit(conversation.conversation_id)

    @Slot(QPoint)
    def _on_context_menu(self, position: QPoint) -> None:
        index = self.view.indexAt(position)
        conversation = self.model.conversation_at(index)
        if conversation is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        rename = menu.addAction(self.tr("Rename"))
        rename.setShortcut(QKeySequence(Qt.Key.Key_F2))
        rename.triggered.connect(lambda: self.rename(conversation.conversation_id))
        delete = menu.addAction(icon("trash"), self.tr("Delete"))
        delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        delete.triggered.connect(lambda: self.delete_requested.emit(conversation.conversation_id))
        menu.popup(self.view.viewport().mapToGlobal(position))
