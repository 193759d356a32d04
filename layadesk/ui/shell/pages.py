"""The centre of the window: what must be told above, one of the pages below."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.widgets.banner import Banner


class Header(Protocol):
    """The row at the top of a page."""

    def add_button(self, button: QWidget) -> None:
        """Take a button at the right end; it moves here from the page shown before."""

    def isAncestorOf(self, child: QWidget, /) -> bool:
        """Whether `child` lies in it."""


class Page(Protocol):
    """What a page needs besides being a QWidget."""

    @property
    def header(self) -> Header:
        """The row at its top."""

    def focus_chain(self) -> list[QWidget]:
        """Its controls in the order of the Tab key, those of the header first."""


class Pages(QWidget):
    """Banners are the same on every page, and so are the buttons at the end of the header.

    Signals:
        changed: the `Destination` now shown.
    """

    changed = Signal(str)

    def __init__(self, banners: Sequence[Banner], buttons: Sequence[QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons = tuple(buttons)
        self._pages: dict[Destination, tuple[Page, QWidget]] = {}
        self._stack = QStackedWidget()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for banner in banners:
            layout.addWidget(banner)
        layout.addWidget(self._stack, 1)

    def add(self, destination: Destination, page: Page) -> None:
        """Take a page in; the first one is shown."""
        assert isinstance(page, QWidget)
        self._pages[destination] = (page, page)
        self._stack.addWidget(page)
        if len(self._pages) == 1:
            self.show_page(destination)

    def show_page(self, destination: Destination) -> None:
        """Bring a page to the front. Silent for one that was not added."""
        if destination not in self._pages:
            return
        page, widget = self._pages[destination]
        for button in self._buttons:
            page.header.add_button(button)
        self._stack.setCurrentWidget(widget)
        self.changed.emit(destination.value)

    @property
    def current(self) -> Destination:
        """What is shown."""
        shown = self._stack.currentWidget()
        return next(destination for destination, (_, widget) in self._pages.items() if widget is shown)

    def focus_chain(self) -> list[QWidget]:
        """The controls of the page that is shown, with the buttons behind those of its header."""
        page = self._pages[self.current][0]
        chain = page.focus_chain()
        n_above = sum(page.header.isAncestorOf(widget) for widget in chain)
        return [*chain[:n_above], *self._buttons, *chain[n_above:]]
