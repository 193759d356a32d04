"""The machine in the right column. Follows the samples while it is shown; the curves join after the first paint."""

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from layadesk.domain.errors import ErrorReport
from layadesk.domain.hardware import HardwareSample
from layadesk.ui.bridge import Bridge
from layadesk.ui.monitor import chart_import
from layadesk.ui.monitor.readings import WINDOW_S, readings, series
from layadesk.ui.monitor.resource_card import ResourceCard
from layadesk.ui.texts import words
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_S
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.ui.monitor.minute_chart import MinuteChart
    from layadesk.usecases.watch_machine import WatchResources


class ResourcePanel(QWidget):
    """A card per place of memory: GPUs first, then RAM and swap."""

    def __init__(self, resources: "WatchResources", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._resources = resources
        self._bridge = bridge
        self._samples: deque[HardwareSample] = deque()
        self._cards: dict[str, ResourceCard] = {}
        self._chart_class: type[MinuteChart] | None = None
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._no_gpu = note()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_S)
        self._column.addWidget(self._title)
        self._column.addWidget(self._no_gpu)
        self._retranslate()
        bridge.follow(resources.feed, self._on_sample)

    def load_charts(self) -> None:
        """Import the drawing library in the background; call it when the window is on screen."""
        self._bridge.deliver(chart_import.load(), self._on_charts_ready, on_error=self._on_no_charts)

    def cards(self) -> tuple[ResourceCard, ...]:
        """From top to bottom."""
        return tuple(self._cards.values())

    @property
    def has_charts(self) -> bool:
        """Whether curves are drawn yet."""
        return self._chart_class is not None

    def remark(self) -> str:
        """What is said in the place of the GPUs' cards; empty when there are some."""
        return "" if self._no_gpu.isHidden() else self._no_gpu.text()

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

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Machine"))
        newest = self._samples[-1] if self._samples else None
        if newest is None:
            self._no_gpu.setText(self.tr("Waiting for the first reading…"))
            self._no_gpu.show()
            return
        has_reason = not newest.gpus
        self._no_gpu.setVisible(has_reason)
        if has_reason:
            reason = newest.reasons.get("gpus")
            self._no_gpu.setText(self.tr("VRAM: {what}").format(what=words.not_available(reason or "no_gpu")))

    @Slot(object)
    def _on_sample(self, sample: HardwareSample) -> None:
        self._samples.append(sample)
        while self._samples[0].taken_at < sample.taken_at - WINDOW_S - 5.0:
            self._samples.popleft()
        if self.isVisible():
            self._draw()

    def _draw(self) -> None:
        if not self._samples:
            return
        newest = readings(self._samples[-1])
        keys = [reading.key for reading in newest]
        for key in [key for key in self._cards if key not in keys]:
            self._cards.pop(key).deleteLater()
        for place, reading in enumerate(newest):
            card = self._cards.get(reading.key)
            if card is None:
                card = ResourceCard(reading)
                self._cards[reading.key] = card
                self._column.insertWidget(2 + place, card)
                self._add_chart(card)
            card.show_reading(reading)
            if self._chart_class is not None:
                card.show_series(series(self._samples, reading.key))
        self._cards = {key: self._cards[key] for key in keys}
        self._retranslate()

    def _add_chart(self, card: ResourceCard) -> None:
        if self._chart_class is not None:
            card.add_chart(self._chart_class())

    def _on_charts_ready(self, chart_class: "type[MinuteChart]") -> None:
        self._chart_class = chart_class
        known = {sample.taken_at for sample in self._samples}
        older = [sample for sample in self._resources.history() if sample.taken_at not in known]
        self._samples = deque(sorted([*older, *self._samples], key=lambda sample: sample.taken_at))
        for card in self._cards.values():
            self._add_chart(card)
        self._draw()

    def _on_no_charts(self, report: ErrorReport) -> None:
        """The figures go on without curves; the log has the reason."""
