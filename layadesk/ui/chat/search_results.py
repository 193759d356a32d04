"""What was found: the words around each find, with the conversation it is in."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from layadesk.domain.inference import Role
from layadesk.domain.search import SearchHit
from layadesk.ui.theme.fonts import control_font, small_font
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, RADIUS

Index = QModelIndex | QPersistentModelIndex
ROOT = QModelIndex()
N_LINES = 3


class SearchResults(QListView):
    """Signals:
    hit_chosen: the SearchHit to show.
    """

    hit_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search-results")
        self._model = _HitModel(self)
        self.setModel(self._model)
        self.setItemDelegate(_HitDelegate(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.activated.connect(self._on_activated)
        self.clicked.connect(self._on_activated)

    def show_hits(self, hits: Sequence[SearchHit]) -> None:
        """Show them in place of the old ones."""
        self._model.set_hits(hits)
        self.scrollToTop()

    @property
    def hits(self) -> tuple[SearchHit, ...]:
        """What is shown."""
        return self._model.hits

    def focus_first(self) -> None:
        """Go to the first find."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.setCurrentIndex(self._model.index(0))

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        if index.isValid():
            self.hit_chosen.emit(self._model.hits[index.row()])


class _HitModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.hits: tuple[SearchHit, ...] = ()

    def set_hits(self, hits: Sequence[SearchHit]) -> None:
        self.beginResetModel()
        self.hits = tuple(hits)
        self.endResetModel()

    def rowCount(self, parent: Index = ROOT) -> int:
        return 0 if parent.isValid() else len(self.hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        hit = self.hits[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return hit.excerpt
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{self._head(hit)}: {hit.excerpt}"
            case Qt.ItemDataRole.ToolTipRole:
                return self._head(hit)
            case Qt.ItemDataRole.UserRole:
                return hit
            case _:
                return None

    def _head(self, hit: SearchHit) -> str:
        who = self.tr("Title") if hit.role is None else self.tr("You")
        if hit.role is Role.ASSISTANT:
            who = self.tr("Answer")
        day = datetime.fromtimestamp(hit.created_at).astimezone().date().isoformat() if hit.created_at else ""
        return " · ".join(part for part in (who, day, hit.title) if part)


class _HitDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(80, int(line * N_LINES) + 2 * GAP_XS)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit = index.data(Qt.ItemDataRole.UserRole)
        assert isinstance(hit, SearchHit)
        colours = current_colours()
        row = QRect(option.rect).adjusted(0, 1, 0, -1)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(row, RADIUS - 2, RADIUS - 2)
        if state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_Selected:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(row.adjusted(0, 0, -1, -1), RADIUS - 2, RADIUS - 2)
        room = row.adjusted(GAP_S, GAP_XS, -GAP_S, -GAP_XS)
        painter.setFont(small_font())
        painter.setPen(QColor(colours.muted))
        metrics = painter.fontMetrics()
        head = metrics.elidedText(
            str(index.data(Qt.ItemDataRole.ToolTipRole)), Qt.TextElideMode.ElideRight, room.width()
        )
        top = QRect(room.left(), room.top(), room.width(), metrics.height())
        painter.drawText(top, int(Qt.AlignmentFlag.AlignLeft), head)
        _draw_excerpt(painter, room.adjusted(0, metrics.height() + 1, 0, 0), hit)
        painter.restore()


def _draw_excerpt(painter: QPainter, room: QRect, hit: SearchHit) -> None:
    """Two lines, with what was looked for in bold."""
    colours = current_colours()
    layout = QTextLayout(hit.excerpt, control_font())
    options = QTextOption()
    options.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(options)
    found = []
    for start, length in hit.spans:
        one = QTextLayout.FormatRange()
        one.start, one.length = start, length
        one.format = QTextCharFormat()
        one.format.setFontWeight(QFont.Weight.Bold)
        one.format.setForeground(QColor(colours.accent))
        found.append(one)
    layout.setFormats(found)
    layout.beginLayout()
    y = 0.0
    for _ in range(N_LINES - 1):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(room.width())
        line.setPosition(QPointF(0, y))
        y += line.height()
    layout.endLayout()
    painter.setPen(QColor(colours.text))
    layout.draw(painter, QPointF(room.topLeft()))
