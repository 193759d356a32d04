"""The left column: New chat, and the conversations."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.chat import Conversation
from layadesk.domain.search import SearchHit
from layadesk.ui.chat.conversation_delegate import ConversationDelegate
from layadesk.ui.chat.conversation_item_model import ConversationItemModel
from layadesk.ui.chat.conversation_menu import ConversationMenu
from layadesk.ui.chat.search_box import SearchBox
from layadesk.ui.chat.search_results import SearchResults
from layadesk.ui.theme.icons import set_icon
from layadesk.ui.theme.tokens import GAP_S, Ink
from layadesk.ui.widgets.roles import note, set_role


class ConversationList(QWidget):
    """Signals:
    chosen: id of the conversation to show.
    new_requested: a new conversation should be begun.
    renamed: conversation id, new title.
    delete_requested: id of the conversation to delete.
    undo_requested: the last deletion should be taken back.
    search_asked: what to look for, "" for nothing.
    """

    chosen = Signal(str)
    new_requested = Signal()
    renamed = Signal(str, str)
    delete_requested = Signal(str)
    undo_requested = Signal()
    search_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_showing = False
        self._current_id = ""
        self.new_button = QPushButton()
        self.new_button.setObjectName("new-chat")
        set_role(self.new_button, "new")
        set_icon(self.new_button, "plus", Ink.TEXT)
        self.new_button.clicked.connect(self.new_requested)
        self.model = ConversationItemModel(parent=self)
        self.model.renamed.connect(self.renamed)
        self.view = self._make_view()
        self.search = SearchBox()
        self.search.asked.connect(self._on_search_asked)
        self.search.left.connect(self._on_search_left)
        self.results = SearchResults()
        self.results.hide()
        self.menu = ConversationMenu(self)
        self.menu.rename_requested.connect(self.rename)
        self.menu.delete_requested.connect(self.delete_requested)
        self._conversations: tuple[Conversation, ...] = ()
        self._empty = note()
        self._empty.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_S, GAP_S, GAP_S, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(self.new_button)
        layout.addWidget(self.search)
        layout.addWidget(self._empty)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.results, 1)
        self._retranslate()

    def _make_view(self) -> QListView:
        view = QListView()
        view.setObjectName("conversations")
        view.setModel(self.model)
        view.setItemDelegate(ConversationDelegate(view))
        view.setMouseTracking(True)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked)
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._on_context_menu)
        view.installEventFilter(self)
        view.selectionModel().currentChanged.connect(self._on_current_changed)
        return view

    def title_of(self, conversation_id: str) -> str:
        """The title on screen; empty for one that is not in the list."""
        found = self.model.conversation_at(self.model.index_of(conversation_id))
        return "" if found is None else self.model.title_of(found)

    def set_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show them, the newest first; the marked row stays marked."""
        self._is_showing = True
        self.model.set_conversations(conversations)
        self._is_showing = False
        self.show_current(self._current_id)
        self._conversations = tuple(conversations)
        self._say_if_empty()

    def show_hits(self, query: str, hits: Sequence[SearchHit]) -> None:
        """Show what was found for `query`, unless something else is looked for by now."""
        if query == self.search.text().strip():
            self.results.show_hits(hits)
            self._say_if_empty()

    def show_current(self, conversation_id: str) -> None:
        """Mark the conversation that is shown; none, when it is not in the list."""
        self._current_id = conversation_id
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
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and isinstance(watched, QListView):
            current = self.current_id()
            if event.matches(QKeySequence.StandardKey.Undo):
                self.undo_requested.emit()
                return True
            if current is not None and event.matches(QKeySequence.StandardKey.Delete):
                if not event.isAutoRepeat():  # a key held down must not empty the list
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
        self.results.setAccessibleName(self.tr("Search results"))
        self._say_if_empty()

    @property
    def is_searching(self) -> bool:
        """Whether finds stand in the place of the list."""
        return bool(self.search.text().strip())

    def focus_chain(self) -> list[QWidget]:
        """Its stops for the Tab key."""
        return [self.new_button, self.search, self.view, self.results]

    def _say_if_empty(self) -> None:
        shown = self.results.hits if self.is_searching else self._conversations
        self._empty.setVisible(not shown)
        if self.is_searching:
            self._empty.setText(self.tr("Nothing was found."))
        else:
            self._empty.setText(self.tr("Your conversations will be listed here."))

    @Slot(str)
    def _on_search_asked(self, query: str) -> None:
        self.view.setVisible(not query)
        self.results.setVisible(bool(query))
        if not query:
            self.results.show_hits(())
            self._say_if_empty()
        self.search_asked.emit(query)

    @Slot()
    def _on_search_left(self) -> None:
        if self.results.hits:
            self.results.focus_first()

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
        folders = sorted({one.folder for one in self._conversations if one.folder}, key=str.casefold)
        menu = self.menu.build(conversation, folders)
        menu.popup(self.view.viewport().mapToGlobal(position))
