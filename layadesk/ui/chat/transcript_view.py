"""The branch of a conversation that is shown, as one column of message views.

The newest messages are built first and older ones when they are wanted, a few at a time, so that opening a long
conversation costs no more than a short one (reported faults F06, F07, F10). Text that arrives keeps the end in view,
unless the reader has scrolled away from it.
"""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from layadesk.domain.chat import Message
from layadesk.domain.inference import Role
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.chat.question_view import QuestionView
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S, GAP_XL, TRANSCRIPT_WIDTH, Ink
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import set_role
from layadesk.usecases.turns import TurnProgress, TurnText

PAGE_MESSAGES = 60
PAGE_CHARS = 120_000
CHUNK = 4
END_SLACK_PX = 12

Siblings = Mapping[str, Sequence[str]]
MessageView = QuestionView | AnswerView


class TranscriptView(QScrollArea):
    """Signals:
    edit_submitted: message id, new text.
    again_requested: id of the answer to make another one of.
    sibling_requested: id of the message to show in place of its sibling.
    views_changed: messages came or went; the order of the Tab key is another one.
    """

    edit_submitted = Signal(str, str)
    again_requested = Signal(str)
    sibling_requested = Signal(str)
    views_changed = Signal()

    def __init__(self, *, name_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self._name_of = name_of
        self._branch: tuple[Message, ...] = ()
        self._siblings: Siblings = {}
        self._first = 0  # index in the branch of the oldest message that has a view
        self._wanted_first = 0
        self._views: dict[str, MessageView] = {}
        self._is_busy = False
        self._follows_end = True
        self._from_end = 0
        self._grows_above = False  # what changes the height next is an older message, not the end of the newest
        self._is_adjusting = False
        self.earlier_button = QPushButton()
        self.earlier_button.setObjectName("earlier")
        set_role(self.earlier_button, "quiet")
        self.earlier_button.clicked.connect(self.show_earlier)
        self.to_end_button = IconButton("arrow-down", self, ink=Ink.TEXT)
        self.to_end_button.setObjectName("to-end")
        set_role(self.to_end_button, "stop")
        self.to_end_button.clicked.connect(self.go_to_end)
        self.to_end_button.hide()
        self._fill_timer = QTimer(self)
        self._fill_timer.setInterval(0)
        self._fill_timer.timeout.connect(self._on_fill)
        self._sides, self._column = self._lay_out()
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._on_range_changed)
        bar.valueChanged.connect(self._on_value_changed)
        self._retranslate()

    @property
    def branch(self) -> tuple[Message, ...]:
        """All messages of the branch, with and without a view."""
        return self._branch

    @property
    def is_filling(self) -> bool:
        """Whether older messages are being built just now."""
        return self._fill_timer.isActive()

    @property
    def follows_end(self) -> bool:
        """Whether new text moves the view; false while the reader is somewhere else."""
        return self._follows_end

    def view_of(self, message_id: str) -> MessageView | None:
        """The view of a message, where there is one."""
        return self._views.get(message_id)

    def shown_views(self) -> tuple[MessageView, ...]:
        """All views, from top to bottom."""
        return tuple(self._views[message.message_id] for message in self._branch[self._first :])

    def focus_chain(self) -> list[QWidget]:
        """Its stops for the Tab key, from top to bottom."""
        stops = [widget for view in self.shown_views() for widget in view.focus_chain()]
        return [self.earlier_button, *stops, self.to_end_button]

    def show_branch(self, branch: Sequence[Message], siblings: Siblings) -> None:
        """Show `branch`; views of messages that stay are kept, also those in which something is being edited."""
        n_common = _common_prefix(self._branch, branch)
        keeps = self._views and n_common > self._first and len(branch) - n_common <= PAGE_MESSAGES
        removed = self._branch[max(n_common, self._first) if keeps else self._first :]
        for message in removed:
            self._drop(message.message_id)
        self._branch, self._siblings = tuple(branch), siblings
        if not keeps:
            self._start_anew()
            return
        for message in self._branch[self._first : n_common]:
            self._views[message.message_id].show_message(message, siblings.get(message.message_id, ()))
        for message in self._branch[n_common:]:
            self._add(message, at=-1)
        if len(self._branch) > n_common:
            self.go_to_end()
            self.views_changed.emit()

    def append_text(self, event: TurnText) -> None:
        """New text of an answer that is shown; silent for others."""
        view = self._views.get(event.message_id)
        if isinstance(view, AnswerView):
            self._grows_above = False
            view.append_text(event.text, event.offset)

    def show_progress(self, progress: TurnProgress) -> None:
        """What an answer waits for; silent for those not shown."""
        view = self._views.get(progress.message_id)
        if isinstance(view, AnswerView):
            view.show_progress(progress)

    def update_message(self, message: Message) -> None:
        """One message has changed; silent for those not in the branch."""
        ids = [m.message_id for m in self._branch]
        if message.message_id not in ids:
            return
        index = ids.index(message.message_id)
        self._branch = (*self._branch[:index], message, *self._branch[index + 1 :])
        view = self._views.get(message.message_id)
        if view is not None:
            view.show_message(message, self._siblings.get(message.message_id, ()))

    def set_busy(self, is_busy: bool) -> None:
        """Whether an answer is being made here: nothing can be edited or made again meanwhile."""
        if is_busy != self._is_busy:
            self._is_busy = is_busy
            for view in self._views.values():
                view.set_busy(is_busy)

    @Slot()
    def show_earlier(self) -> None:
        """Build another page of older messages."""
        if self._first > 0 and not self.is_filling:
            self._wanted_first = page_start(self._branch, self._first)
            bar = self.verticalScrollBar()
            self._from_end = bar.maximum() - bar.value()
            self._grows_above = True
            self._fill_timer.start()

    @Slot()
    def go_to_end(self) -> None:
        """Show the newest message and follow it."""
        self._follows_end = True
        self._set_value(self.verticalScrollBar().maximum())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The column stays in the middle of the page, above the composer, with and without a scroll bar.
        bar = self.verticalScrollBar()
        self._sides.setContentsMargins(GAP_L, GAP_M, GAP_L - (bar.width() if bar.isVisible() else 0), GAP_XL)
        self._place_button()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> tuple[QHBoxLayout, QVBoxLayout]:
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        set_role(content, "plain")
        middle = QWidget()
        set_role(middle, "plain")
        middle.setMaximumWidth(TRANSCRIPT_WIDTH)
        sides = QHBoxLayout(content)
        sides.addStretch(1)
        sides.addWidget(middle, 1000)
        sides.addStretch(1)
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_S)
        column.addWidget(self.earlier_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.setWidget(content)
        return sides, column

    def _start_anew(self) -> None:
        self._fill_timer.stop()
        self._grows_above = False
        self._follows_end = True
        self._first = len(self._branch)
        self._wanted_first = page_start(self._branch, self._first)
        self._build_some()
        if self._first > self._wanted_first:
            self._fill_timer.start()
        self._retranslate()
        self.go_to_end()
        self.views_changed.emit()

    def _build_some(self) -> None:
        for _ in range(min(CHUNK, self._first - self._wanted_first)):
            self._first -= 1
            self._add(self._branch[self._first], at=1)
        self.earlier_button.setVisible(self._first > 0)

    def _add(self, message: Message, *, at: int) -> None:
        """A view at the top (1) or the end (-1); the earlier-button and the stretch stay first and last."""
        siblings = self._siblings.get(message.message_id, ())
        width = min(self.viewport().width() - 2 * GAP_L, TRANSCRIPT_WIDTH)
        view: MessageView
        if message.role is Role.USER:
            view = QuestionView(message, siblings, width=width)
            view.edit_submitted.connect(self.edit_submitted)
        else:
            view = AnswerView(message, siblings, name_of=self._name_of, width=width)
            view.again_requested.connect(self.again_requested)
        view.sibling_requested.connect(self.sibling_requested)
        view.set_busy(self._is_busy)
        self._views[message.message_id] = view
        self._column.insertWidget(at if at > 0 else self._column.count() - 1, view)

    def _drop(self, message_id: str) -> None:
        view = self._views.pop(message_id)
        self._column.removeWidget(view)
        view.hide()
        view.deleteLater()

    def _set_value(self, value: int) -> None:
        self._is_adjusting = True
        self.verticalScrollBar().setValue(value)
        self._is_adjusting = False
        self._show_to_end_button()

    def _show_to_end_button(self) -> None:
        bar = self.verticalScrollBar()
        self.to_end_button.setVisible(not self._follows_end and bar.maximum() - bar.value() > self.height() // 3)

    def _place_button(self) -> None:
        button = self.to_end_button
        button.move((self.width() - button.width()) // 2, self.height() - button.height() - GAP_M)
        button.raise_()

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Conversation"))
        self.earlier_button.setText(self.tr("Show earlier messages (%n)", "", self._first))
        self.earlier_button.setAccessibleName(self.earlier_button.text())
        self.to_end_button.set_name(self.tr("Go to the newest message"))

    @Slot()
    def _on_fill(self) -> None:
        self._build_some()
        if self._first <= self._wanted_first:
            self._fill_timer.stop()
            self.views_changed.emit()
        self._retranslate()

    @Slot(int, int)
    def _on_range_changed(self, minimum: int, maximum: int) -> None:
        if self._follows_end:
            self._set_value(maximum)
        elif self._grows_above:
            self._set_value(maximum - self._from_end)
        self._place_button()

    @Slot(int)
    def _on_value_changed(self, value: int) -> None:
        if self._is_adjusting:
            return
        bar = self.verticalScrollBar()
        self._from_end = bar.maximum() - value
        self._follows_end = self._from_end <= END_SLACK_PX
        self._show_to_end_button()
        if value < self.viewport().height() // 2 and not self._follows_end:
            self.show_earlier()


def page_start(branch: Sequence[Message], end: int) -> int:
    """Where a page that ends before index `end` begins: PAGE_MESSAGES back, or less when they are long."""
    n_chars = 0
    start = end
    while start > 0 and end - start < PAGE_MESSAGES:
        n_chars += len(branch[start - 1].text)
        if n_chars > PAGE_CHARS and start < end:
            break
        start -= 1
    return start


def _common_prefix(old: Sequence[Message], new: Sequence[Message]) -> int:
    n = 0
    for before, after in zip(old, new, strict=False):
        if before.message_id != after.message_id:
            break
        n += 1
    return n
