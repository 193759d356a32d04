"""The branch of a conversation that is shown, as one column of message views (reported faults F06, F07, F10)."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import QWidget

from layadesk.domain.chat import Message
from layadesk.domain.inference import Role
from layadesk.ui.chat.answer_menu import Experts
from layadesk.ui.chat.answer_view import AnswerView
from layadesk.ui.chat.question_view import QuestionView
from layadesk.ui.markup.parts import Kit
from layadesk.ui.widgets.near_column import NearColumn
from layadesk.usecases.turns import TurnProgress, TurnText, TurnThinking

Siblings = Mapping[str, Sequence[str]]
MessageView = QuestionView | AnswerView


class TranscriptView(NearColumn):
    """Signals:
    edit_submitted: message id, new text.
    again_requested: id of the answer to make another one of.
    go_on_requested: id of the answer to go on with.
    again_with_requested: id of the answer, id of the expert that is to answer instead.
    route_rated: id of the answer, what the user thinks of its route.
    task_corrected: id of the answer, what was really asked for, "" takes it back.
    route_requested: the answer, a Message, whose route is to be shown.
    place_requested: id of the answer to point at on the charts.
    sibling_requested: id of the message to show in place of its sibling.
    link_chosen: the address of a link the user wants opened.
    """

    edit_submitted = Signal(str, str)
    again_requested = Signal(str)
    go_on_requested = Signal(str)
    again_with_requested = Signal(str, str)
    route_rated = Signal(str, str)
    task_corrected = Signal(str, str)
    route_requested = Signal(object)
    place_requested = Signal(str)
    sibling_requested = Signal(str)
    link_chosen = Signal(str)

    def __init__(
        self, *, name_of: Callable[[str], str], kit: Kit, experts: Experts, parent: QWidget | None = None
    ) -> None:
        super().__init__(self._view_of_item, parent)
        self.setObjectName("transcript")
        self._name_of = name_of
        self._kit = kit
        self._experts = experts
        self._branch: tuple[Message, ...] = ()
        self._siblings: Siblings = {}
        self._is_busy = False
        self._retranslate()

    @property
    def branch(self) -> tuple[Message, ...]:
        """All messages of the branch, with and without a view."""
        return self._branch

    def view_of(self, message_id: str) -> MessageView | None:
        """The view of a message, where there is one."""
        view = self._shown.get(message_id)
        return view if isinstance(view, QuestionView | AnswerView) else None

    def shown_views(self) -> tuple[MessageView, ...]:
        """All views there are, from top to bottom."""
        views = (self.view_of(key) for key in self.shown_keys())
        return tuple(view for view in views if view is not None)

    def focus_chain(self) -> list[QWidget]:
        """Its stops for the Tab key, from top to bottom."""
        stops = [widget for view in self.shown_views() for widget in view.focus_chain()]
        return [*stops, self.to_end_button]

    def focus_stops(self) -> list[QWidget]:
        return list(self.shown_views()[-1].focus_chain())

    def show_branch(self, branch: Sequence[Message], siblings: Siblings) -> None:
        """Show `branch`; views of messages that stay are kept, also those in which something is being edited."""
        n_common = _common_prefix(self._branch, branch)
        self._branch, self._siblings = tuple(branch), siblings
        keys = [message.message_id for message in branch]
        self.set_items(keys, [_estimate(message) for message in branch[n_common:]], n_kept=n_common)
        for view in self.shown_views():
            message = self._branch[self._index[view.message.message_id]]
            if isinstance(view, AnswerView):
                view.set_last(message is self._branch[-1])
            view.show_message(message, siblings.get(message.message_id, ()))

    def show_message(self, message_id: str) -> None:
        """Scroll to a message of the branch and put the focus there; silent for others."""
        if message_id not in self._index:
            return
        self.scroll_to(message_id)
        view = self.view_of(message_id)
        if view is not None and view.focus_chain():
            view.focus_chain()[0].setFocus(Qt.FocusReason.OtherFocusReason)

    def show_stream(self, event: TurnText | TurnThinking | TurnProgress) -> None:
        """More of an answer that is being made, or what it waits for."""
        match event:
            case TurnText():
                self.append_text(event)
            case TurnThinking():
                self.append_thinking(event)
            case TurnProgress():
                self.show_progress(event)

    def append_text(self, event: TurnText) -> None:
        """New text of an answer that is shown; silent for others."""
        view = self.view_of(event.message_id)
        if isinstance(view, AnswerView):
            view.append_text(event.text, event.offset)

    def append_thinking(self, event: TurnThinking) -> None:
        """New thinking of an answer that is shown; silent for others."""
        view = self.view_of(event.message_id)
        if isinstance(view, AnswerView):
            view.append_thinking(event.text, event.offset)

    def show_progress(self, progress: TurnProgress) -> None:
        """What an answer waits for; silent for those not shown."""
        view = self.view_of(progress.message_id)
        if isinstance(view, AnswerView):
            view.show_progress(progress)

    def update_message(self, message: Message) -> None:
        """One message has changed; silent for those not in the branch."""
        index = self._index.get(message.message_id)
        if index is None:
            return
        self._branch = (*self._branch[:index], message, *self._branch[index + 1 :])
        view = self.view_of(message.message_id)
        if view is not None:
            view.show_message(message, self._siblings.get(message.message_id, ()))
        else:
            self.estimate_again(message.message_id, _estimate(message))

    def set_busy(self, is_busy: bool) -> None:
        """Whether an answer is being made here: nothing can be edited or made again meanwhile."""
        if is_busy != self._is_busy:
            self._is_busy = is_busy
            for view in self.shown_views():
                view.set_busy(is_busy)

    @Slot()
    def draw_again(self) -> None:
        """Formulas have been drawn."""
        for view in self.shown_views():
            view.body.draw_again()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _view_of_item(self, index: int, width: int) -> MessageView:
        message = self._branch[index]
        siblings = self._siblings.get(message.message_id, ())
        view: MessageView
        if message.role is Role.USER:
            view = QuestionView(message, siblings, kit=self._kit, width=width)
            view.edit_submitted.connect(self.edit_submitted)
        else:
            view = AnswerView(
                message, siblings, name_of=self._name_of, kit=self._kit, experts=self._experts, width=width
            )
            view.again_with_requested.connect(self.again_with_requested)
            view.route_rated.connect(self.route_rated)
            view.task_corrected.connect(self.task_corrected)
            view.route_requested.connect(self.route_requested)
            view.place_requested.connect(self.place_requested)
            view.again_requested.connect(self.again_requested)
            view.go_on_requested.connect(self.go_on_requested)
            view.set_last(index + 1 == len(self._branch))
            view.link_chosen.connect(self.link_chosen)
            view.body.views_changed.connect(self._order_timer.start)
        view.sibling_requested.connect(self.sibling_requested)
        view.set_busy(self._is_busy)
        return view

    def _retranslate(self) -> None:
        self.setAccessibleName(self.tr("Conversation"))
        self.to_end_button.set_name(self.tr("Go to the newest message"))


def _estimate(message: Message) -> int:
    """Pixels a message will need, roughly."""
    return 24 * (message.text.count("\n") + len(message.text) // 95 + 1) + 60


def _common_prefix(old: Sequence[Message], new: Sequence[Message]) -> int:
    n = 0
    for before, after in zip(old, new, strict=False):
        if before.message_id != after.message_id:
            break
        n += 1
    return n


def up_to(branch: Sequence[Message], message_id: str | None) -> tuple[Message, ...]:
    """The branch up to and including one message; nothing for None."""
    for index, message in enumerate(branch):
        if message.message_id == message_id:
            return tuple(branch[: index + 1])
    return ()
