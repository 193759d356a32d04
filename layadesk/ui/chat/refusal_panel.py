"""A load that was refused: the three numbers, and the ways out as buttons, above the composer until it is over."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.chat import Message
from layadesk.domain.errors import LOAD_REFUSALS, ErrorReport
from layadesk.domain.memory_fit.plans import Plan, PlanKind
from layadesk.ui.bridge import Bridge
from layadesk.ui.chat.price_watch import PriceWatch
from layadesk.ui.texts import memory
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_L, GAP_S, GAP_XS
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.usecases.load_gate import LoadGate, LoadOutlook

MAX_PLANS = 5
_OTHERS = frozenset({PlanKind.OTHER_EXPERT, PlanKind.OTHER_QUANTIZATION})


class RefusalPanel(QFrame):
    """Signals:
    again_requested: id of the answer to make again, after a way out was chosen.
    other_requested: id of the answer, and of the installed expert that is to make it instead.
    library_requested: id of the catalogue's model whose card may help.
    """

    again_requested = Signal(str)
    other_requested = Signal(str, str)
    library_requested = Signal(str)

    def __init__(
        self,
        loads: "LoadGate",
        *,
        bridge: Bridge,
        name_of: Callable[[str], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("refusal")
        set_role(self, "banner")
        self._loads = loads
        self.prices = PriceWatch(loads, bridge=bridge, parent=self)
        self._name_of = name_of
        self._answer: Message | None = None
        self._found: LoadOutlook | None = None
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._title.setWordWrap(True)
        self._numbers = note()
        self._buttons = QVBoxLayout()
        self._buttons.setSpacing(GAP_XS)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_L, GAP_S, GAP_L, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addWidget(self._title)
        layout.addWidget(self._numbers)
        layout.addLayout(self._buttons)
        self.prices.changed.connect(self._update)
        self.hide()

    def show_for(self, answer: Message | None) -> None:
        """The newest answer of what is shown; the panel is there as long as that one was refused."""
        self._answer = answer
        self._update()

    def buttons(self) -> list[QPushButton]:
        """The ways out, best first, and the last word."""
        items = (self._buttons.itemAt(i) for i in range(self._buttons.count()))
        widgets = [item.widget() for item in items if item is not None]
        return [widget for widget in widgets if isinstance(widget, QPushButton)]

    def text(self) -> str:
        """What it says, without the buttons."""
        return f"{self._title.text()}\n{self._numbers.text()}"

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange and self._found is not None:
            self._render()
        super().changeEvent(event)

    @Slot()
    def _update(self) -> None:
        refused = refused_expert(None if self._answer is None else self._answer.error)
        found = None if refused is None else self.prices.known(refused)
        if refused is not None and found is None:
            self.prices.ask(refused)
        is_over = found is None or not found.is_refused
        is_new = found is not self._found
        self._found = None if is_over else found
        if not is_over and is_new:
            self._render()
        self.setVisible(not is_over)

    def _render(self) -> None:
        found = self._found
        if found is None or found.outlook is None:
            return
        outlook = found.outlook
        self._title.setText(f"{self._name_of(found.model_id)}: {memory.verdict(outlook.verdict)}")
        lines = [memory.three_numbers(judged) for judged in outlook.asked.judgement.devices]
        lines.append(memory.largest(outlook.asked.judgement.worst))
        self._numbers.setText("\n".join(lines))
        self.setAccessibleName(self.text())
        for button in self.buttons():
            self._buttons.removeWidget(button)
            button.deleteLater()
        others = [plan for plan in outlook.plans if plan.kind in _OTHERS and plan.model_id is not None]
        own = [plan for plan in outlook.plans if plan.kind not in _OTHERS]
        for plan in own[: MAX_PLANS - len(others)]:
            self._add(_words(plan), partial(self._take, partial(self._loads.choose, found.model_id, plan)))
        for plan in others:
            self._add_other(plan)
        waive = partial(self._loads.waive, found.model_id)
        self._add(self.tr("Load it anyway"), partial(self._take, waive))

    def _add_other(self, plan: Plan) -> None:
        if plan.is_installed and plan.model_id is not None:
            self._add(_words(plan), partial(self._let_other, plan.model_id))
        else:
            text = self.tr("{way} · to be downloaded first").format(way=_words(plan))
            self._add(text, partial(self.library_requested.emit, plan.model_id))

    def _take(self, action: Callable[[], object]) -> None:
        action()
        answer = self._answer
        self.show_for(None)
        if answer is not None:
            self.again_requested.emit(answer.message_id)

    def _let_other(self, model_id: str) -> None:
        answer = self._answer
        self.show_for(None)
        if answer is not None:
            self.other_requested.emit(answer.message_id, model_id)

    def _add(self, text: str, action: Callable[[], object]) -> None:
        button = QPushButton(text)
        button.setAccessibleName(text)
        button.clicked.connect(lambda _checked=False: action())
        self._buttons.addWidget(button)


def _words(plan: Plan) -> str:
    return f"{memory.plan(plan)} · {memory.plan_price(plan)}"


def refused_expert(error: ErrorReport | None) -> str | None:
    """The expert whose load was refused, if that is what went wrong."""
    if error is None or error.code not in LOAD_REFUSALS:
        return None
    return str(error.facts.get("expert", "")) or None
