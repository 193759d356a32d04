"""The Routes page: who answers what, how sure the router is, how long it takes, and what to do about it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QLabel, QStackedWidget, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.route_counts import RouteCounts, Spread
from layadesk.ui.bridge import Bridge
from layadesk.ui.route.share_bars import DayBars, ShareBars
from layadesk.ui.texts import words
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.texts.numbers import milliseconds
from layadesk.ui.texts.words import together
from layadesk.ui.theme.fonts import figure_font
from layadesk.ui.theme.tokens import GAP_L, Ink
from layadesk.ui.widgets.card import card, heading
from layadesk.ui.widgets.empty_state import EmptyState
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import note, set_look

if TYPE_CHECKING:
    from layadesk.usecases.count_routes import CountRoutes

PERIODS: tuple[int | None, ...] = (7, 30, None)


class RoutesPage(QWidget):
    """Asks when it is shown.

    Signals:
        chat_requested: there is nothing yet; the user wants to ask something.
    """

    chat_requested = Signal()

    def __init__(
        self, routes: "CountRoutes", *, name_of: Callable[[str], str], bridge: Bridge, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._routes = routes
        self._name_of = name_of
        self._bridge = bridge
        self._found = RouteCounts(0)
        self._failure: ErrorReport | None = None
        self.header = PageHeader()
        self.period = QComboBox()
        self.period.setObjectName("period")
        for days in PERIODS:
            self.period.addItem("", days)
        self.period.setCurrentIndex(1)
        self.period.currentIndexChanged.connect(self.refresh)
        self.header.add_button(self.period)
        self.empty = EmptyState()
        self.empty.accepted.connect(self._on_accepted)
        self.sentence = QLabel()
        self.sentence.setObjectName("routes-sentence")
        self.sentence.setWordWrap(True)
        self._titles = {key: heading() for key in ("experts", "tasks", "days", "figures")}
        self.experts, self.tasks, self.days = ShareBars(), ShareBars(), DayBars()
        self._no_tasks = note()
        self._figures = QGridLayout()
        self._cells: list[tuple[QLabel, QLabel]] = []
        self._stack = QStackedWidget()
        self._area = ReadingArea()
        self._lay_out()
        self._retranslate()

    @Slot()
    def refresh(self) -> None:
        """Read the kept routes again."""
        self._bridge.deliver(self._routes(self.period.currentData()), self._on_found, on_error=self._on_failed)

    def figures(self) -> dict[str, str]:
        """The figures by their names, as they stand on screen."""
        return {name.text(): value.text() for name, value in self._cells}

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.period, self.empty.button]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        column = self._area.column
        column.addWidget(self.sentence)
        for key, inside in (
            ("experts", (self.experts,)),
            ("tasks", (self.tasks, self._no_tasks)),
            ("days", (self.days,)),
        ):
            column.addWidget(card(self._titles[key], *inside))
        figures = QWidget()
        self._figures = QGridLayout(figures)
        self._figures.setContentsMargins(0, 0, 0, 0)
        self._figures.setHorizontalSpacing(GAP_L)
        self._figures.setColumnStretch(1, 1)
        for row in range(5):
            cell = (note(), QLabel())
            cell[1].setFont(figure_font())
            self._cells.append(cell)
            self._figures.addWidget(cell[0], row, 0)
            self._figures.addWidget(cell[1], row, 1)
        column.addWidget(card(self._titles["figures"], figures))
        column.addStretch(1)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._area)
        self.header.stand_on(self, self._stack)

    def _on_found(self, found: RouteCounts) -> None:
        self._found, self._failure = found, None
        self._retranslate()

    def _on_failed(self, report: ErrorReport) -> None:
        self._failure = report
        self._retranslate()

    @Slot()
    def _on_accepted(self) -> None:
        if self._failure is None:
            self.chat_requested.emit()
        else:
            self.refresh()

    def _retranslate(self) -> None:
        self.header.title.set_text(self.tr("Routes"))
        self.period.setAccessibleName(self.tr("Period"))
        for index, text in enumerate((self.tr("Last 7 days"), self.tr("Last 30 days"), self.tr("All"))):
            self.period.setItemText(index, text)
        self._titles["experts"].setText(self.tr("Who answered"))
        self._titles["tasks"].setText(self.tr("What was asked"))
        self._titles["days"].setText(self.tr("Answers a day; the strong colour is the most used expert"))
        self._titles["figures"].setText(self.tr("Figures"))
        self.experts.setAccessibleName(self._titles["experts"].text())
        self.tasks.setAccessibleName(self._titles["tasks"].text())
        self.days.setAccessibleName(self._titles["days"].text())
        self._render()

    def _render(self) -> None:
        found = self._found
        self._stack.setCurrentWidget(self._area if found.n_routes and self._failure is None else self.empty)
        if self._failure is not None:
            self.empty.set_texts(explain(self._failure).what, self.tr("Try again"))
            return
        self.empty.set_texts(
            self.tr("Who answered what, and why, is counted here after the first answer."), self.tr("Ask something")
        )
        self.sentence.setText(self._sentence())
        set_look(self.sentence, "ink", (Ink.WARN if found.one_sided is not None else Ink.TEXT).value)
        self.experts.show_rows([(self._name_of(expert), n) for expert, n in found.experts])
        self.tasks.show_rows([(task_name(task), n) for task, n in found.tasks])
        self.tasks.setVisible(bool(found.tasks))
        self._no_tasks.setVisible(not found.tasks)
        self._no_tasks.setText(self.tr("The router had no opinion on any of them."))
        first = found.experts[0][0] if found.experts else ""
        self.days.show_days(found.days, first, (self.tr("two weeks ago"), self.tr("today")))
        for cell, (name, value) in zip(self._cells, self._figure_words(found), strict=True):
            cell[0].setText(name)
            cell[1].setText(value)

    def _sentence(self) -> str:
        found = self._found
        one_sided = found.one_sided
        if one_sided is None:
            return self.tr("%n answer(s), {chosen} of them chosen by the router.", "", found.n_routes).format(
                chosen=found.n_chosen
            )
        expert, share = one_sided
        text = self.tr("{share} % of your requests went to {name}.").format(
            share=round(100 * share), name=self._name_of(expert)
        )
        if found.n_chosen < found.n_routes / 2:
            advice = self.tr("Most of them were pinned, or there was no other: choose Auto, or add a second expert.")
        else:
            advice = self.tr(
                "If smaller experts would do, lower the confidence to act on, or write a rule, both in Settings."
            )
        return together(text, advice)

    def _figure_words(self, found: RouteCounts) -> list[tuple[str, str]]:
        sure = found.confidence
        confidence = words.unknown() if sure.p50 is None else f"{sure.p50:.2f}"
        return [
            (self.tr("Confidence, median"), confidence),
            (self.tr("Time to decide, p50 / p95"), _spread(found.route_ms)),
            (self.tr("First token, p50 / p95"), _spread(found.ttft_ms)),
            (self.tr("Routes you called right"), f"{found.n_good:,}"),
            (self.tr("Routes you corrected"), f"{found.n_wrong:,}"),
        ]


def _spread(spread: Spread) -> str:
    if spread.p50 is None or spread.p95 is None:
        return words.unknown()
    return f"{milliseconds(spread.p50)} / {milliseconds(spread.p95)}"
