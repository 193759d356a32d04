"""Widgets in lines, as words in a paragraph: what does not fit beside the others begins a new line."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from layadesk.ui.theme.tokens import GAP_S, GAP_XS


class FlowLayout(QLayout):
    """Each at the size it asks for; lines are as high as their highest. Its height follows from its width."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = GAP_S, line_gap: int = GAP_XS) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._line_gap = line_gap
        self.setContentsMargins(QMargins())

    def addItem(self, item: QLayoutItem, /) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int, /) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int, /) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int, /) -> int:
        return self._place(QRect(0, 0, width, 0), is_real=False)

    def setGeometry(self, rect: QRect, /) -> None:
        super().setGeometry(rect)
        self._place(rect, is_real=True)

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in shown) + self._gap * max(len(shown) - 1, 0)
        return QSize(width, max((size.height() for size in shown), default=0))

    def minimumSize(self) -> QSize:
        """The largest alone."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _place(self, rect: QRect, *, is_real: bool) -> int:
        """Lay out into `rect`; returns the height that takes."""
        x, y, line = rect.x(), rect.y(), list[tuple[QLayoutItem, QRect]]()
        height = 0
        for item in self._shown():
            size = item.sizeHint()
            width = min(size.width(), rect.width())
            if line and x + width > rect.right() + 1:
                self._end_line(line, height, is_real=is_real)
                x, y, line, height = rect.x(), y + height + self._line_gap, [], 0
            line.append((item, QRect(QPoint(x, y), QSize(width, size.height()))))
            x += width + self._gap
            height = max(height, size.height())
        self._end_line(line, height, is_real=is_real)
        return y + height - rect.y()

    @staticmethod
    def _end_line(line: list[tuple[QLayoutItem, QRect]], height: int, *, is_real: bool) -> None:
        if is_real:
            for item, place in line:
                item.setGeometry(place.translated(0, (height - place.height()) // 2))
