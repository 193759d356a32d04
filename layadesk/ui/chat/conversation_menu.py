"""What can be done with one conversation of the list."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from layadesk.domain.chat import Conversation
from layadesk.ui.theme.icons import icon


class ConversationMenu(QObject):
    """Signals:
    rename_requested: conversation id.
    delete_requested: conversation id.
    pin_requested: conversation id, whether it is to be pinned.
    folder_requested: conversation id, name of the folder, empty for none.
    export_requested: conversation id, "json" or "markdown".
    """

    rename_requested = Signal(str)
    delete_requested = Signal(str)
    pin_requested = Signal(str, bool)
    folder_requested = Signal(str, str)
    export_requested = Signal(str, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self.dialog: QInputDialog | None = None
        self._conversation_id = ""

    def build(self, conversation: Conversation, folders: Sequence[str]) -> QMenu:
        """The menu for one conversation; it deletes itself when it is closed."""
        menu = QMenu(self._window)
        menu.setObjectName("conversation-menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        key = conversation.conversation_id
        rename = menu.addAction(icon("pencil"), self.tr("Rename"))
        rename.setShortcut(QKeySequence(Qt.Key.Key_F2))
        rename.triggered.connect(lambda: self.rename_requested.emit(key))
        pin = menu.addAction(icon("pin"), self.tr("Unpin") if conversation.is_pinned else self.tr("Pin to the top"))
        pin.triggered.connect(lambda: self.pin_requested.emit(key, not conversation.is_pinned))
        self._add_folders(menu, conversation, folders)
        export = menu.addMenu(self.tr("Export"))
        markdown = export.addAction(self.tr("Markdown, to read…"))
        markdown.triggered.connect(lambda: self.export_requested.emit(key, "markdown"))
        everything = export.addAction(self.tr("JSON, with everything…"))
        everything.triggered.connect(lambda: self.export_requested.emit(key, "json"))
        menu.addSeparator()
        delete = menu.addAction(icon("trash"), self.tr("Delete"))
        delete.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        delete.triggered.connect(lambda: self.delete_requested.emit(key))
        return menu

    def _add_folders(self, menu: QMenu, conversation: Conversation, folders: Sequence[str]) -> None:
        key = conversation.conversation_id
        choices = menu.addMenu(icon("folder"), self.tr("Folder"))
        for folder in folders:
            action = choices.addAction(folder.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(folder == conversation.folder)
            action.triggered.connect(partial(self._move, key, folder))
        if folders:
            choices.addSeparator()
        if conversation.folder:
            choices.addAction(self.tr("No folder")).triggered.connect(partial(self._move, key, ""))
        choices.addAction(self.tr("New folder…")).triggered.connect(partial(self.ask_folder, key))

    def _move(self, conversation_id: str, folder: str) -> None:
        self.folder_requested.emit(conversation_id, folder)

    def ask_folder(self, conversation_id: str) -> None:
        """Ask for the name of a new folder and move the conversation there."""
        self._conversation_id = conversation_id
        self.dialog = QInputDialog(self._window)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.dialog.setWindowTitle(self.tr("New folder"))
        self.dialog.setLabelText(self.tr("Name of the folder:"))
        self.dialog.setOkButtonText(self.tr("Move here"))
        self.dialog.setCancelButtonText(self.tr("Cancel"))
        self.dialog.textValueSelected.connect(self._on_named)
        self.dialog.open()

    @Slot(str)
    def _on_named(self, name: str) -> None:
        self.dialog = None
        if name.strip():
            self.folder_requested.emit(self._conversation_id, name.strip())
