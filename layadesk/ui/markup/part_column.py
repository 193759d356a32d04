"""A column of parts of a message, of which only those near what is seen have a view.

What lies far from the visible range gives its view back and keeps its height, so that memory is bounded by the view and
not by the text.
"""

from typing import TypeVar

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from layadesk.ui.markup.parts import CodePart, HeadPart, Kit, Part, PartView, ProsePart, shown_text
from layadesk.ui.markup.text_view import TextView
from layadesk.ui.markup.thinking_head import ThinkingHead
from layadesk.ui.theme.tokens import GAP_M, GAP_S
from layadesk.ui.widgets.heights import Heights

PartT = TypeVar("PartT", bound=Part)

FIRST_RANGE_PX = 1_200
NEAR_PX = 400
FAR_PX = 2_500
THINKING_INDENT = GAP_M


class PartColumn(QWidget):
    """Signals:
    height_changed: it needs another height; it has taken it already.
    views_changed: parts got or gave back a view.
    link_chosen: the address of a link the user wants opened.
    """

    height_changed = Signal()
    views_changed = Signal()
    link_chosen = Signal(str)

    def __init__(self, kit: Kit, parent: QWidget | None = None, *, width: int = 0) -> None:
        super().__init__(parent)
        self._kit = kit
        self._name = ""
        self._parts: list[Part] = []
        self._heights = Heights(GAP_S)
        self._range = (0, FIRST_RANGE_PX)
        self._is_updating = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(0)
        if width > 0:
            self.resize(width, 0)

    def shown_text(self) -> str:
        """What can be read, parts without a view in their Markdown."""
        return shown_text([part for part in self._parts if self._is_visible(part)])

    def clear(self) -> None:
        """Nothing is shown."""
        for part in self._parts:
            self._release(part)
        self._parts.clear()
        self._heights.truncate(0)

    def show_range(self, top: int, bottom: int) -> None:
        """What is seen of it, in its own coordinates: parts nearby get their views."""
        if (top, bottom) != self._range:
            self._range = (top, bottom)
            self._arrange()

    def place_of(self, y: int) -> tuple[int, int]:
        """The part at `y` and how far down in it: a place that stays when heights above it change."""
        index = self._heights.index_at(y)
        return index, y - (self._heights.top(index) if len(self._heights) else 0)

    def y_of(self, place: tuple[int, int]) -> int:
        """Where a place is now."""
        index, offset = place
        return (self._heights.top(index) if index < len(self._heights) else 0) + offset

    def focus_chain(self) -> list[QWidget]:
        """Its stops for the Tab key, from top to bottom; parts without a view have none."""
        stops: list[QWidget] = []
        for part in self._parts:
            if part.view is None or not self._is_visible(part):
                continue
            stops += part.view.focus_chain() if isinstance(part, CodePart) and part.view else [part.view]
        return stops

    @property
    def views(self) -> list[PartView]:
        """The views there are."""
        return [part.view for part in self._parts if part.view is not None]

    def set_name(self, name: str) -> None:
        """What it is, for screen readers."""
        self._name = name
        self.setAccessibleName(name)
        for view in self.views:
            if isinstance(view, TextView):
                view.setAccessibleName(name)

    def has_selection(self) -> bool:
        """Whether something in it is marked."""
        return any(isinstance(view, TextView) and view.textCursor().hasSelection() for view in self.views)

    def draw_again(self) -> None:
        """Formulas have been drawn."""
        for part in self._parts:
            if isinstance(part, ProsePart) and part.view is not None:
                part.view.write_again()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.PaletteChange:
            for part in self._parts:
                self._release(part)
            self._arrange()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._arrange()

    def _add(self, part: PartT) -> PartT:
        self._parts.append(part)
        self._heights.append(part.estimate() if self._is_visible(part) else 0)
        return part

    def _estimate(self, part: Part) -> None:
        if part.view is None and self._is_visible(part):
            self._heights.set(self._parts.index(part, len(self._parts) - 1), part.estimate())

    def _head(self) -> HeadPart | None:
        return next((part for part in reversed(self._parts) if isinstance(part, HeadPart)), None)

    def _is_visible(self, part: Part) -> bool:
        if not part.is_thinking:
            return True
        head: HeadPart | None = None
        for one in self._parts:
            if isinstance(one, HeadPart):
                head = one
            if one is part:
                break
        return head is None or head.is_unfolded

    def _unfold(self, head: HeadPart, *, is_unfolded: bool) -> None:
        head.is_unfolded = is_unfolded
        if head.view is not None and head.view.isChecked() != is_unfolded:
            head.view.setChecked(is_unfolded)
        start = self._parts.index(head) + 1
        for index in range(start, len(self._parts)):
            part = self._parts[index]
            if not part.is_thinking:
                break
            if is_unfolded:
                self._heights.set(index, part.estimate())
            else:
                self._release(part)
                self._heights.set(index, 0)
        self._arrange()

    def _arrange(self) -> None:
        """Give views to what is near, take them from what is far, and put all in their places."""
        if self._is_updating or self.width() <= 0:
            return
        self._is_updating = True
        n_views = self._give_views()
        self._place()
        self._is_updating = False
        if self.height() != self._heights.total:
            self.setFixedHeight(self._heights.total)
            self.height_changed.emit()
        if n_views:
            self.views_changed.emit()

    def _give_views(self) -> int:
        """How many were made or taken."""
        n = 0
        top, bottom = self._range
        index = self._heights.index_at(max(top - NEAR_PX, 0))
        while index < len(self._parts) and self._heights.top(index) <= bottom + NEAR_PX:
            part = self._parts[index]
            if self._heights.height(index):
                n += part.view is None
                self._heights.set(index, self._measure(part))
            index += 1
        for index, part in enumerate(self._parts):
            if part.view is None or not isinstance(part, ProsePart | CodePart | HeadPart):
                continue
            end = self._heights.top(index) + self._heights.height(index)
            is_far = end < top - FAR_PX or self._heights.top(index) > bottom + FAR_PX
            if is_far and not _is_in_use(part.view):
                self._release(part)
                n += 1
        return n

    def _measure(self, part: Part) -> int:
        left = part.indent + (THINKING_INDENT if part.is_thinking else 0)
        width = max(self.width() - left, 40)
        view = part.view
        if view is None:
            view = part.make(self._kit, width)
            view.setParent(self)
            self._connect(part, view)
        if view.width() != width and not isinstance(view, ThinkingHead):
            view.resize(width, view.height())
        return view.needed_height()

    def _connect(self, part: Part, view: PartView) -> None:
        if isinstance(view, ThinkingHead):
            view.toggled.connect(self._on_unfolded)
            return
        view.height_changed.connect(self._on_height_changed)
        if isinstance(view, TextView):
            view.link_chosen.connect(self.link_chosen)
            view.setAccessibleName(self._name)

    def _place(self) -> None:
        for index, part in enumerate(self._parts):
            view = part.view
            if view is None:
                continue
            if isinstance(view, ThinkingHead):
                view.adjustSize()
                view.move(0, self._heights.top(index))
            else:
                left = part.indent + (THINKING_INDENT if part.is_thinking else 0)
                height = self._heights.height(index)
                view.setGeometry(left, self._heights.top(index), max(self.width() - left, 40), height)
            if view.isHidden():
                view.show()

    def _release(self, part: Part) -> None:
        if part.view is not None:
            part.view.hide()
            part.view.deleteLater()
            part.view = None

    @Slot(bool)
    def _on_unfolded(self, is_unfolded: bool) -> None:
        head = next((p for p in self._parts if isinstance(p, HeadPart) and p.view is self.sender()), None)
        if head is not None and head.is_unfolded != is_unfolded:
            self._unfold(head, is_unfolded=is_unfolded)

    @Slot(int)
    def _on_height_changed(self, _: int) -> None:
        self._arrange()


def _is_in_use(view: QWidget) -> bool:
    """What has the focus or a selection keeps its view."""
    if view.hasFocus() or any(child.hasFocus() for child in view.findChildren(QWidget)):
        return True
    return isinstance(view, TextView) and view.textCursor().hasSelection()
