"""The Health page: all checks, what stands in the way first."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.diagnosis import Diagnosis
from layadesk.domain.errors import ErrorReport
from layadesk.ui.bridge import Bridge
from layadesk.ui.health.finding_row import FindingRow, level_of
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.words import together
from layadesk.ui.theme.tokens import GAP_S
from layadesk.ui.widgets.page_header import PageHeader
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import set_look
from layadesk.usecases.check_installation import Finding, Level

if TYPE_CHECKING:
    from layadesk.usecases.diagnose import Diagnose, Health

_ORDER = (Level.FAIL, Level.WARN, Level.OK)


class HealthPage(QWidget):
    """Checks when it is shown, and again when asked to."""

    def __init__(self, diagnose: "Diagnose", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._diagnose = diagnose
        self._bridge = bridge
        self._health: Health | None = None
        self._is_checking = False
        self._is_copied = False
        self._failure: ErrorReport | None = None
        self.header = PageHeader()
        self.again = QPushButton()
        self.again.setObjectName("check-again")
        self.again.clicked.connect(self.check)
        self.copy = QPushButton()
        self.copy.setObjectName("copy-report")
        self.copy.clicked.connect(self._on_copy)
        self.header.add_button(self.copy)
        self.header.add_button(self.again)
        self._summary = QLabel()
        self._summary.setWordWrap(True)
        self._shown: list[FindingRow] = []
        self._rows = QVBoxLayout()
        self._rows.setSpacing(GAP_S)
        self._area = ReadingArea()
        self._lay_out()
        self._retranslate()

    @Slot()
    def check(self) -> None:
        """Run all checks; what was found before stays until they are done."""
        if self._is_checking:
            return
        self._is_checking = True
        self._retranslate()
        self._bridge.deliver(self._diagnose.check(), self._on_checked, on_error=self._on_failed)

    def rows(self) -> tuple[FindingRow, ...]:
        """What is shown, from top to bottom."""
        return tuple(self._shown)

    def summary(self) -> str:
        """The sentence above the findings."""
        return self._summary.text()

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.copy, self.again]

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.check()

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._retranslate()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        self._area.column.addWidget(self._summary)
        self._area.column.addLayout(self._rows)
        self._area.column.addStretch(1)
        self.header.stand_on(self, self._area)

    def _on_checked(self, health: "Health") -> None:
        self._is_checking, self._failure, self._health = False, None, health
        self._is_copied = False
        found: list[Finding | Diagnosis] = [*health.diagnoses, *health.findings]
        found.sort(key=lambda one: _ORDER.index(level_of(one)))
        for row in self._shown:
            self._rows.removeWidget(row)
            row.deleteLater()
        self._shown = [FindingRow(one) for one in found]
        for row in self._shown:
            self._rows.addWidget(row)
        self._retranslate()

    def _on_failed(self, report: ErrorReport) -> None:
        self._is_checking, self._failure = False, report
        self._retranslate()

    @Slot()
    def _on_copy(self) -> None:
        if self._health is not None:
            report = self._diagnose.report(self._health.findings)
            self._bridge.deliver(report, self._on_report, on_error=self._on_failed)

    def _on_report(self, report: str) -> None:
        QGuiApplication.clipboard().setText(report)
        self._is_copied = True
        self._retranslate()

    def _retranslate(self) -> None:
        self.copy.setText(self.tr("Copied") if self._is_copied else self.tr("Copy report"))
        self.copy.setAccessibleName(self.copy.text())
        self.copy.setToolTip(
            self.tr("Versions, devices, settings, figures and the engine's last log; never what you wrote")
        )
        self.copy.setEnabled(self._health is not None)
        self.header.title.set_text(self.tr("Health"))
        self.again.setText(self.tr("Check again"))
        self.again.setAccessibleName(self.tr("Check again"))
        self.again.setEnabled(not self._is_checking)
        self._summary.setText(self._summary_text())
        set_look(self._summary, "ink", "muted" if self._failure is None else "danger")

    def _summary_text(self) -> str:
        if self._is_checking and self._health is None:
            return self.tr("Checking…")
        if self._failure is not None:
            explanation = explain(self._failure)
            return together(explanation.what, explanation.remedy)
        levels = [level_of(row.finding) for row in self._shown]
        n_bad, n_weak = levels.count(Level.FAIL), levels.count(Level.WARN)
        if n_bad:
            return self.tr("%n thing(s) stand in the way of an answer.", "", n_bad)
        if n_weak:
            return self.tr("It works. %n thing(s) could be better.", "", n_weak)
        return self.tr("Everything is as it should be.")
