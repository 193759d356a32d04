"""Search and filters above the catalogue, and the context for which fits are judged."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from layadesk.domain.routing_labels import TASKS
from layadesk.ui.library.filters import SIZES, Filters
from layadesk.ui.texts import library
from layadesk.ui.texts.label_names import task_name
from layadesk.ui.texts.numbers import gib
from layadesk.ui.theme.tokens import BOX_FRAME, GAP_S
from layadesk.ui.widgets.calm_wheel import leave_wheel_to_page
from layadesk.ui.widgets.flow_layout import FlowLayout
from layadesk.ui.widgets.roles import set_role

CONTEXTS = (2048, 4096, 8192, 16384, 32768, 65536, 131072)


class FilterBar(QWidget):
    """Signals:
    changed: other filters hold now.
    context_chosen: tokens for each conversation.
    """

    changed = Signal()
    context_chosen = Signal(int)

    def __init__(self, n_ctx: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._codes: tuple[str, ...] = ()
        self.search = QLineEdit()
        self.search.setObjectName("search-models")
        self.search.setClearButtonEnabled(True)
        set_role(self.search, "search")
        self.context = QComboBox()
        self.context.setObjectName("context")
        for n in sorted({*CONTEXTS, n_ctx}):
            self.context.addItem(_thousands(n), n)
        self.context.setCurrentIndex(self.context.findData(n_ctx))
        self._context_label = QLabel()
        self._context_label.setBuddy(self.context)
        self.language, self.task, self.largest = QComboBox(), QComboBox(), QComboBox()
        for box, name in ((self.language, "language"), (self.task, "task"), (self.largest, "size")):
            box.setObjectName(f"filter-{name}")
        for box in (self.context, self.language, self.task, self.largest):
            leave_wheel_to_page(box)
        self.fits, self.installed = QCheckBox(), QCheckBox()
        self.fits.setObjectName("filter-fits")
        self.installed.setObjectName("filter-installed")
        self._fill()
        self._lay_out()
        self._retranslate()
        self._connect()

    @property
    def filters(self) -> Filters:
        """What is chosen."""
        return Filters(
            self.search.text(),
            str(self.language.currentData() or ""),
            str(self.task.currentData() or ""),
            int(self.largest.currentData() or 0),
            self.fits.isChecked(),
            self.installed.isChecked(),
        )

    @Slot()
    def clear(self) -> None:
        """Show everything again."""
        for box in (self.language, self.task, self.largest):
            box.setCurrentIndex(0)
        self.fits.setChecked(False)
        self.installed.setChecked(False)
        self.search.clear()

    def offer_languages(self, codes: Iterable[str]) -> None:
        """Those of the catalogue, in its order."""
        new = tuple(dict.fromkeys(codes))
        if new != self._codes:
            self._codes = new
            chosen = self.language.currentData()
            self.language.blockSignals(True)
            self._fill()
            self.language.setCurrentIndex(max(self.language.findData(chosen), 0))
            self.language.blockSignals(False)
            self._retranslate()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.search, self.context, self.language, self.task, self.largest, self.fits, self.installed]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _fill(self) -> None:
        self.language.clear()
        for code in ("", *self._codes):
            self.language.addItem("", code)
        if not self.task.count():
            for task in ("", *TASKS):
                self.task.addItem("", task)
            for n_bytes in (0, *SIZES):
                self.largest.addItem("", n_bytes)

    def _lay_out(self) -> None:
        first = QHBoxLayout()
        first.setSpacing(GAP_S)
        first.addWidget(self.search, 1)
        first.addWidget(self._context_label)
        first.addWidget(self.context)
        second = FlowLayout()
        for widget in (self.language, self.task, self.largest, self.fits, self.installed):
            second.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP_S)
        layout.addLayout(first)
        layout.addLayout(second)

    def _connect(self) -> None:
        self.search.textChanged.connect(self.changed)
        for box in (self.language, self.task, self.largest):
            box.currentIndexChanged.connect(self.changed)
        self.fits.toggled.connect(self.changed)
        self.installed.toggled.connect(self.changed)
        self.context.activated.connect(self._on_context)

    @Slot()
    def _on_context(self) -> None:
        self.context_chosen.emit(int(self.context.currentData()))

    def _retranslate(self) -> None:
        self.search.setPlaceholderText(self.tr("Search models"))
        self.search.setAccessibleName(self.tr("Search models"))
        self._context_label.setText(self.tr("Context"))
        self.context.setAccessibleName(self.tr("Context: tokens for each conversation, for which fits are judged"))
        self.context.setToolTip(self.context.accessibleName())
        self.language.setAccessibleName(self.tr("Language"))
        self.task.setAccessibleName(self.tr("Good at"))
        self.largest.setAccessibleName(self.tr("Size"))
        self.language.setItemText(0, self.tr("Any language"))
        for index, code in enumerate(self._codes, start=1):
            self.language.setItemText(index, library.language_name(code))
        self.task.setItemText(0, self.tr("Any task"))
        for index, task in enumerate(TASKS, start=1):
            self.task.setItemText(index, task_name(task))
        self.largest.setItemText(0, self.tr("Any size"))
        for index, n_bytes in enumerate(SIZES, start=1):
            self.largest.setItemText(index, self.tr("Up to {size} GiB").format(size=gib(n_bytes)))
        for box in (self.language, self.task, self.largest):
            _fit_to_texts(box)
        self.fits.setText(self.tr("Fits here"))
        self.installed.setText(self.tr("Installed"))


def _thousands(n: int) -> str:
    return f"{n // 1024}k" if n % 1024 == 0 else f"{n:,}"


def _fit_to_texts(box: QComboBox) -> None:
    """Qt's own way (AdjustToContents) gives another width after a change of the style sheet, now and then."""
    texts = (box.itemText(index) for index in range(box.count()))
    box.setFixedWidth(max(box.fontMetrics().horizontalAdvance(text) for text in texts) + BOX_FRAME)
