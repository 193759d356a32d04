"""The Inside page: where the last answer's time went, and for models with MoE experts, which of them worked."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QPushButton, QStackedWidget, QWidget

from layadesk.domain.chat import Message
from layadesk.ui.bridge import Bridge
from layadesk.ui.inside.moe_view import MoeView
from layadesk.ui.inside.place_card import PlaceCard
from layadesk.ui.inside.time_card import TimeCard
from layadesk.ui.widgets.empty_state import EmptyState
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.explain_time import ExplainTime
    from layadesk.usecases.look_inside import LookInside


class InsidePage(QWidget):
    """Of models without MoE experts nothing is shown but the time.

    Signals:
        chat_requested: there is nothing yet; the user wants to ask something.
        failed: an ErrorReport of an export that did not work.
    """

    chat_requested = Signal()
    failed = Signal(object)

    def __init__(
        self,
        inside: "LookInside",
        time: "ExplainTime",
        *,
        bridge: Bridge,
        screen_ms: Callable[[str], float | None] = lambda _: None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._inside = inside
        self._bridge = bridge
        self.dialog: QFileDialog | None = None
        self.header = PageHeader()
        self.watch = QPushButton()
        self.watch.setObjectName("watch-moe")
        self.watch.setCheckable(True)
        self.watch.setChecked(inside.is_on)
        self.watch.toggled.connect(self._on_toggled)
        self.to_csv, self.to_png = QPushButton(), QPushButton()
        self.to_csv.setObjectName("inside-csv")
        self.to_png.setObjectName("inside-png")
        self.to_csv.clicked.connect(self._on_csv)
        self.to_png.clicked.connect(self._on_png)
        for button in (self.watch, self.to_csv, self.to_png):
            self.header.add_button(button)
        self.time = TimeCard(time, bridge=bridge, screen_ms=screen_ms)
        self.moe = MoeView(inside, bridge=bridge)
        self.hint = note()
        self.place = PlaceCard(time.placing, inside, bridge=bridge)
        self.empty = EmptyState()
        self.empty.accepted.connect(self.chat_requested)
        self._area = ReadingArea()
        self._stack = QStackedWidget()
        for widget in (self.hint, self.time, self.place, self.moe):
            self._area.column.addWidget(widget)
        self._area.column.addStretch(1)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self._area)
        self.header.stand_on(self, self._stack)
        bridge.follow(inside.changed, self._on_changed)
        self._retranslate()

    @Slot(object)
    def show_answer(self, answer: Message | None) -> None:
        """The newest answer of the conversation that is shown in the chat, or None."""
        self.time.show_answer(answer)
        self._render()
        self.time.refresh()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [
            self.watch,
            self.to_csv,
            self.to_png,
            self.empty.button,
            self.time.measure,
            self.place.load,
            *self.moe.focus_chain(),
        ]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._render()
        self.time.refresh()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    @Slot(str)
    def export_csv(self, path: str) -> None:
        """Write what is counted to a file."""
        if self.moe.record is not None:
            future = self._inside.export_csv(Path(path), self.moe.record)
            self._bridge.deliver(future, lambda _: None, on_error=self.failed.emit)

    @Slot(str)
    def export_png(self, path: str) -> None:
        """Write the field as it looks to a picture."""
        self.moe.map.grab().save(path, "PNG")

    def _on_changed(self, _: str) -> None:
        if self.isVisible():
            self._render()

    @Slot(bool)
    def _on_toggled(self, is_on: bool) -> None:  # Qt's signal
        self._inside.switch(is_on=is_on)
        self._retranslate()

    @Slot()
    def _on_csv(self) -> None:
        self._ask_where("csv", self.export_csv)

    @Slot()
    def _on_png(self) -> None:
        self._ask_where("png", self.export_png)

    def _ask_where(self, suffix: str, write: Callable[[str], None]) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
        dialog = self.dialog = QFileDialog(self.window(), self.tr("Export"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.setDefaultSuffix(suffix)
        dialog.setNameFilters([f"*.{suffix}"])
        dialog.selectFile(f"moe-experts.{suffix}")
        dialog.fileSelected.connect(write)
        dialog.open()

    def _retranslate(self) -> None:
        self.header.title.set_text(self.tr("Inside"))
        self.watch.setText(self.tr("Stop watching") if self.watch.isChecked() else self.tr("Watch MoE experts"))
        self.watch.setToolTip(self.tr("Answers come somewhat more slowly while this is on."))
        self.to_csv.setText(self.tr("Table…"))
        self.to_csv.setAccessibleName(self.tr("Export the counts as CSV"))
        self.to_png.setText(self.tr("Picture…"))
        self.to_png.setAccessibleName(self.tr("Export the field as a picture"))
        self.time.retranslate()
        self.place.retranslate()
        self._render()

    def _render(self) -> None:
        has_moe = bool(self._inside.shapes())
        self.moe.refresh()
        has_record = self.moe.record is not None and (has_moe or self._inside.is_on)
        self.watch.setVisible(has_moe or self._inside.is_on)
        self.to_csv.setVisible(has_record)
        self.to_png.setVisible(has_record)
        self.moe.setVisible(has_record)
        self.place.refresh(self.isVisible() and has_record)
        self.hint.setVisible(has_moe and not has_record)
        self.hint.setText(
            self.tr("This model has MoE experts. The next answer will show them at work.")
            if self._inside.is_on
            else self.tr("This model has MoE experts: switch watching on, and the next answer shows them at work.")
        )
        self.time.setVisible(self.time.has_answer)
        is_empty = not (self.time.has_answer or has_moe or has_record)
        self._stack.setCurrentWidget(self.empty if is_empty else self._area)
        self.empty.set_texts(
            self.tr("Where an answer's time went, and what goes on inside the model, is shown here after an answer."),
            self.tr("Ask something"),
        )
