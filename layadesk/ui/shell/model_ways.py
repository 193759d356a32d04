"""How models come into the window from everywhere: the Models page, the welcome, a menu, files dropped on it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.chat_page import ChatPage
from layadesk.ui.library.library_page import LibraryPage
from layadesk.ui.shell.file_drop import FileDrop
from layadesk.ui.shell.navigation_rail import Destination
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.welcome.welcome_panel import WelcomePanel
from layadesk.ui.widgets.banner import Banner
from layadesk.ui.widgets.toast import Toast

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class ModelWays(QObject):
    """Joins them with the chat and decides nothing else.

    Signals:
        failed: an ErrorReport of something that did not happen.
    """

    failed = Signal(object)

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, chat: ChatPage, window: QWidget) -> None:
        super().__init__(window)
        self._chat = chat
        self._window = window
        self.page = LibraryPage(use_cases, bridge=bridge)
        self.welcome = WelcomePanel(use_cases, bridge=bridge)
        chat.centre.receive(self.welcome)

    def join(self, show_page: Callable[[Destination], None], pages: QWidget, toast: Toast, banner: Banner) -> None:
        """The window is built: from now on everything leads somewhere."""
        self._show_page = show_page
        self._toast = toast
        self._banner = banner
        self.drop = FileDrop(self._window, pages)
        self.drop.dropped.connect(self.page.doing.import_paths)
        self._chat.add_model_requested.connect(self.page.doing.choose_files)
        self._chat.refusal.library_requested.connect(self._on_wanted)
        self.page.chat_requested.connect(self._on_chat)
        self.page.page_requested.connect(self._chat.link_question.ask)
        self.page.suggestion_requested.connect(self._on_suggestion)
        self.page.told.connect(toast.show_message)
        self.page.refused.connect(self._on_refused)
        self.page.failed.connect(self.failed)
        self.welcome.failed.connect(self.failed)
        self.welcome.wanted_changed.connect(self._chat.centre.refresh)
        self.welcome.models_requested.connect(self._on_models)

    @Slot(list)
    def open_files(self, paths: list[str]) -> None:
        """Files the program was started with, as file managers do: add them, and show where they are now."""
        self._show_page(Destination.MODELS)
        self.page.doing.import_paths(paths)

    @Slot(str)
    def _on_chat(self, expert_id: str) -> None:
        self._show_page(Destination.CHAT)
        self._chat.begin_with(expert_id)

    @Slot()
    def _on_suggestion(self) -> None:
        self._show_page(Destination.CHAT)
        self._chat.show_new()
        self.welcome.call()

    @Slot()
    def _on_models(self) -> None:
        self._show_page(Destination.MODELS)

    @Slot(str)
    def _on_wanted(self, model_id: str) -> None:
        self._show_page(Destination.MODELS)
        self.page.show_model(model_id)

    @Slot(object)
    def _on_refused(self, sentences: list[str]) -> None:
        """Above every page: the files may have been dropped on any."""
        if not sentences:
            self._banner.hide()
            return
        text = sentences[0] if len(sentences) == 1 else self.tr("%n file(s) were not added.", "", len(sentences))
        self._banner.show_message(text, ink=Ink.WARN, details=() if len(sentences) == 1 else sentences)
