"""One finding or diagnosis: a mark, what was found, what to do."""

from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from layadesk.domain.diagnosis import Diagnosis
from layadesk.ui.texts.diagnoses import diagnosis_remedy, diagnosis_words
from layadesk.ui.texts.findings import finding_remedy, finding_words
from layadesk.ui.theme.icons import icon_pixmap
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.widgets.roles import set_look, set_role
from layadesk.usecases.check_installation import Finding, Level

_MARKS: Final = {
    Level.OK: ("check", Ink.OK),
    Level.WARN: ("alert", Ink.WARN),
    Level.FAIL: ("alert", Ink.DANGER),
}


class FindingRow(QFrame):
    """The words are made anew when the language changes."""

    def __init__(self, finding: Finding | Diagnosis, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.finding = finding
        set_role(self, "card")
        self._mark = QLabel()
        self._level = QLabel()
        set_look(self._level, "ink", _MARKS[level_of(finding)][1].value)
        self._what = _wrapping()
        self._remedy = _wrapping()
        set_look(self._remedy, "ink", "muted")
        words = QVBoxLayout()
        words.setSpacing(GAP_XS)
        words.addWidget(self._what)
        words.addWidget(self._remedy)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_M, GAP_S, GAP_M, GAP_S)
        row.setSpacing(GAP_S)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._level, 0, Qt.AlignmentFlag.AlignTop)
        self._render()

    def text(self) -> str:
        """All that it says."""
        return " ".join(filter(None, (self._level.text(), self._what.text(), self._remedy.text())))

    def changeEvent(self, event: QEvent) -> None:
        if event.type() in {QEvent.Type.LanguageChange, QEvent.Type.PaletteChange} and hasattr(self, "_remedy"):
            self._render()
        super().changeEvent(event)

    def _render(self) -> None:
        finding = self.finding
        level = level_of(finding)
        self._mark.setPixmap(icon_pixmap(*_MARKS[level], ratio=self.devicePixelRatioF()))
        names = {Level.OK: self.tr("good"), Level.WARN: self.tr("could be better"), Level.FAIL: self.tr("in the way")}
        self._level.setText(names[level])
        if isinstance(finding, Diagnosis):
            what, remedy = diagnosis_words(finding), diagnosis_remedy(finding)
        else:
            what, remedy = finding_words(finding), "" if level is Level.OK else finding_remedy(finding)
        self._what.setText(what)
        self._remedy.setText(remedy)
        self._remedy.setVisible(bool(self._remedy.text()))
        self.setAccessibleName(self.text())


def level_of(finding: Finding | Diagnosis) -> Level:
    """How bad it is."""
    if isinstance(finding, Diagnosis):
        return Level.FAIL if finding.is_serious else Level.WARN if finding.is_trouble else Level.OK
    return finding.level


def _wrapping() -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
