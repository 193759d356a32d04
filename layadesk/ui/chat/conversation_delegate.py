"""How a row of the conversation list looks, and the field in which its title is edited."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QLineEdit, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from layadesk.ui.chat.conversation_item_model import ConversationItemModel
from layadesk.ui.theme.fonts import small_font
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, RADIUS, ROW_HEIGHT

Index = QModelIndex | QPersistentModelIndex
_DOT_PX = 6


class ConversationDelegate(QStyledItemDelegate):
    """The shown conversation is raised, the focus has a frame, a running answer a dot."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(ConversationItemModel.IS_HEADING_ROLE):
            self._paint_heading(painter, option, index)
        else:
            self._paint_row(painter, option, index)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, ROW_HEIGHT)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setAccessibleName(self.tr("New title"))
        editor.setMaxLength(200)
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(_rect(option).adjusted(GAP_XS // 2, 2, -GAP_XS // 2, -2))

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = current_colours()
        painter.setFont(small_font())
        painter.setPen(QColor(colours.muted))
        room = _rect(option).adjusted(GAP_S, GAP_S, -GAP_S, -GAP_XS // 2)
        align = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom
        painter.drawText(room, int(align), str(index.data()))

    def _paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        colours = current_colours()
        row = _rect(option).adjusted(0, 1, 0, -1)
        state = _state(option)
        is_selected = bool(state & QStyle.StateFlag.State_Selected)
        if is_selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.raised))
            painter.drawRoundedRect(row, RADIUS - 2, RADIUS - 2)
        if state & QStyle.StateFlag.State_HasFocus and is_selected:
            painter.setPen(QColor(colours.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(row.adjusted(0, 0, -1, -1), RADIUS - 2, RADIUS - 2)
        room = row.adjusted(GAP_S, 0, -GAP_S, 0)
        if index.data(ConversationItemModel.IS_RUNNING_ROLE):
            room.adjust(0, 0, -_DOT_PX - GAP_S, 0)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.ok))
            painter.drawEllipse(QRect(room.right() + GAP_S, row.center().y() - _DOT_PX // 2, _DOT_PX, _DOT_PX))
        font = QFont(_font(option))
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        metrics = painter.fontMetrics()
        title = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), title)


# PySide's stubs do not know the members that QStyleOptionViewItem inherits.
def _rect(option: QStyleOptionViewItem) -> QRect:
    return QRect(option.rect)


def _state(option: QStyleOptionViewItem) -> QStyle.StateFlag:
    state: QStyle.StateFlag = option.state
    return state


def _font(option: QStyleOptionViewItem) -> QFont:
    return QFont(option.font)
