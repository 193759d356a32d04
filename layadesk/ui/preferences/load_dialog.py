"""How one expert is loaded, with what that takes in memory beside it while it is being chosen."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import LoadParams
from layadesk.domain.load_choices import (
    ATTENTION_CHOICES,
    BOUNDS,
    KV_CHOICES,
    MAPPING_CHOICES,
    apply_choice,
    mapping_word,
)
from layadesk.domain.memory_fit.plans import Outlook
from layadesk.ui.bridge import Bridge
from layadesk.ui.preferences.load_bill import LoadBill
from layadesk.ui.texts.errors import explain, sentence
from layadesk.ui.theme.tokens import GAP_L, GAP_M, GAP_S
from layadesk.ui.widgets.roles import note

if TYPE_CHECKING:
    from layadesk.usecases.load_gate import LoadChoice
    from layadesk.usecases.load_settings import LoadSettings

PRICE_AFTER_MS = 250
SIZE = (720, 460)
BILL_WIDTH = 280
CONTEXT_STEP = 1024


class LoadDialog(QDialog):
    """Asks how the expert is loaded, then prices each change PRICE_AFTER_MS after it.

    Signals:
    failed: an ErrorReport of something that was not kept.
    """

    failed = Signal(object)

    def __init__(
        self, load_settings: "LoadSettings", model_id: str, name: str, *, bridge: Bridge, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Loading {name}").format(name=name))
        self.resize(*SIZE)
        self._load_settings = load_settings
        self._model_id = model_id
        self._bridge = bridge
        self._choice: LoadChoice | None = None
        self._n_asked = 0
        self.numbers = {key: _spin(key) for key in BOUNDS}
        self.numbers["n_ctx"].setSingleStep(CONTEXT_STEP)
        self.numbers["n_gpu_layers"].setSpecialValueText(self.tr("all"))
        self.numbers["n_threads"].setSpecialValueText(self.tr("one per core"))
        self.kv = _box(KV_CHOICES, "load-kv")
        self.attention = _box(ATTENTION_CHOICES, "load-flash-attention")
        self.mapping = _box(MAPPING_CHOICES, "load-mapping")
        self.told = note()
        self.bill = LoadBill()
        self.form = QFormLayout()
        self._buttons()
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(PRICE_AFTER_MS)
        self._timer.timeout.connect(self._price)
        for spin in self.numbers.values():
            spin.valueChanged.connect(self._on_changed)
        for box in (self.kv, self.attention, self.mapping):
            box.currentIndexChanged.connect(self._on_changed)
        self._set_enabled(is_enabled=False)
        bridge.deliver(load_settings.of(model_id), self._on_choice, on_error=self._on_no_choice)

    def params(self) -> LoadParams:
        """What the fields say."""
        base = LoadParams() if self._choice is None else self._choice.planned
        kind = str(self.kv.currentData())
        changes: dict[str, int | str] = {key: spin.value() for key, spin in self.numbers.items()}
        changes |= {
            "type_k": kind,
            "type_v": kind,
            "flash_attn": str(self.attention.currentData()),
            "use_mmap": str(self.mapping.currentData()),
        }
        return apply_choice(base, changes)

    def show_params(self, params: LoadParams) -> None:
        """Put them into the fields."""
        for key, spin in self.numbers.items():
            spin.setValue(getattr(params, key))
        _choose(self.kv, params.type_k)
        _choose(self.attention, params.flash_attn)
        _choose(self.mapping, mapping_word(params.use_mmap))

    def _buttons(self) -> None:
        buttons = QDialogButtonBox()
        self.keep_button: QPushButton = buttons.addButton(self.tr("Keep"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.reset_button: QPushButton = buttons.addButton(
            self.tr("Planner's values"), QDialogButtonBox.ButtonRole.ResetRole
        )
        buttons.addButton(self.tr("Cancel"), QDialogButtonBox.ButtonRole.RejectRole)
        self.reset_button.clicked.connect(self._on_reset)
        buttons.accepted.connect(self._on_keep)
        buttons.rejected.connect(self.reject)
        self.buttons = buttons

    def _lay_out(self) -> None:
        names = {
            "n_ctx": self.tr("Context, tokens"),
            "n_parallel": self.tr("Answers at the same time"),
            "n_gpu_layers": self.tr("Layers on the GPU"),
            "n_cpu_moe": self.tr("Layers whose MoE experts stay on the CPU"),
            "n_threads": self.tr("CPU threads"),
            "n_batch": self.tr("Tokens read at once"),
        }
        for key, spin in self.numbers.items():
            self._add_row(names[key], spin)
        self._add_row(self.tr("KV cache"), self.kv)
        self._add_row(self.tr("Flash attention"), self.attention)
        self._add_row(self.tr("Map the file into memory"), self.mapping)
        for box in (self.attention, self.mapping):
            for index, text in enumerate((self.tr("automatic"), self.tr("on"), self.tr("off"))):
                box.setItemText(index, text)
        self.bill.setFixedWidth(BILL_WIDTH)
        columns = QHBoxLayout()
        columns.setSpacing(GAP_L)
        columns.addLayout(self.form, 1)
        columns.addWidget(self.bill)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(GAP_M, GAP_M, GAP_M, GAP_M)
        layout.setSpacing(GAP_S)
        layout.addLayout(columns, 1)
        layout.addWidget(self.told)
        layout.addWidget(self.buttons)

    def _add_row(self, name: str, editor: QWidget) -> None:
        label = QLabel(name)
        label.setWordWrap(True)
        label.setBuddy(editor)
        editor.setAccessibleName(name)
        self.form.addRow(label, editor)

    def _on_choice(self, choice: "LoadChoice") -> None:
        self._choice = choice
        if choice.model.n_ctx_train is not None:
            self.numbers["n_ctx"].setMaximum(choice.model.n_ctx_train)
        if choice.n_layers is not None:
            self.numbers["n_gpu_layers"].setMaximum(choice.n_layers)
            self.numbers["n_cpu_moe"].setMaximum(choice.n_layers)
        self.form.setRowVisible(self.numbers["n_cpu_moe"], choice.has_moe)
        self.show_params(choice.params)
        self._set_enabled(is_enabled=True)
        told = self.tr("Holds from the next load on.")
        if choice.is_loaded:
            told = self.tr("It is in memory now and is loaded anew with the next message.")
        self.told.setText(told)
        self.numbers["n_ctx"].setFocus()
        self._on_changed()

    def _on_no_choice(self, report: ErrorReport) -> None:
        self.bill.show_words(sentence(report))

    @Slot()
    def _on_changed(self) -> None:
        if self._choice is None:
            return
        self.reset_button.setEnabled(self.params() != self._choice.planned)
        self.bill.show_waiting()
        self._timer.start()

    @Slot()
    def _price(self) -> None:
        self._n_asked += 1
        future = self._load_settings.price(self._model_id, self.params())
        self._bridge.deliver(
            future, partial(self._on_priced, self._n_asked), on_error=partial(self._on_no_price, self._n_asked)
        )

    def _on_priced(self, number: int, found: Outlook) -> None:
        if number == self._n_asked:
            self.bill.show_outlook(found)

    def _on_no_price(self, number: int, report: ErrorReport) -> None:
        if number == self._n_asked:
            self.bill.show_words(explain(report).what)

    @Slot()
    def _on_reset(self) -> None:
        if self._choice is not None:
            self.show_params(self._choice.planned)

    @Slot()
    def _on_keep(self) -> None:
        if self._choice is None:
            self.reject()
            return
        params = self.params()
        if params == self._choice.planned:
            self._load_settings.reset(self._model_id)
        elif params != self._choice.params:
            self._bridge.deliver(
                self._load_settings.keep(self._model_id, params), self._on_kept, on_error=self.failed.emit
            )
        self.accept()

    def _on_kept(self, _: None) -> None:
        """Whoever shows it follows `changed`."""

    def _set_enabled(self, *, is_enabled: bool) -> None:
        for editor in (*self.numbers.values(), self.kv, self.attention, self.mapping, self.keep_button):
            editor.setEnabled(is_enabled)
        self.reset_button.setEnabled(False)


def _spin(key: str) -> QSpinBox:
    low, high = BOUNDS[key]
    spin = QSpinBox()
    spin.setObjectName(f"load-{key}")
    spin.setRange(low, high)
    spin.setGroupSeparatorShown(True)
    return spin


def _box(choices: tuple[str, ...], name: str) -> QComboBox:
    box = QComboBox()
    box.setObjectName(name)
    for choice in choices:
        box.addItem(choice, choice)
    return box


def _choose(box: QComboBox, value: str) -> None:
    index = box.findData(value)
    if index < 0:  # a file of settings may say what the menu does not
        box.addItem(value, value)
        index = box.count() - 1
    box.setCurrentIndex(index)
