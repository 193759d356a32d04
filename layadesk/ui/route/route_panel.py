"""The route of the last answer: which expert, why, among whom. Shows the stored record, never a new computation."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.routing import RankedExpert, Route
from layadesk.ui.route.share_bars import ProbabilityBars
from layadesk.ui.texts import words
from layadesk.ui.texts.label_names import domain_name, task_name
from layadesk.ui.texts.numbers import gib_with_unit, milliseconds, seconds
from layadesk.ui.texts.remote import ranked_name, route_marks
from layadesk.ui.theme.fonts import figure_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS
from layadesk.ui.widgets.roles import note, set_role

_TOP_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


class RoutePanel(QWidget):
    """A card below the machine's."""

    def __init__(self, *, name_of: Callable[[str], str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._name_of = name_of
        self._answer: Message | None = None
        self._route: Route | None = None
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._empty = note()
        self._card = QFrame()
        self._card.setObjectName("route-card")
        set_role(self._card, "card")
        self._expert = QLabel()
        self._expert.setFont(strong_font())
        self._expert.setWordWrap(True)
        self._reason = note()
        self._facts = QWidget()
        self._inside = QVBoxLayout(self._card)
        self._inside.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        self._inside.setSpacing(GAP_XS)
        self._inside.addWidget(self._expert)
        self._inside.addWidget(self._reason)
        self._inside.addWidget(self._facts)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(self._title)
        layout.addWidget(self._empty)
        layout.addWidget(self._card)
        self._render()

    def show_answer(self, answer: Message | None) -> None:
        """The newest answer of the conversation that is shown, or None."""
        route = None if answer is None else answer.route
        before = self._answer
        is_same = route is not None and route == self._route and _cost_of(answer) == _cost_of(before)
        self._answer, self._route = answer, route
        if not is_same:
            self._render()

    def refresh_names(self) -> None:
        """Experts have come or gone."""
        self._render()

    def text(self) -> str:
        """All that it says."""
        if self._route is None:
            return self._empty.text()
        return " ".join(
            [self._expert.text(), self._reason.text(), *(f.text() for f in self._facts.findChildren(QLabel))]
        )

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _render(self) -> None:
        self._title.setText(self.tr("Last route"))
        route = self._route
        self._card.setVisible(route is not None)
        self._empty.setVisible(route is None)
        self._empty.setText(self._absence())
        if route is None:
            return
        self._expert.setText(self._name_of(route.expert))
        marks = [_sentence(one) for one in route_marks(route, self._name_of)]
        self._reason.setText("\n".join([*marks, _sentence(words.route_reason(route.reason))]))
        self._card.setAccessibleName(self.tr("Route to {name}").format(name=self._expert.text()))
        facts: list[tuple[str, str | QWidget]] = list(self._answers(route))
        for title, probabilities, name in (
            (self.tr("Tasks"), route.task_probs, task_name),
            (self.tr("Domains"), route.domain_probs, domain_name),
        ):
            if len(probabilities) > 1:
                facts.append((title, ProbabilityBars({name(label): p for label, p in probabilities.items()})))
        facts += self._costs()
        experts = [(ranked_name(one, self._name_of), self._standing(one, route.expert)) for one in route.ranking]
        self._show_facts(facts, experts)

    def _absence(self) -> str:
        if self._answer is None:
            return self.tr("Who answered, and why, stands here after the first answer.")
        if self._answer.status is MessageStatus.STREAMING:
            return self.tr("Choosing an expert…")
        if self._answer.status is MessageStatus.FAILED:
            return self.tr("This answer failed before an expert was chosen.")
        return self.tr("No route was kept for this answer.")

    def _answers(self, route: Route) -> list[tuple[str, str]]:
        no_opinion = self.tr("no opinion")
        return [
            (self.tr("Task"), _best(route.task, route.task_probs, task_name) or no_opinion),
            (self.tr("Complexity"), no_opinion if route.complexity is None else words.complexity(route.complexity)),
            (self.tr("Domain"), _best(route.domain, route.domain_probs, domain_name) or no_opinion),
            (self.tr("Decided in"), words.unknown() if route.route_ms is None else milliseconds(route.route_ms)),
        ]

    def _costs(self) -> list[tuple[str, str]]:
        """What the answer took in time and memory, as far as it was measured."""
        timings = None if self._answer is None else self._answer.timings
        memory = None if self._answer is None else self._answer.memory
        found = []
        if timings is not None and timings.load_ms is not None:
            found.append((self.tr("Loaded in"), milliseconds(timings.load_ms)))
        if timings is not None and timings.ttft_ms is not None:
            found.append((self.tr("First token"), seconds(timings.ttft_ms)))
        if memory is not None and memory.total_bytes is not None:
            found.append((self.tr("Memory"), gib_with_unit(memory.total_bytes)))
        return found

    def _standing(self, ranked: RankedExpert, chosen: str) -> str:
        if ranked.out is not None:
            return self.tr("out: {why}").format(why=words.out_reason(ranked.out))
        standing = self.tr("chosen") if ranked.model_id == chosen else self.tr("considered")
        return standing if ranked.utility is None else f"{standing} {ranked.utility:.2f}"

    def _show_facts(self, facts: Sequence[tuple[str, str | QWidget]], experts: Sequence[tuple[str, str]]) -> None:
        """Facts in two columns; an expert's standing is below its name, which may be of any length."""
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, GAP_XS, 0, 0)
        grid.setHorizontalSpacing(GAP_M)
        grid.setVerticalSpacing(GAP_XS)
        grid.setColumnStretch(1, 1)
        for row, (left, right) in enumerate(facts):
            name = note(left)
            name.setAlignment(_TOP_LEFT)
            grid.addWidget(name, row, 0)
            if isinstance(right, QWidget):
                grid.addWidget(right, row, 1)
                continue
            grid.addWidget(_value(right), row, 1)
        for called, standing in experts:
            name = note(called)
            name.setMinimumWidth(1)  # a name without a space must not push the column out of the panel
            pair = QVBoxLayout()
            pair.setContentsMargins(0, GAP_XS, 0, 0)
            pair.setSpacing(0)
            pair.addWidget(name)
            pair.addWidget(_value(standing))
            grid.addLayout(pair, grid.rowCount(), 0, 1, 2)
        self._inside.replaceWidget(self._facts, table)
        self._facts.hide()
        self._facts.deleteLater()
        self._facts = table


def _value(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(figure_font())
    label.setWordWrap(True)
    label.setAlignment(_TOP_LEFT)
    return label


def _cost_of(answer: Message | None) -> object:
    return None if answer is None else (answer.timings, answer.memory)


def _best(label: str | None, probabilities: Mapping[str, float], name: Callable[[str], str]) -> str | None:
    if label is None:
        return None
    return f"{name(label)} {probabilities[label]:.2f}" if label in probabilities else name(label)


def _sentence(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
