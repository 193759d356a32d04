"""The machine in the right column. Follows the samples while it is shown; the charts join after the first paint."""

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.machine_alerts import Severity
from layadesk.ui.bridge import Bridge
from layadesk.ui.monitor import chart_import
from layadesk.ui.monitor.readings import Reading, readings
from layadesk.ui.monitor.resource_card import ResourceCard
from layadesk.ui.monitor.rhythm import WORDS_S, is_due
from layadesk.ui.texts import words
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_S
from layadesk.ui.widgets.icon_button import IconButton
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.domain.chat import Message
    from layadesk.ui.monitor.timeline_view import TimelineView
    from layadesk.usecases.watch_machine import WatchResources

RANGES_MIN = (1, 5, 30)
_MARKS = {Severity.WARN: "warn", Severity.CRITICAL: "danger"}


class ResourcePanel(QWidget):
    """A card per place of memory: GPUs first, then RAM and swap; below, the charts.

    Signals:
        message_requested: conversation id and message id that somebody asked for by clicking into a chart.
    """

    message_requested = Signal(str, str)

    def __init__(self, resources: "WatchResources", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._resources = resources
        self._bridge = bridge
        self._newest: HardwareSample | None = None
        self._past: tuple[HardwareSample, ...] = ()
        self._cards: dict[str, ResourceCard] = {}
        self._worded_at = -math.inf
        self._timeline: TimelineView | None = None
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._ranges = tuple(self._range_button(minutes) for minutes in RANGES_MIN)
        self.locate = IconButton("route")
        self.locate.setObjectName("locate-answer")
        self.locate.clicked.connect(self.point_at_answer)
        self._answer_id = ""
        self._no_gpu = note()
        self._not_drawn = note()
        self._not_drawn.hide()
        self._slowed = note()
        self._slowed.hide()
        self._column = QVBoxLayout(self)
        self._lay_out()
        self._retranslate()
        bridge.follow(resources.feed, self._on_sample)

    def load_charts(self) -> None:
        """Import the drawing library in the background; call it when the window is on screen."""
        self._bridge.deliver(self._resources.past(), self._on_past, on_error=self._on_no_past)
        self._bridge.deliver(chart_import.load(), self._on_charts_ready, on_error=self._on_no_charts)

    def cards(self) -> tuple[ResourceCard, ...]:
        """From top to bottom."""
        return tuple(self._cards.values())

    @property
    def timeline(self) -> "TimelineView | None":
        """The charts, once they are there."""
        return self._timeline

    def remark(self) -> str:
        """What is said in the place of the GPUs' cards; empty when there are some."""
        return "" if self._no_gpu.isHidden() else self._no_gpu.text()

    def footer(self) -> str:
        """What is said of the sampling itself; empty as a rule."""
        return "" if self._slowed.isHidden() else self._slowed.text()

    def not_drawn(self) -> str:
        """What is said of an answer that is not on the charts; empty as a rule."""
        return "" if self._not_drawn.isHidden() else self._not_drawn.text()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.locate, *self._ranges, *([] if self._timeline is None else self._timeline.focus_chain())]

    @Slot(object)
    def follow_answer(self, answer: "Message | None") -> None:
        """The answer that `point_at_answer` leads to."""
        self._answer_id = "" if answer is None else answer.message_id
        self.locate.setEnabled(bool(self._answer_id))
        self._not_drawn.hide()

    @Slot()
    def point_at_answer(self) -> None:
        """From the newest answer to its place on the charts; without one, nothing."""
        if self._answer_id:
            self.point_at(self._answer_id)

    def point_at(self, message_id: str) -> None:
        """From an answer to its place on the charts; one that is not on them is said not to be."""
        timeline = self._timeline
        is_drawn = timeline is not None and timeline.show_message(message_id)
        self._not_drawn.setVisible(not is_drawn)
        if timeline is not None and is_drawn:
            self.show_range(round(timeline.window_s / 60))
            timeline.charts[0].setFocus()

    def show_range(self, minutes: int) -> None:
        """How far back the charts go: one of RANGES_MIN."""
        for button, of_button in zip(self._ranges, RANGES_MIN, strict=True):
            button.setChecked(of_button == minutes)
        if self._timeline is not None:
            self._timeline.set_window(60.0 * minutes)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._resources.set_visible(True)
        self._draw()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._resources.set_visible(False)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _range_button(self, minutes: int) -> QToolButton:
        button = QToolButton()
        button.setObjectName(f"range-{minutes}")
        set_role(button, "range")
        button.setCheckable(True)
        button.setChecked(minutes == RANGES_MIN[0])
        button.clicked.connect(lambda: self.show_range(minutes))
        return button

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(0)
        top.addWidget(self._title)
        top.addStretch(1)
        top.addWidget(self.locate)
        for button in self._ranges:
            top.addWidget(button)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_S)
        self._column.addLayout(top)
        self._column.addWidget(self._not_drawn)
        self._column.addWidget(self._no_gpu)
        self._column.addWidget(self._slowed)

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Machine"))
        self.locate.set_name(self.tr("Point at the last answer"), "Ctrl+T")
        self._not_drawn.setText(
            self.tr("That answer is not on the charts: they show the last half hour, as far as LayaDesk was running.")
        )
        for button, minutes in zip(self._ranges, RANGES_MIN, strict=True):
            button.setText(str(minutes))
            what = self.tr("Show the last %n minute(s)", "", minutes)
            button.setToolTip(what)
            button.setAccessibleName(what)
        self._say_what_is_missing()

    def _say_what_is_missing(self) -> None:
        newest = self._newest
        if newest is None:
            self._no_gpu.setText(self.tr("Waiting for the first reading…"))
            self._no_gpu.show()
            return
        self._no_gpu.setVisible(not newest.gpus)
        if not newest.gpus:
            reason = newest.reasons.get("gpus")
            self._no_gpu.setText(self.tr("VRAM: {what}").format(what=words.not_available(reason or "no_gpu")))
        self._slowed.setVisible(newest.slowed_by_ms is not None)
        if newest.slowed_by_ms is not None:
            took = f"{newest.slowed_by_ms:.0f}"
            self._slowed.setText(self.tr("Sampling is slowed down: one reading took {took} ms.").format(took=took))

    @Slot(object)
    def _on_sample(self, sample: HardwareSample) -> None:
        self._newest = sample
        if self._timeline is not None:
            self._timeline.add((sample,))
        if not self.isVisible() or self.window().isMinimized():
            return
        newest = readings(sample)
        if is_due(self._worded_at, sample.taken_at, WORDS_S) or {one.key for one in newest} != set(self._cards):
            self._show_cards(sample, newest)
        if self._timeline is not None:
            self._show_marks(self._timeline)
            self._timeline.follow()

    def _draw(self) -> None:
        """All of it, now."""
        if self._newest is not None:
            self._show_cards(self._newest, readings(self._newest))
        if self._timeline is not None:
            self._show_marks(self._timeline)
            self._timeline.draw()

    def _show_cards(self, sample: HardwareSample, newest: tuple[Reading, ...]) -> None:
        self._worded_at = sample.taken_at
        keys = [reading.key for reading in newest]
        for key in [key for key in self._cards if key not in keys]:
            self._cards.pop(key).deleteLater()
        for place, reading in enumerate(newest):
            card = self._cards.get(reading.key)
            if card is None:
                card = ResourceCard(reading)
                self._cards[reading.key] = card
                self._column.insertWidget(self._column.indexOf(self._no_gpu) + 1 + place, card)
            card.show_reading(reading)
        self._cards = {key: self._cards[key] for key in keys}
        self._say_what_is_missing()

    def _show_marks(self, timeline: "TimelineView") -> None:
        timeline.set_marks((one.since, _MARKS[one.severity]) for one in self._resources.episodes())

    def _on_charts_ready(self, timeline_class: "type[TimelineView]") -> None:
        timeline = timeline_class(self._resources.bands)
        timeline.message_requested.connect(self.message_requested)
        timeline.add((*self._past, *self._resources.history()))
        self._timeline = timeline
        self._column.insertWidget(self._column.indexOf(self._slowed), timeline)
        self._draw()

    def _on_past(self, samples: tuple[HardwareSample, ...]) -> None:
        self._past = samples
        if self._timeline is not None and samples:
            self._timeline.clear()
            self._timeline.add((*samples, *self._resources.history()))
            self._draw()

    def _on_no_past(self, report: ErrorReport) -> None:
        """The curves begin with this run; the store's own banner tells of a disk that refuses."""

    def _on_no_charts(self, report: ErrorReport) -> None:
        """The figures go on without curves; the log has the reason."""
