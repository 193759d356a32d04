"""The quantizations of a model: size, what is left of it, whether it fits, and which one is recommended here."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QLabel, QRadioButton, QVBoxLayout, QWidget

from layadesk.domain.memory_fit.plans import PlanKind
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import ModelFile
from layadesk.domain.quantization import closeness
from layadesk.ui.texts import library
from layadesk.ui.theme.fonts import figure_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XL, Ink
from layadesk.ui.widgets.badge import Badge
from layadesk.ui.widgets.roles import note, set_look
from layadesk.usecases.fitting import Fitting

SIZE_WIDTH = 84
NAME_WIDTH = 116
_INKS: Final = {
    Verdict.FITS: Ink.OK,
    Verdict.TIGHT: Ink.WARN,
    Verdict.NEEDS_OFFLOAD: Ink.ACCENT,
    Verdict.REFUSE: Ink.DANGER,
    Verdict.UNKNOWN: Ink.MUTED,
}


class QuantizationRow(QWidget):
    """One of them, to be chosen."""

    def __init__(self, file: ModelFile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.file = file
        self._fitting: Fitting | None = None
        self._is_best = False
        self._is_here = False
        self.button = QRadioButton(file.quantization)
        self.button.setObjectName(f"quantization-{file.quantization}")
        self.button.setMinimumWidth(NAME_WIDTH)
        self._size = QLabel()
        self._size.setFont(figure_font())
        self._size.setMinimumWidth(SIZE_WIDTH)
        set_look(self._size, "ink", "muted")
        self.badge = Badge()
        self.badge.setObjectName("fit-badge")
        self._note = note()
        row = QHBoxLayout()
        row.setSpacing(GAP_M)
        row.addWidget(self.button)
        row.addWidget(self._size)
        row.addStretch(1)
        row.addWidget(self.badge)
        below = QHBoxLayout()
        below.setContentsMargins(GAP_XL, 0, 0, 0)
        below.addWidget(self._note, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, GAP_S)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addLayout(below)
        self._render()

    def judge(self, fitting: Fitting | None, *, is_best: bool) -> None:
        """Whether it fits; None while that is being found out."""
        self._fitting, self._is_best = fitting, is_best
        self._render()

    def set_here(self, is_here: bool) -> None:
        """Whether it is on this disk."""
        if is_here != self._is_here:
            self._is_here = is_here
            self._render()

    def note(self) -> str:
        """What stands below."""
        return self._note.text()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _render(self) -> None:
        file = self.file
        said = [library.closeness_words(closeness(file.quantization, file.path))]
        if self._is_best:
            said.append(self.tr("recommended here: the best that fits"))
        if self._is_here:
            said.append(self.tr("installed"))
        if len(file.parts) > 1:
            said.append(self.tr("in %n part(s)", "", len(file.parts)))
        self._note.setText(" · ".join(said))
        self._size.setText(library.file_size(file))
        show_fit(self.badge, self._fitting)
        name = (file.quantization, self._size.text(), self._note.text(), self.badge.accessibleName())
        self.button.setAccessibleName(", ".join(part for part in name if part))


class QuantizationList(QWidget):
    """Signals:
    chosen: the name of the quantization that is chosen now.
    """

    chosen = Signal(str)

    def __init__(self, files: Sequence[ModelFile], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_users = False  # a choice of the user is not changed when a recommendation comes
        self._group = QButtonGroup(self)
        self.rows = [QuantizationRow(file) for file in files]
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        for row in self.rows:
            self._group.addButton(row.button)
            layout.addWidget(row)
        if self.rows:
            self.rows[0].button.setChecked(True)
        self._group.buttonClicked.connect(self._on_clicked)

    @property
    def current(self) -> str:
        """The name of what is chosen."""
        return next((row.file.quantization for row in self.rows if row.button.isChecked()), "")

    def choose(self, quantization: str) -> None:
        """Choose one, as a click would."""
        for row in self.rows:
            if row.file.quantization == quantization:
                row.button.setChecked(True)
                self._on_clicked(row.button)

    def recommend(self, quantization: str | None) -> None:
        """Choose it unless the user has chosen."""
        if not self._is_users:
            for row in self.rows:
                if row.file.quantization == quantization and not row.button.isChecked():
                    row.button.setChecked(True)
                    self.chosen.emit(self.current)

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key, which reaches the chosen one; the arrow keys choose."""
        return [row.button for row in self.rows]

    @Slot(QAbstractButton)
    def _on_clicked(self, _: QAbstractButton) -> None:
        self._is_users = True
        self.chosen.emit(self.current)


def show_fit(badge: Badge, fitting: Fitting | None) -> None:
    """Put a judgement into a badge."""
    if fitting is None:
        badge.show_words("")
    elif fitting.outlook is None:
        badge.show_words(library.short_verdict(fitting.verdict), _INKS[fitting.verdict])
    else:
        outlook = fitting.outlook
        is_evicting = outlook.automatic is not None and outlook.automatic.kind is PlanKind.EVICT
        ink = Ink.WARN if is_evicting else _INKS[outlook.verdict]
        badge.show_words(library.fit_words(outlook), ink, more=library.fit_details(outlook))
