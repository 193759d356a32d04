"""The last requests of other programs as a table, the newest first. Never what was said in them."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from layadesk.domain.server import ServedRequest
from layadesk.ui.texts.numbers import milliseconds
from layadesk.ui.texts.words import unknown

N_SHOWN: Final = 200
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
Index = QModelIndex | QPersistentModelIndex


class RequestLog(QAbstractTableModel):
    """Time, client, path, expert, tokens, ms, status."""

    def __init__(self, name_of: Callable[[str], str], parent: QObject) -> None:
        super().__init__(parent)
        self._name_of = name_of
        self._requests: list[ServedRequest] = []

    def show_requests(self, requests: Sequence[ServedRequest]) -> None:
        """These and no others; the newest last."""
        self.beginResetModel()
        self._requests = list(reversed(requests[-N_SHOWN:]))
        self.endResetModel()

    def add(self, request: ServedRequest) -> None:
        """One more, at the top."""
        self.beginInsertRows(QModelIndex(), 0, 0)
        self._requests.insert(0, request)
        self.endInsertRows()
        if len(self._requests) > N_SHOWN:
            self.beginRemoveRows(QModelIndex(), N_SHOWN, N_SHOWN)
            self._requests.pop()
            self.endRemoveRows()

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._requests)

    def columnCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._titles())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return self._titles()[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        request = self._requests[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return self._cells(request)[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() >= 4:
            return _RIGHT
        return None

    def _titles(self) -> tuple[str, ...]:
        return (
            self.tr("Time"),
            self.tr("Client"),
            self.tr("Path"),
            self.tr("Expert"),
            self.tr("Tokens"),
            self.tr("Took"),
            self.tr("Status"),
        )

    def _cells(self, request: ServedRequest) -> tuple[str, ...]:
        expert = "" if request.expert is None else self._name_of(request.expert)
        return (
            time.strftime("%H:%M:%S", time.localtime(request.at)),
            request.client,
            request.path,
            expert,
            _tokens(request),
            milliseconds(request.ms),
            str(request.status) if request.code is None else f"{request.status} {request.code}",
        )


def _tokens(request: ServedRequest) -> str:
    """Read and written."""
    if request.n_prompt is None and request.n_decoded is None:
        return ""
    read, written = (unknown() if n is None else f"{n:,}" for n in (request.n_prompt, request.n_decoded))
    return f"{read} → {written}"
