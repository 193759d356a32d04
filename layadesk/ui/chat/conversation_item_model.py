"""The list of conversations with a heading per day. It owns nothing and changes by difference, never by reset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from layadesk.domain.chat import Conversation

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()


class Age(StrEnum):
    """The headings."""

    PINNED = "pinned"
    FOLDER = "folder"
    TODAY = "today"
    YESTERDAY = "yesterday"
    WEEK = "week"
    OLDER = "older"


@dataclass(frozen=True, slots=True)
class Row:
    """A heading, or a conversation. `folder` names the folder it stands in."""

    key: str
    age: Age
    conversation: Conversation | None = None
    folder: str = ""


class ConversationItemModel(QAbstractListModel):
    """Signals:
    renamed: conversation id, new title; the list itself changes when the store says so.
    """

    renamed = Signal(str, str)

    IS_HEADING_ROLE = int(Qt.ItemDataRole.UserRole)
    IS_RUNNING_ROLE = IS_HEADING_ROLE + 1

    def __init__(self, *, today: Callable[[], date] = date.today, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._today = today
        self._rows: list[Row] = []
        self._running: frozenset[str] = frozenset()

    def set_conversations(self, conversations: Sequence[Conversation]) -> None:
        """Show `conversations`, the newest first."""
        wanted = rows_of(conversations, self._today())
        wanted_keys = {row.key for row in wanted}
        for index in range(len(self._rows) - 1, -1, -1):
            if self._rows[index].key not in wanted_keys:
                self.beginRemoveRows(ROOT, index, index)
                del self._rows[index]
                self.endRemoveRows()
        for index, row in enumerate(wanted):
            self._put(index, row)

    def set_running(self, conversation_ids: frozenset[str]) -> None:
        """Mark those in which an answer is being made."""
        changed = self._running ^ conversation_ids
        self._running = conversation_ids
        for index, row in enumerate(self._rows):
            if row.key in changed:
                self.dataChanged.emit(self.index(index), self.index(index))

    def index_of(self, conversation_id: str) -> QModelIndex:
        """Where a conversation stands; invalid when it is not in the list."""
        for index, row in enumerate(self._rows):
            if row.key == conversation_id and row.conversation is not None:
                return self.index(index)
        return QModelIndex()

    def conversation_at(self, index: Index) -> Conversation | None:
        """The conversation of a row, None for headings."""
        return self._rows[index.row()].conversation if index.isValid() else None

    def ids(self) -> tuple[str, ...]:
        """All conversations, from top to bottom."""
        return tuple(row.key for row in self._rows if row.conversation is not None)

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        match role:
            case self.IS_HEADING_ROLE:
                return row.conversation is None
            case self.IS_RUNNING_ROLE:
                return row.key in self._running
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole | Qt.ItemDataRole.ToolTipRole:
                return self._title(row)
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._accessible_text(row)
            case _:
                return None

    def setData(self, index: Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        conversation = self.conversation_at(index)
        title = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or conversation is None or not title or title == conversation.title:
            return False
        self.renamed.emit(conversation.conversation_id, title)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        if self.conversation_at(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def title_of(self, conversation: Conversation) -> str:
        """The title on screen; a conversation with nothing but a draft has none yet."""
        return conversation.title or self.tr("New chat")

    def retranslate(self) -> None:
        """The headings are in another language now."""
        if self._rows:
            self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))

    def _put(self, index: int, row: Row) -> None:
        """Make row `index` be `row`: move it here, insert it, or bring it up to date."""
        old = next((i for i in range(index, len(self._rows)) if self._rows[i].key == row.key), None)
        if old is None:
            self.beginInsertRows(ROOT, index, index)
            self._rows.insert(index, row)
            self.endInsertRows()
            return
        if old != index:
            self.beginMoveRows(ROOT, old, old, ROOT, index)
            self._rows.insert(index, self._rows.pop(old))
            self.endMoveRows()
        if self._rows[index] != row:
            self._rows[index] = row
            self.dataChanged.emit(self.index(index), self.index(index))

    def _heading(self, age: Age) -> str:
        match age:
            case Age.PINNED:
                return self.tr("Pinned")
            case Age.FOLDER:
                return self.tr("Folder")
            case Age.TODAY:
                return self.tr("Today")
            case Age.YESTERDAY:
                return self.tr("Yesterday")
            case Age.WEEK:
                return self.tr("Last 7 days")
            case Age.OLDER:
                return self.tr("Older")

    def _title(self, row: Row) -> str:
        if row.conversation is not None:
            return self.title_of(row.conversation)
        return row.folder or self._heading(row.age)

    def _accessible_text(self, row: Row) -> str:
        if row.key in self._running:
            return self.tr("{title}, an answer is being written").format(title=self._title(row))
        return self._title(row)


def rows_of(conversations: Sequence[Conversation], today: date) -> list[Row]:
    """Pinned ones first, then folders by name, then the rest by age; a heading before each group."""
    groups: dict[tuple[Age, str], list[Conversation]] = {}
    for conversation in conversations:
        if conversation.is_pinned:
            group = (Age.PINNED, "")
        elif conversation.folder:
            group = (Age.FOLDER, conversation.folder)
        else:
            group = (age_of(conversation.updated_at, today), "")
        groups.setdefault(group, []).append(conversation)
    order = list(Age)
    rows: list[Row] = []
    for age, folder in sorted(groups, key=lambda group: (order.index(group[0]), group[1].casefold())):
        rows.append(Row(f"heading {age} {folder}".rstrip(), age, None, folder))
        rows += [Row(one.conversation_id, age, one, folder) for one in groups[age, folder]]
    return rows


def age_of(updated_at: float, today: date) -> Age:
    """The heading of a time, seconds since the epoch, in local days."""
    days = (today - datetime.fromtimestamp(updated_at).astimezone().date()).days
    if days <= 0:
        return Age.TODAY
    if days == 1:
        return Age.YESTERDAY
    return Age.WEEK if days < 7 else Age.OLDER
