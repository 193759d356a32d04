"""The window over fake use cases, shown on whatever screen there is."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QDeadlineTimer, QEventLoop
from PySide6.QtWidgets import QApplication

from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.language import Language
from layadesk.ui.shell.appearance import Appearance
from layadesk.ui.shell.main_window import MainWindow
from layadesk.ui.theme.theme import Theme
from tests.fakes.usecases import House

WAIT_MS = 5_000
TURN_MS = 10


@dataclass
class ShownWindow:
    """A window and what is behind it."""

    house: House
    window: MainWindow
    bridge: Bridge
    appearance: Appearance

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Let the event loop run until then. Raises TimeoutError after WAIT_MS."""
        deadline = QDeadlineTimer(WAIT_MS)
        while not condition():
            if deadline.hasExpired():
                raise TimeoutError(f"waited {WAIT_MS} ms in vain")
            QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents, TURN_MS)

    def send(self, text: str) -> str:
        """Write and send a message; returns the id of the running answer when it is on screen."""
        page = self.window.page
        before = set(self.house.books.running)
        page.composer.text_box.setPlainText(text)
        page.composer.text_box.submitted.emit()
        self.wait_until(lambda: len(self.house.books.running) > len(before))
        (message_id,) = set(self.house.books.running) - before
        self.wait_until(lambda: page.transcript.view_of(message_id) is not None)
        self.settle()
        return message_id

    def open(self, conversation_id: str) -> None:
        """Show a conversation and wait until it is there."""
        self.window.page.show_conversation(conversation_id)
        page = self.window.page
        self.wait_until(lambda: page.conversation.conversation_id == conversation_id)
        self.settle()

    def settle(self) -> None:
        """Wait until everything asked of the store has been answered on screen, and the transcript is built."""
        for _ in range(3):  # an answer on screen may ask the store again
            self.house.store.wait(lambda: None)
            self.house.engine.wait(lambda: None)
            self.wait_until(self._is_still)
            QApplication.processEvents()

    def _is_still(self) -> bool:
        return self.bridge.is_idle and self.window.page.transcript.is_settled

    def answer(self, message_id: str) -> AnswerView:
        """The view of an answer."""
        view = self.window.page.transcript.view_of(message_id)
        assert isinstance(view, AnswerView)
        return view


def shown_window(
    house: House, *, language: Language, theme: Theme, size: tuple[int, int], colours: str = "light"
) -> ShownWindow:
    """A window in English, light or dark, of `size`; not settled yet."""
    bridge = Bridge()
    house.settings.set("ui.language", "en")
    house.settings.set("ui.theme", colours)
    appearance = Appearance(house.settings, language=language, theme=theme)
    appearance.apply()
    window = MainWindow(house.use_cases, bridge=bridge, appearance=appearance)
    window.resize(*size)
    window.show()
    return ShownWindow(house, window, bridge, appearance)
