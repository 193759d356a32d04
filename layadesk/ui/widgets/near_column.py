"""A scroll area over a long column of items, of which only those near what is seen have a view.

Opening and scrolling cost the same however many items there are. Heights of items that have not been built are
estimated; what is read stays in its place when an estimate is replaced by a measure. What arrives at the end keeps the
end in view, unless the reader has scrolled away from it.
"""

import time
from collections.abc import Callable, Iterator
from typing import Protocol

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, GAP_XL, TRANSCRIPT_WIDTH, Ink
from layadesk.ui.widgets.heights import Heights
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_role

END_SLACK_PX = 12
NEAR_PX = 300
FAR_PX = 3_000
MAX_ROUNDS = 6
N_AT_ONCE = 8  # so many new items are built in one turn; a long conversation shows its end first
BUILD_S = 0.015  # while scrolling, in one turn: three frames are too long for a hand on the wheel

Place = tuple[int, tuple[int, int]]  # index of an item, and a place in it


class ItemView(Protocol):
    """What a view needs besides being a QWidget. Coordinates are its own."""

    def needed_height(self, width: int) -> int:
        """At that width."""

    def show_range(self, top: int, bottom: int) -> None:
        """What is seen of it."""

    def place_of(self, y: int) -> tuple[int, int]:
        """A place that stays when heights above it change."""

    def y_of(self, place: tuple[int, int]) -> int:
        """Where a place is now."""

    def is_in_use(self) -> bool:
        """Whether it must stay however far away it is."""


class NearColumn(QScrollArea):
    """Items have keys; `build_view` makes the view of one from its index and a width, a QWidget without a parent.

    Signals:
        views_changed: views came or went; the order of the Tab key is another one.
    """

    views_changed = Signal()

    def __init__(self, build_view: Callable[[int, int], ItemView], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._build_view = build_view
        self._keys: list[str] = []
        self._index: dict[str, int] = {}
        self._shown: dict[str, ItemView] = {}
        self._heights = Heights(GAP_S)
        self._follows_end = True
        self._place: Place = (0, (0, 0))
        self._is_adjusting = False
        self._column = _Column()
        self._column.layout_requested.connect(self._on_layout_requested)
        self.to_end_button = IconButton("arrow-down", self, ink=Ink.TEXT)
        self.to_end_button.setObjectName("to-end")
        set_role(self.to_end_button, "stop")
        self.to_end_button.clicked.connect(self.go_to_end)
        self.to_end_button.hide()
        self._order_timer = QTimer(self)
        self._order_timer.setSingleShot(True)
        self._order_timer.setInterval(0)
        self._order_timer.timeout.connect(self.views_changed)
        self._fill_timer = QTimer(self)
        self._fill_timer.setSingleShot(True)
        self._fill_timer.setInterval(0)
        self._fill_timer.timeout.connect(self._on_fill)
        self._build_until: float | None = None
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(self._column)
        self.verticalScrollBar().valueChanged.connect(self._on_value_changed)

    @property
    def is_settled(self) -> bool:
        """Whether every change has reached the screen."""
        return not self._order_timer.isActive() and not self._fill_timer.isActive()

    @property
    def follows_end(self) -> bool:
        """Whether new text moves the view; false while the reader is somewhere else."""
        return self._follows_end

    def shown_keys(self) -> list[str]:
        """Keys of the items that have a view, from top to bottom."""
        return sorted(self._shown, key=lambda key: self._index[key])

    def set_items(self, keys: list[str], estimates: list[int], *, n_kept: int) -> None:
        """Show these items; the first `n_kept` are those shown already, `estimates` are for the others."""
        for key in self._keys[n_kept:]:
            self._drop(key)
        self._heights.truncate(n_kept)
        self._keys, self._index = keys, {key: index for index, key in enumerate(keys)}
        for estimate in estimates:
            self._heights.append(estimate)
        if estimates:
            self._follows_end = True
        self._arrange(within_s=BUILD_S if len(estimates) > N_AT_ONCE else None)
        if estimates:
            self._order_timer.start()

    def estimate_again(self, key: str, estimate: int) -> None:
        """An item without a view has changed."""
        if self._heights.set(self._index[key], estimate):
            self._arrange()

    def scroll_to(self, key: str) -> None:
        """Bring the top of an item to the upper edge."""
        index = self._index[key]
        self._follows_end = False
        self._place = (index, (0, 0))
        self._arrange()
        self._place = (index, self._shown[key].place_of(0))
        self._arrange()

    def focus_stops(self) -> list[QWidget]:
        """The stops of the newest view for the Tab key; a subclass knows them."""
        return []

    @Slot()
    def go_to_end(self) -> None:
        """Show the newest message and follow it."""
        self._follows_end = True
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
        self._place_button()

    def _column_width(self) -> int:
        return max(min(self.width() - 2 * GAP_L, TRANSCRIPT_WIDTH), 100)

    def _arrange(self, *, within_s: float | None = None) -> None:
        """Build what is near, drop what is far, put all in their places, and keep what is read where it is.

        `within_s`: build about so long, at least one, and the rest in the next turns of the event loop.
        """
        if self._is_adjusting or not self.isVisible():
            return
        self._is_adjusting = True
        self._build_until = None if within_s is None else time.monotonic() + within_s
        self._fill_timer.stop()
        n_before = set(self._shown)
        for _ in range(MAX_ROUNDS):
            self._resize_column()
            self._restore_place()
            has_changed = self._measure_near()
            self._put_in_place()
            if not has_changed or self._fill_timer.isActive():
                break
        self._drop_far()
        self._is_adjusting = False
        self._show_to_end_button()
        if n_before != set(self._shown):
            self._order_timer.start()

    def _resize_column(self) -> None:
        height = GAP_M + self._heights.total + GAP_XL
        self._column.resize(self.viewport().width(), max(height, self.viewport().height()))

    def _restore_place(self) -> None:
        bar = self.verticalScrollBar()
        if self._follows_end:
            bar.setValue(bar.maximum())
            return
        index, inner = self._place
        if index < len(self._keys):
            view = self._shown.get(self._keys[index])
            offset = view.y_of(inner) if view is not None else inner[1]
            bar.setValue(GAP_M + self._heights.top(index) + offset)

    def _note_place(self) -> None:
        """What stands at the upper edge, so that it can stay there."""
        y = self.verticalScrollBar().value() - GAP_M
        index = self._heights.index_at(y)
        if index < len(self._keys):
            view = self._shown.get(self._keys[index])
            offset = y - self._heights.top(index)
            self._place = (index, view.place_of(offset) if view is not None else (0, offset))

    def _measure_near(self) -> bool:
        """Build and measure what is seen, then a little around it; true when a height was another one."""
        top = self.verticalScrollBar().value() - GAP_M
        bottom = top + self.viewport().height()
        width = self._column_width()
        has_changed = has_built = False
        for index in self._near(top, bottom):
            view = self._shown.get(self._keys[index])
            if view is None:
                if self._build_until is not None and has_built and time.monotonic() > self._build_until:
                    self._fill_timer.start()
                    break
                view = self._add(index, width)
                has_built = True
            if as_widget(view).width() != width:
                as_widget(view).resize(width, as_widget(view).height())
            at = self._heights.top(index)
            view.show_range(top - at, bottom - at)
            has_changed |= self._heights.set(index, view.needed_height(width))
        return has_changed

    def _near(self, top: int, bottom: int) -> Iterator[int]:
        """Indices of what is seen, from where the reader is, and of what is just below and above; heights may change
        meanwhile.
        """
        first = index = self._heights.index_at(max(top, 0))
        if self._follows_end:  # what is seen is the end, whatever the bar says before it knows the new length
            first = index = max(len(self._keys) - 1, 0)
            top, bottom = max(top, self._heights.total - self.viewport().height()), max(bottom, self._heights.total)
        while index < len(self._keys) and self._heights.top(index) <= bottom + NEAR_PX:
            yield index
            index += 1
        while first > 0 and self._heights.top(first) > top - NEAR_PX:
            first -= 1
            yield first

    def _drop_far(self) -> None:
        top = self.verticalScrollBar().value() - GAP_M
        bottom = top + self.viewport().height()
        for key, view in list(self._shown.items()):
            index = self._index[key]
            at = self._heights.top(index)
            is_far = at + self._heights.height(index) < top - FAR_PX or at > bottom + FAR_PX
            if is_far and not view.is_in_use():
                self._drop(key)

    def _put_in_place(self) -> None:
        width = self._column_width()
        left = (self.width() - width) // 2
        for key, view in self._shown.items():
            index = self._index[key]
            widget = as_widget(view)
            widget.setGeometry(left, GAP_M + self._heights.top(index), width, self._heights.height(index))
            if widget.isHidden():
                widget.show()

    def _add(self, index: int, width: int) -> ItemView:
        view = self._build_view(index, width)
        as_widget(view).setParent(self._column)
        as_widget(view).resize(width, 10)
        self._shown[self._keys[index]] = view
        return view

    def _drop(self, key: str) -> None:
        if key in self._shown:
            view = as_widget(self._shown.pop(key))
            view.hide()
            view.deleteLater()

    def _show_to_end_button(self) -> None:
        bar = self.verticalScrollBar()
        is_wanted = not self._follows_end and bar.maximum() - bar.value() > self.height() // 3
        if not is_wanted and self.to_end_button.hasFocus():
            # Qt would give the focus to whatever comes next, and scroll there.
            for widget in [one for one in self.focus_stops() if one.isVisible() and one.isEnabled()][-1:]:
                widget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.to_end_button.setVisible(is_wanted)

    def _place_button(self) -> None:
        button = self.to_end_button
        button.move((self.width() - button.width()) // 2, self.height() - button.height() - GAP_M)
        button.raise_()

    @Slot()
    def _on_layout_requested(self) -> None:
        self._arrange()

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        if self._is_adjusting:
            return
        self._follows_end = self.verticalScrollBar().maximum() - value <= END_SLACK_PX
        self._note_place()
        self._arrange(within_s=BUILD_S)

    @Slot()
    def _on_fill(self) -> None:
        self._arrange(within_s=BUILD_S)


def as_widget(view: ItemView) -> QWidget:
    """The same, as Qt knows it."""
    assert isinstance(view, QWidget)
    return view


class _Column(QWidget):
    """The long page below the window of the scroll area.

    Signals:
        layout_requested: a message needs another height.
    """

    layout_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        set_role(self, "plain")

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self.layout_requested.emit()
        return super().event(event)
