"""More that can be done with an answer: have another expert give it, judge its route, find it on the charts."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from layadesk.domain.chat import Message, Rating
from layadesk.domain.routing_labels import TASKS
from layadesk.ui.chat.message_actions import BUTTON_PX
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.widgets.icon_button import IconButton

Experts = Callable[[], Sequence[tuple[str, str]]]  # id and name of those that could answer


class AnswerMenu(IconButton):
    """Signals:
    expert_chosen: id of the expert that is to answer instead.
    rated: what the user thinks of the route; "" takes it back.
    task_corrected: what was really asked for, one of TASKS; "" takes it back.
    place_requested: it is to be pointed at on the charts of the machine.
    """

    expert_chosen = Signal(str)
    rated = Signal(str)
    task_corrected = Signal(str)
    place_requested = Signal()

    def __init__(self, experts: Experts, parent: QWidget | None = None) -> None:
        super().__init__("more", parent, size=BUTTON_PX)
        self.setObjectName("answer-menu")
        self._experts = experts
        self._message: Message | None = None
        self._is_busy = False
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self.fill)
        self.setMenu(self._menu)
        self._retranslate()

    def show_message(self, message: Message) -> None:
        """The answer it is for."""
        self._message = message

    def set_busy(self, is_busy: bool) -> None:
        """No other answer while one is being made."""
        self._is_busy = is_busy

    @Slot()
    def fill(self) -> None:
        """Make the entries for the experts and the message there are now."""
        self._menu.clear()
        message = self._message
        if message is None:
            return
        others = self._menu.addMenu(self.tr("Answer with"))
        for expert_id, name in self._experts():
            action = others.addAction(name.replace("&", "&&"))
            action.setEnabled(not self._is_busy)
            action.triggered.connect(partial(self._choose, expert_id))
        others.setEnabled(not self._is_busy and not others.isEmpty())
        self._menu.addSeparator()
        rating = None if message.correction is None else message.correction.rating
        for value, text in ((Rating.GOOD, self.tr("The route was right")), (Rating.WRONG, self.tr("Wrong route"))):
            action = self._menu.addAction(text)
            action.setCheckable(True)
            action.setChecked(rating is value)
            action.setEnabled(message.route is not None)
            action.triggered.connect(partial(self._rate, "" if rating is value else value.value))
        self._add_tasks(message)
        self._menu.addSeparator()
        self._menu.addAction(self.tr("Show on the charts")).triggered.connect(self.place_requested)

    def _add_tasks(self, message: Message) -> None:
        said = None if message.correction is None else message.correction.task
        tasks = self._menu.addMenu(self.tr("The task was"))
        tasks.setEnabled(message.route is not None)
        for task in TASKS:
            action = tasks.addAction(task_name(task))
            action.setCheckable(True)
            action.setChecked(said == task)
            action.triggered.connect(partial(self._correct_task, "" if said == task else task))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _choose(self, expert_id: str) -> None:
        self.expert_chosen.emit(expert_id)

    def _rate(self, rating: str) -> None:
        self.rated.emit(rating)

    def _correct_task(self, task: str) -> None:
        self.task_corrected.emit(task)

    def _retranslate(self) -> None:
        self.set_name(self.tr("More for this answer"))
