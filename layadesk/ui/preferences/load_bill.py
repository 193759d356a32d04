"""What loading an expert in one way would take, device by device, while the way is being chosen."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from layadesk.domain.memory_fit.bill import DeviceBill
from layadesk.domain.memory_fit.plans import Outlook
from layadesk.domain.memory_fit.verdict import DeviceJudgement, Verdict
from layadesk.ui.texts import memory
from layadesk.ui.theme.fonts import strong_font
from layadesk.ui.theme.tokens import GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.memory_bill_bar import MemoryBillBar, parts_of
from layadesk.ui.widgets.roles import note, set_look

_INKS = {
    Verdict.FITS: Ink.OK,
    Verdict.TIGHT: Ink.WARN,
    Verdict.NEEDS_OFFLOAD: Ink.WARN,
    Verdict.REFUSE: Ink.DANGER,
    Verdict.UNKNOWN: Ink.MUTED,
}


class LoadBill(QWidget):
    """The verdict in words, then for each device three numbers and a bar with the parts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.verdict = note()
        self.verdict.setFont(strong_font())
        self.verdict.setObjectName("load-verdict")
        self._devices = QVBoxLayout()
        self._devices.setSpacing(GAP_S)
        self.basis = note()
        self._lines: list[str] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addWidget(self.verdict)
        layout.addLayout(self._devices)
        layout.addWidget(self.basis)
        layout.addStretch(1)

    def show_waiting(self) -> None:
        """A new one is being asked for; the old one stays, in grey."""
        set_look(self.verdict, "ink", Ink.MUTED.value)

    def show_words(self, text: str) -> None:
        """There is no bill, and why."""
        self._clear()
        self.verdict.setText(text)
        set_look(self.verdict, "ink", Ink.DANGER.value)
        self.basis.setText("")

    def show_outlook(self, found: Outlook) -> None:
        """What the planner says."""
        self._clear()
        asked = found.asked
        words = (memory.verdict(found.verdict), memory.price(asked.bill), memory.speed(asked.speed))
        self.verdict.setText(" · ".join(words))
        set_look(self.verdict, "ink", _INKS[found.verdict].value)
        for judged in asked.judgement.devices:
            bill = asked.bill.on(judged.device)
            if bill.total_bytes:
                self._add_device(judged, bill)
        self.basis.setText(memory.basis(asked.bill.basis))

    def text(self) -> str:
        """All that it says."""
        return "\n".join([self.verdict.text(), *self._lines])

    def _add_device(self, judged: DeviceJudgement, bill: DeviceBill) -> None:
        bar = MemoryBillBar()
        bar.set_parts(parts_of(bill), scale_bytes=max(judged.available_bytes or 0, judged.needed_bytes))
        words = memory.three_numbers(judged)
        line = note(f"{words}; {memory.largest(judged)}")
        self._lines.append(line.text())
        bar.setAccessibleName(words)
        self._devices.addWidget(line)
        self._devices.addWidget(bar)
        self._devices.addSpacing(GAP_XS)

    def _clear(self) -> None:
        self._lines.clear()
        while self._devices.count():
            item = self._devices.takeAt(0)
            widget = None if item is None else item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
