"""What each expert in memory takes: predicted, reported by llama.cpp and measured, side by side for each device."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.hardware import HardwareSample
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.load_record import LoadRecord
from layadesk.protocol.events import EngineStats, ExpertUse, ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.ui.bridge import Bridge
from layadesk.ui.monitor.readings import Place, Reading, readings
from layadesk.ui.texts import memory, words
from layadesk.ui.texts.numbers import size, tokens
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.palette import current_colours
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.figure_text import unbroken
from layadesk.ui.widgets.memory_bill_bar import LOOKS, MEASURED, OTHERS, MemoryBillBar, Part, parts_of
from layadesk.ui.widgets.roles import note, set_role

if TYPE_CHECKING:
    from layadesk.usecases.load_ledger import LoadLedger
    from layadesk.usecases.watch_machine import WatchResources, WatchWorkers


class MemoryBills(QWidget):
    """A card per expert in memory; hidden while there is none."""

    def __init__(
        self,
        ledger: "LoadLedger",
        resources: "WatchResources",
        workers: "WatchWorkers",
        *,
        name_of: Callable[[str], str],
        bridge: Bridge,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        set_role(self, "plain")
        self._ledger = ledger
        self._name_of = name_of
        self._cards: dict[str, MemoryBillCard] = {}
        self._sample: HardwareSample | None = None
        self._title = QLabel()
        self._title.setFont(strong_font())
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_S)
        self._column.addWidget(self._title)
        self._retranslate()
        self.refresh()
        bridge.follow(ledger.feed, self._on_record)
        bridge.follow(workers.models, self._on_model)
        bridge.follow(workers.stats, self._on_stats)
        bridge.follow(resources.feed, self._on_sample)

    def cards(self) -> tuple["MemoryBillCard", ...]:
        """From top to bottom."""
        return tuple(self._cards.values())

    @Slot()
    def refresh(self) -> None:
        """A card for each expert that is in memory now."""
        records = {name: one for name, one in self._ledger.in_memory().items() if one.measure.devices or one.predicted}
        for name in [name for name in self._cards if name not in records]:
            self._cards.pop(name).deleteLater()
        for name, record in records.items():
            if name not in self._cards:
                self._cards[name] = MemoryBillCard()
                self._column.addWidget(self._cards[name])
            self._cards[name].show_record(record, name=self._name_of(name), sample=self._sample)
        self.setVisible(bool(self._cards))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for card in self._cards.values():
            card.show_sample(self._sample)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _retranslate(self) -> None:
        self._title.setText(self.tr("Memory bills"))

    @Slot(object)
    def _on_record(self, _: LoadRecord) -> None:
        self.refresh()

    @Slot(object)
    def _on_model(self, event: ModelLoading | ModelLoaded | ModelUnloaded) -> None:
        if not isinstance(event, ModelLoading):
            self.refresh()

    @Slot(object)
    def _on_stats(self, stats: EngineStats) -> None:
        for use in stats.experts:
            if use.model_id in self._cards:
                self._cards[use.model_id].show_use(use)

    @Slot(object)
    def _on_sample(self, sample: HardwareSample) -> None:
        self._sample = sample
        if self.isVisible() and not self.window().isMinimized():
            for card in self._cards.values():
                card.show_sample(sample)


class MemoryBillCard(QFrame):
    """One expert: for each device three bars on the device's own scale, a legend, and what is to be known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self._record: LoadRecord | None = None
        self._sample: HardwareSample | None = None
        self._use: ExpertUse | None = None
        self._bars: dict[tuple[str, str], MemoryBillBar] = {}
        self._title = ElidedLabel()
        self._title.setFont(strong_font())
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(GAP_S)
        self._grid.setVerticalSpacing(GAP_XS)
        self._grid.setColumnStretch(1, 1)
        self._legend, self._kv, self._learned = note(), note(), note()
        self._miss = note(ink=Ink.WARN)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        layout.setSpacing(GAP_XS)
        layout.addWidget(self._title)
        layout.addLayout(self._grid)
        for label in (self._legend, self._kv, self._learned, self._miss):
            layout.addWidget(label)

    def show_record(self, record: LoadRecord, *, name: str, sample: HardwareSample | None) -> None:
        """The bill of one load; the expert's name on screen."""
        self._title.set_text(name)
        self._record, self._sample = record, sample
        self._render()

    def show_sample(self, sample: HardwareSample | None) -> None:
        """What others hold, and how large the device is."""
        self._sample = sample
        self._set_bars()

    def show_use(self, use: ExpertUse) -> None:
        """How much of the KV cache is in use."""
        self._use = use
        self._say_kv()

    def bar(self, device: str, which: str) -> MemoryBillBar:
        """`predicted`, `reported` or `measured`."""
        return self._bars[device, which]

    def text(self) -> str:
        """All that it says."""
        labels = [one for one in self.findChildren(QLabel) if not one.isHidden()]
        return "\n".join(label.text() for label in labels)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.LanguageChange, QEvent.Type.PaletteChange}:
            self._render()
        super().changeEvent(event)

    def _render(self) -> None:
        record = self._record
        if record is None:
            return
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self._bars.clear()
        for device in _devices(record):
            self._add_device(record, device)
        self._legend.setText(self._legend_html(record))
        learned = memory.learned(record.predicted)
        self._learned.setVisible(bool(learned))
        self._learned.setText(learned)
        self._miss.setVisible(record.miss is not None)
        self._miss.setText("" if record.miss is None else memory.offload_miss(record))
        self._say_kv()
        self._set_bars()
        self.setAccessibleName(self._title.text())
        self.setAccessibleDescription(self.text())

    def _add_device(self, record: LoadRecord, device: str) -> None:
        row = self._grid.rowCount()
        self._grid.addWidget(note(memory.device_name(device)), row, 0, 1, 3)
        predicted = None if record.predicted is None else record.predicted.on(device).total_bytes
        reported = record.reported_on(device)
        figures = (
            ("predicted", self.tr("predicted"), predicted),
            ("reported", "llama.cpp", None if reported is None else reported.total_bytes),
            ("measured", self.tr("measured"), record.measured_on(device)),
        )
        for index, (which, label, n_bytes) in enumerate(figures, row + 1):
            figure = words.unknown() if n_bytes is None else size(n_bytes)
            bar = MemoryBillBar()
            bar.setAccessibleName(f"{memory.device_name(device)}, {label}: {figure}")
            self._bars[device, which] = bar
            for column, widget in enumerate((_line(label), bar, _line(figure))):
                self._grid.addWidget(widget, index, column)

    def _set_bars(self) -> None:
        record = self._record
        if record is None:
            return
        for (device, which), bar in self._bars.items():
            parts = _parts(record, device, which)
            place = _place(self._sample, device)
            others = 0 if place is None or not parts else place.others_bytes or 0
            total = None if place is None else place.total_bytes
            whole = tuple(parts) + (((OTHERS, others),) if others else ())
            bar.set_parts(whole, scale_bytes=total or sum(n for _, n in whole))

    def _say_kv(self) -> None:
        use = self._use
        self._kv.setVisible(use is not None and use.kv_size > 0)
        if use is not None:
            self._kv.setText(
                self.tr("KV cache: {used} of {all} tokens in use, {kept} kept for a next turn").format(
                    used=tokens(use.kv_used), all=tokens(use.kv_size), kept=tokens(use.kv_kept)
                )
            )

    def _legend_html(self, record: LoadRecord) -> str:
        colours = current_colours()
        entries = [
            (look, memory.bill_item(item))
            for item, look in LOOKS.items()
            if record.predicted is None or any(dict(one.items)[item] for one in record.predicted.devices)
        ]
        entries += [(MEASURED, self.tr("measured")), (OTHERS, self.tr("others"))]
        signs = [
            f'<span style="color:{getattr(colours, look.token)}">{look.sign}</span>&nbsp;' + unbroken(text)
            for look, text in entries
        ]
        return " &nbsp;".join([*signs, f"□&nbsp;{unbroken(self.tr('free'))}"])


def _line(text: str) -> QLabel:
    label = note(text)
    label.setWordWrap(False)
    return label


def _devices(record: LoadRecord) -> tuple[str, ...]:
    """GPUs first; those of the prediction that got nothing too."""
    predicted = () if record.predicted is None else tuple(one.device for one in record.predicted.devices)
    names = dict.fromkeys((*predicted, *(one.device for one in record.measure.devices)))
    return tuple(sorted(names, key=lambda name: name == CPU))


def _parts(record: LoadRecord, device: str, which: str) -> tuple[Part, ...]:
    if which == "measured":
        measured = record.measured_on(device)
        return () if measured is None else ((MEASURED, measured),)
    if which == "reported":
        reported = record.reported_on(device)
        return () if reported is None else parts_of(reported)
    return () if record.predicted is None else parts_of(record.predicted.on(device))


def _place(sample: HardwareSample | None, device: str) -> Reading | None:
    """The memory that a device of llama.cpp is; only a single GPU is told by its name."""
    if sample is None:
        return None
    if device == CPU:
        return next(one for one in readings(sample) if one.place is Place.RAM)
    gpus = [one for one in readings(sample) if one.gpu is not None]
    return gpus[0] if len(gpus) == 1 else None
