"""How full the context is, and what of the conversation the next message would push out: the gauge and the warning."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from layadesk.domain.chat import Attachment, Conversation, Message
from layadesk.domain.context_budget import ContextCount
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.live_turns import LiveTurn

if TYPE_CHECKING:
    from layadesk.usecases.count_context import CountContext

COUNT_AFTER_MS = 300


class ContextWatch(QObject):
    """Counts what is being written COUNT_AFTER_MS after the last key. GUI thread; the counting is the engine's.

    `count` is that of the unsent message, None where there is none; `turn` and `answer` are what the gauge shows then.

    Signals:
        changed: one of the three.
    """

    changed = Signal()

    def __init__(self, count_context: "CountContext", *, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._count_context = count_context
        self._bridge = bridge
        self._asked: tuple[Conversation, str, tuple[Attachment, ...]] | None = None
        self._n_asked = 0
        self.count: ContextCount | None = None
        self.turn: LiveTurn | None = None
        self.answer: Message | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(COUNT_AFTER_MS)
        self._timer.timeout.connect(self._ask)

    def show(self, turn: LiveTurn | None, answer: Message | None) -> None:
        """The answer that is being made, and the last one."""
        self.turn, self.answer = turn, answer
        self.changed.emit()

    def note(self, conversation: Conversation, text: str, files: tuple[Attachment, ...]) -> None:
        """What is being written, and where; counted anew after a moment of rest."""
        is_written = bool(text.strip() or files)
        self._n_asked += 1  # what is on its way is too late
        if not is_written:
            self._timer.stop()
            self._show_count(None)
            return
        self._asked = (conversation, text, files)
        self._timer.start()

    @Slot()
    def _ask(self) -> None:
        if self._asked is None or self.turn is not None:
            return  # while an answer is made, its own numbers stand there
        conversation, text, files = self._asked
        number = self._n_asked
        future = self._count_context(conversation, text, attachments=files)
        self._bridge.deliver(future, partial(self._on_counted, number), on_error=self._on_error)

    def _on_counted(self, number: int, found: ContextCount | None) -> None:
        if number == self._n_asked:
            self._show_count(found)

    def _on_error(self, _: ErrorReport) -> None:
        """Sending will say it."""

    def _show_count(self, count: ContextCount | None) -> None:
        if count != self.count:
            self.count = count
            self.changed.emit()
