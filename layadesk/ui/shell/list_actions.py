"""What the user asks for in the list of conversations: rename, delete with undo, pin, folders, search, files."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Qt, Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from layadesk.domain.chat import Conversation
from layadesk.domain.errors import ErrorReport
from layadesk.domain.search import SearchHit
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.conversation_list import ConversationList
from layadesk.ui.chat.trash_dialog import TrashDialog
from layadesk.ui.widgets.toast import Toast
from layadesk.usecases.move_chats import ChatFormat, Imported

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases

MAX_NAME = 60


class ListActions(QObject):
    """Signals:
    failed: an ErrorReport of something that did not happen.
    conversation_wanted: id of the conversation to show.
    message_wanted: conversation id and message id to show.
    deleted: id of a conversation that is about to go.
    """

    failed = Signal(object)
    conversation_wanted = Signal(str)
    message_wanted = Signal(str, str)
    deleted = Signal(str)

    def __init__(
        self, use_cases: "UseCases", *, bridge: Bridge, conversations: ConversationList, toast: Toast, window: QWidget
    ) -> None:
        super().__init__(window)
        self._use_cases = use_cases
        self._bridge = bridge
        self._list = conversations
        self._toast = toast
        self._window = window
        self._gone: list[str] = []  # what the toast can bring back
        self._deleted: list[str] = []  # what Ctrl+Z can, the last one last
        self.trash: TrashDialog | None = None
        self.dialog: QFileDialog | None = None
        conversations.renamed.connect(self._on_renamed)
        conversations.delete_requested.connect(self._on_delete_requested)
        conversations.undo_requested.connect(self.undo)
        conversations.search_asked.connect(self._on_search_asked)
        conversations.results.hit_chosen.connect(self._on_hit_chosen)
        conversations.menu.pin_requested.connect(self._on_pin_requested)
        conversations.menu.folder_requested.connect(self._on_folder_requested)
        conversations.menu.export_requested.connect(self.choose_export)
        bridge.follow(use_cases.conversations.changed, self._on_changed)

    def refresh(self) -> None:
        """Ask for the list again."""
        self._bridge.deliver(self._use_cases.conversations.list(), self._on_listed, on_error=self._on_failed)

    @Slot()
    def choose_import(self) -> None:
        """Choose a file with conversations."""
        dialog = self._new_dialog(self.tr("Import conversations"), QFileDialog.AcceptMode.AcceptOpen)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([self.tr("Exports (*.json *.zip)"), self.tr("All files (*)")])
        dialog.fileSelected.connect(self.import_file)
        dialog.open()

    @Slot(str)
    def import_file(self, path: str) -> None:
        """Take in the conversations of a file."""
        self._bridge.deliver(self._use_cases.move_chats.import_file(path), self._on_imported, on_error=self._on_failed)

    @Slot(str, str)
    def choose_export(self, conversation_id: str, form: str) -> None:
        """Choose where one conversation, or all for "", is written to."""
        dialog = self._new_dialog(self.tr("Export"), QFileDialog.AcceptMode.AcceptSave)
        suffix = "md" if form == ChatFormat.MARKDOWN.value else "json"
        dialog.setDefaultSuffix(suffix)
        dialog.setNameFilters([f"*.{suffix}"])
        dialog.selectFile(f"{_file_name(self._list.title_of(conversation_id))}.{suffix}")
        dialog.fileSelected.connect(partial(self.export, conversation_id, form))
        dialog.open()

    @Slot()
    def choose_export_of_all(self) -> None:
        """Choose where all conversations are written to."""
        self.choose_export("", ChatFormat.JSON.value)

    def export(self, conversation_id: str, form: str, path: str) -> None:
        """Write one conversation, or all for "", to a file."""
        ids = (conversation_id,) if conversation_id else ()
        future = self._use_cases.move_chats.export(ids, path, ChatFormat(form))
        self._bridge.deliver(future, partial(self._on_exported, path), on_error=self._on_failed)

    def _new_dialog(self, title: str, mode: QFileDialog.AcceptMode) -> QFileDialog:
        if self.dialog is not None:
            self.dialog.deleteLater()
        places = QStandardPaths.standardLocations(QStandardPaths.StandardLocation.DocumentsLocation)
        dialog = QFileDialog(self._window, title, places[0] if places else "")
        dialog.setAcceptMode(mode)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        self.dialog = dialog
        return dialog

    @Slot(str)
    def _on_changed(self, _: str) -> None:
        self.refresh()

    def _on_listed(self, conversations: tuple[Conversation, ...]) -> None:
        self._list.set_conversations(conversations)

    @Slot(str, str)
    def _on_renamed(self, conversation_id: str, title: str) -> None:
        future = self._use_cases.conversations.rename(conversation_id, title)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str, bool)
    def _on_pin_requested(self, conversation_id: str, is_pinned: bool) -> None:
        future = self._use_cases.conversations.set_pinned(conversation_id, is_pinned=is_pinned)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str, str)
    def _on_folder_requested(self, conversation_id: str, folder: str) -> None:
        future = self._use_cases.conversations.set_folder(conversation_id, folder)
        self._bridge.deliver(future, self._on_done, on_error=self._on_failed)

    @Slot(str)
    def _on_delete_requested(self, conversation_id: str) -> None:
        self.deleted.emit(conversation_id)
        future = self._use_cases.conversations.delete(conversation_id)
        self._bridge.deliver(future, partial(self._on_deleted, conversation_id), on_error=self._on_failed)

    def _on_deleted(self, conversation_id: str, _: None) -> None:
        if not self._toast.offers(self._restore_all):
            self._gone = []
        if conversation_id not in self._gone:
            self._gone.append(conversation_id)
        self._deleted = [one for one in self._deleted if one != conversation_id] + [conversation_id]
        text = self.tr("The conversation was deleted.")
        if len(self._gone) > 1:
            text = self.tr("%n conversation(s) were deleted.", "", len(self._gone))
        self._toast.show_message(text, self.tr("Undo"), undo=self._restore_all)

    @Slot()
    def undo(self) -> None:
        """Take the last deletion back, also when the toast is gone; with it all that the toast stands for."""
        if self._toast.offers(self._restore_all):
            self._toast.close_now()
            self._restore_all()
        elif self._deleted:
            self.restore(self._deleted[-1])

    def restore(self, conversation_id: str) -> None:
        """Bring one back and show it."""
        self._deleted = [one for one in self._deleted if one != conversation_id]
        future = self._use_cases.conversations.restore(conversation_id)
        self._bridge.deliver(future, partial(self._on_restored, conversation_id), on_error=self._on_failed)

    @Slot()
    def show_trash(self) -> None:
        """What was deleted and can be brought back."""
        self.trash = TrashDialog(self._use_cases.conversations, bridge=self._bridge, parent=self._window)
        self.trash.restore_requested.connect(self.restore)
        self.trash.failed.connect(self.failed)
        self.trash.open()

    def _restore_all(self) -> None:
        """Everything deleted while the toast stood; the first of it, where the user was, is shown."""
        (first, *later), self._gone = self._gone, []
        self._deleted = [one for one in self._deleted if one not in later]
        for conversation_id in later:
            future = self._use_cases.conversations.restore(conversation_id)
            self._bridge.deliver(future, self._on_done, on_error=self._on_failed)
        self.restore(first)

    def _on_restored(self, conversation_id: str, _: None) -> None:
        self.conversation_wanted.emit(conversation_id)

    @Slot(str)
    def _on_search_asked(self, query: str) -> None:
        if query:
            future = self._use_cases.conversations.search(query)
            self._bridge.deliver(future, partial(self._on_found, query), on_error=self._on_failed)

    def _on_found(self, query: str, hits: tuple[SearchHit, ...]) -> None:
        self._list.show_hits(query, hits)

    @Slot(object)
    def _on_hit_chosen(self, hit: SearchHit) -> None:
        if hit.message_id is None:
            self.conversation_wanted.emit(hit.conversation_id)
        else:
            self.message_wanted.emit(hit.conversation_id, hit.message_id)

    def _on_imported(self, done: Imported) -> None:
        text = self.tr("%n conversation(s) came in.", "", done.n_conversations)
        if done.n_skipped:
            text += " " + self.tr("%n record(s) could not be read.", "", done.n_skipped)
        self._toast.show_message(text)
        self.conversation_wanted.emit(done.first_id)

    def _on_exported(self, path: str, _: int) -> None:
        self._toast.show_message(self.tr("Written to {path}").format(path=path))

    def _on_done(self, _: object) -> None:
        """The list hears of it by the feed."""

    def _on_failed(self, report: ErrorReport) -> None:
        self.failed.emit(report)


def _file_name(title: str) -> str:
    """A title without what file systems refuse."""
    kept = "".join(" " if c in '<>:"/\\|?*' or ord(c) < 32 else c for c in title)
    return Path(kept.strip(" .")[:MAX_NAME]).name or "LayaDesk"
