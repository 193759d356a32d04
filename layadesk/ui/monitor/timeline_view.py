"""Three charts on one axis of seconds ago, with one cursor and what was done behind the curves.

Imports pyqtgraph and numpy: bring it in with `chart_import.load`.
"""

import math
import time
from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.hardware import GpuKind, HardwareSample
from layadesk.ui.monitor.chart_parts import Mark
from layadesk.ui.monitor.columns import N_GPUS, row
from layadesk.ui.monitor.curve_store import CurveStore
from layadesk.ui.monitor.legend import Legend
from layadesk.ui.monitor.rhythm import WORDS_S, is_due
from layadesk.ui.monitor.timeline_chart import TimelineChart
from layadesk.ui.monitor.timeline_picture import View, activity_lanes, memory_lanes, speed_lanes, stretches
from layadesk.ui.texts import words
from layadesk.ui.theme.fonts import small_font, strong_font
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, LANE_HEIGHT, Ink
from layadesk.ui.widgets.figure_text import FigureText
from layadesk.ui.widgets.roles import note
from layadesk.usecases.timeline import Band

WINDOWS_S = (60.0, 300.0, 1800.0)


class TimelineView(QWidget):
    """`bands` gives what was done when; `clock` is the one of the samples.

    Signals:
        message_requested: conversation id and message id of a band that was clicked.
    """

    message_requested = Signal(str, str)

    def __init__(
        self,
        bands: Callable[[], Iterable[Band]],
        *,
        clock: Callable[[], float] = time.monotonic,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._bands = bands
        self._clock = clock
        self._store = CurveStore()
        self._gpu_ids: tuple[str, ...] = ()
        self._newest: HardwareSample | None = None
        self._window_s = WINDOWS_S[0]
        self._cursor: float | None = None
        self._marks: tuple[tuple[float, str], ...] = ()
        self._drawn_at = self._worded_at = -math.inf
        self.memory = TimelineChart()
        self.activity = TimelineChart()
        self.speed = TimelineChart()
        self.charts = (self.memory, self.activity, self.speed)
        self._titles = tuple(QLabel() for _ in self.charts)
        self._legends = tuple(FigureText(small_font(), meaning=Ink.MUTED) for _ in self.charts)
        self._axis_start, self._at, self._axis_end = note(), note(), note()
        self._lay_out()
        for chart in self.charts:
            chart.pointed.connect(self.point_at)
            chart.left.connect(self._on_left)
            chart.pressed.connect(self._on_pressed)
        self._retranslate()

    def add(self, samples: Iterable[HardwareSample]) -> None:
        """Newer samples, oldest first; `draw` shows them. One that is not newer is passed over."""
        for sample in samples:
            if self._newest is not None and sample.taken_at <= self._newest.taken_at:
                continue  # on its way here when the history was asked for
            unknown = [gpu.gpu_id for gpu in sample.gpus if gpu.gpu_id not in self._gpu_ids]
            self._gpu_ids = (*self._gpu_ids, *unknown)[:N_GPUS]
            self._store.append(sample.taken_at, row(sample, self._gpu_ids))
            self._newest = sample

    def clear(self) -> None:
        """Forget all samples."""
        self._store.clear()
        self._newest = None
        self._drawn_at = self._worded_at = -math.inf

    def set_window(self, window_s: float) -> None:
        """How far back the axis goes, seconds."""
        self._window_s = window_s
        self._retranslate()
        self.draw()

    @property
    def window_s(self) -> float:
        """How far back the axis goes."""
        return self._window_s

    def set_marks(self, marks: Iterable[tuple[float, str]]) -> None:
        """Warnings: when (monotonic seconds) and the token of their colour."""
        self._marks = tuple(marks)

    @property
    def n_samples(self) -> int:
        """Samples that can be drawn, gaps included."""
        return len(self._store)

    @Slot(float)
    def point_at(self, ago: float) -> None:
        """Read the values of one moment."""
        self._cursor = ago
        for chart in self.charts:
            chart.set_cursor(ago)
        self._write_legends()

    def show_message(self, message_id: str) -> bool:
        """Point at the first token of an answer, or at what there is of it; False when it is too long ago."""
        bands = [band for band in self._bands() if band.message_id == message_id]
        if not bands or self._newest is None:
            return False
        begin = next((band.since for band in bands if band.phase.value == "decode"), bands[0].since)
        ago = begin - self._newest.taken_at
        fitting = [window for window in WINDOWS_S if -ago <= window]
        if not fitting:
            return False
        if self._window_s not in fitting:
            self.set_window(fitting[0])
        self.point_at(min(ago, 0.0))
        return True

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return list(self.charts)

    def follow(self) -> None:
        """Draw what would look other than before: a minute with each sample; once a second the words, and half an hour,
        which moves by a pixel in six seconds.
        """
        newest = self._newest
        if newest is None:
            return
        if is_due(self._drawn_at, newest.taken_at, min(self._window_s / max(self.memory.width(), 1), WORDS_S)):
            self._draw_curves(newest)
        if is_due(self._worded_at, newest.taken_at, WORDS_S):
            self._write_legends()

    def draw(self) -> None:
        """The newest picture, now."""
        if self._newest is not None:
            self._draw_curves(self._newest)
            self._write_legends()

    def _draw_curves(self, newest: HardwareSample) -> None:
        self._drawn_at = newest.taken_at
        view = View(newest.taken_at, self._window_s, max(self.memory.width(), 1))
        drawn = stretches(self._bands(), view)
        marks = [Mark(at - view.now, token) for at, token in self._marks if at >= view.now - self._window_s]
        lanes = memory_lanes(self._store, view, self._own_memory(newest), has_gpu_in_ram=self._has_gpu_in_ram(newest))
        self.memory.setFixedHeight(len(lanes) * LANE_HEIGHT)
        self.memory.show_picture(self._window_s, lanes, drawn, marks)
        places = range(len(self._gpu_ids))
        self.activity.show_picture(self._window_s, activity_lanes(self._store, view, places), drawn, marks)
        self.speed.show_picture(self._window_s, speed_lanes(self._store, view), drawn, marks)

    def legend_texts(self) -> tuple[str, ...]:
        """What the legends say, without their symbols."""
        return tuple(legend.accessibleName() for legend in self._legends)

    def at_text(self) -> str:
        """What is said of the moment that is pointed at."""
        return self._at.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.LanguageChange, QEvent.Type.PaletteChange} and hasattr(self, "_at"):
            self._retranslate()
            self._write_legends()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_XS)
        for title, legend, chart in zip(self._titles, self._legends, self.charts, strict=True):
            title.setFont(strong_font())
            column.addWidget(title)
            column.addWidget(legend)
            column.addWidget(chart)
            column.addSpacing(GAP_S)
        axis = QHBoxLayout()
        for label in (self._axis_start, self._axis_end):
            label.setWordWrap(False)
        axis.addWidget(self._axis_start)
        axis.addStretch(1)
        axis.addWidget(self._axis_end)
        column.addLayout(axis)
        column.addWidget(self._at)

    def _retranslate(self) -> None:
        for title, chart, text in zip(
            self._titles, self.charts, (self.tr("Memory"), self.tr("Activity"), self.tr("Speed")), strict=True
        ):
            title.setText(text)
            chart.setAccessibleName(text)
        minutes = round(self._window_s / 60)
        self._axis_start.setText(self.tr("%n minute(s) ago", "", minutes))
        self._axis_end.setText(self.tr("now"))

    def _write_legends(self) -> None:
        newest = self._newest
        if newest is None:
            return
        self._worded_at = newest.taken_at
        index = self._store.index_near(newest.taken_at + self._cursor) if self._cursor is not None else None
        at, figures = self._store.row_at(len(self._store) - 1 if index is None else index)
        legend = Legend(figures, self._gpu_ids)
        view = View(newest.taken_at, self._window_s, 1)
        texts = (legend.memory(self._own_memory(newest)), legend.activity(), legend.speed(self._store, view))
        for label, chart, (pieces, plain) in zip(self._legends, self.charts, texts, strict=True):
            label.set_pieces(pieces)
            label.setAccessibleName(plain)
            chart.setAccessibleDescription(plain)
        self._at.setText(self._moment_text(newest, at))

    def _moment_text(self, newest: HardwareSample, at: float) -> str:
        if self._cursor is None:
            return ""
        ago = self.tr("{seconds} s ago").format(seconds=f"{newest.taken_at - at:.1f}")
        band = self._band_at(newest.taken_at + self._cursor)
        return ago if band is None else f"{ago} · {words.phase(band.phase)}"

    def _band_at(self, at: float) -> Band | None:
        """The newest band over one moment."""
        found = [band for band in self._bands() if band.since <= at and (band.until is None or at <= band.until)]
        return found[-1] if found else None

    def _own_memory(self, newest: HardwareSample) -> list[int]:
        """Places of the GPUs that have memory of their own."""
        unified = {gpu.gpu_id for gpu in newest.gpus if gpu.kind is GpuKind.UNIFIED}
        return [place for place, gpu_id in enumerate(self._gpu_ids) if gpu_id not in unified]

    def _has_gpu_in_ram(self, newest: HardwareSample) -> bool:
        return any(gpu.kind is GpuKind.UNIFIED for gpu in newest.gpus)

    @Slot()
    def _on_left(self) -> None:
        self._cursor = None
        for chart in self.charts:
            chart.set_cursor(None)
        self._write_legends()

    @Slot(float)
    def _on_pressed(self, ago: float) -> None:
        band = None if self._newest is None else self._band_at(self._newest.taken_at + ago)
        if band is not None:
            self.message_requested.emit(band.conversation_id, band.message_id)
