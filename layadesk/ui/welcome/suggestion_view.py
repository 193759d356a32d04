"""What is proposed for this machine, in rows: the router, each expert, and what it costs in download and memory."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.memory_fit.machine import GpuMemory, MachineMemory, MemoryKind
from layadesk.domain.proposal import Candidate
from layadesk.ui.texts import library, memory, words
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.texts.numbers import gib_with_unit
from layadesk.ui.theme.fonts import figure_font, strong_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.badge import Badge
from layadesk.ui.widgets.roles import note, set_look, set_role
from layadesk.usecases.look_at_library import Suggested

MOST_TASKS = 3
GOOD_AT = 0.7


class SuggestionView(QFrame):
    """Makes its rows anew with each suggestion and each language."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "card")
        self._suggested: Suggested | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        self._column.setSpacing(GAP_S)

    def show_suggestion(self, suggested: Suggested | None) -> None:
        """Write it out; None clears it."""
        self._suggested = suggested
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self.setVisible(suggested is not None)
        if suggested is None:
            return
        for one in suggested.proposal.experts:
            self._column.addWidget(self._expert_row(one, suggested))
        self._column.addWidget(self._router_row(suggested))

    def text(self) -> str:
        """All that its rows say."""
        labels = self.findChildren(QLabel)
        return "\n".join(label.text() for label in labels if label.text())

    def _expert_row(self, one: Candidate, suggested: Suggested) -> QWidget:
        name = suggested.names.get(one.model_id, one.model_id)
        good = sorted(
            (task for task, share in one.strengths.tasks.items() if share >= GOOD_AT),
            key=lambda task: -one.strengths.tasks[task],
        )
        size = self.tr("already here") if one.download_bytes == 0 else library.size(one.download_bytes)
        line = [", ".join(task_name(task) for task in good[:MOST_TASKS]), one.quantization]
        badge = Badge()
        badge.show_words(library.short_speed(one.speed), Ink.OK)
        return _row(name, size, " · ".join(part for part in line if part), badge)

    def _router_row(self, suggested: Suggested) -> QWidget:
        router = suggested.proposal.router
        if router is None or router.download_bytes == 0:
            line = self.tr("chooses between the experts for each message; it came with the program")
            return _row(self.tr("Router"), self.tr("already here"), line, None)
        name = suggested.names.get(router.router_id, router.router_id)
        return _row(name, library.size(router.download_bytes), self.tr("router"), None)


def _row(name: str, size: str, line: str, badge: Badge | None) -> QWidget:
    title = QLabel(name)
    title.setFont(strong_font())
    title.setTextFormat(Qt.TextFormat.PlainText)
    figure = QLabel(size)
    figure.setFont(figure_font())
    set_look(figure, "ink", "muted")
    head = QHBoxLayout()
    head.setSpacing(GAP_M)
    head.addWidget(title)
    if badge is not None:
        head.addWidget(badge)
    head.addStretch(1)
    head.addWidget(figure)
    row = QWidget()
    set_role(row, "plain")
    row.setAccessibleName(f"{name}, {size}, {line}")
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(GAP_XS // 2)
    column.addLayout(head)
    column.addWidget(note(line))
    return row


def machine_words(machine: MachineMemory) -> str:
    """`RTX 4090 with 24.0 GiB, 64.0 GiB RAM`."""
    ram = words.unknown() if machine.ram_total_bytes is None else gib_with_unit(machine.ram_total_bytes)
    parts = [library.gpu_words(gpu.name, _own(gpu), is_shared=gpu.kind is MemoryKind.UNIFIED) for gpu in machine.gpus]
    if not parts:
        parts = [library.no_gpu_words()]
    return " · ".join([*parts, f"{ram} {memory.device_name('CPU')}"])


def _own(gpu: GpuMemory) -> int | None:
    if gpu.kind is MemoryKind.DISCRETE or gpu.shared_total_bytes is None:
        return gpu.total_bytes
    return (gpu.total_bytes or 0) + gpu.shared_total_bytes
