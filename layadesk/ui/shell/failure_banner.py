"""What did not work and what to do, above every page, until it is closed or something else is shown."""

from PySide6.QtCore import QEvent

from layadesk.domain.errors import ErrorReport
from layadesk.ui.texts.errors import explain
from layadesk.ui.texts.words import together
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.banner import Banner


class FailureBanner(Banner):
    """Says an error anew when the language is another one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("banner-failure")
        self._report: ErrorReport | None = None
        self._said = ""

    def show_report(self, report: ErrorReport) -> None:
        """In the language of the window."""
        explanation = explain(report)
        self._report, self._said = report, together(explanation.what, explanation.remedy)
        details = (explanation.detail,) if explanation.detail else ()
        self.show_message(self._said, ink=Ink.DANGER, details=details)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        is_still_said = not self.isHidden() and self.text() == self._said
        if event.type() == QEvent.Type.LanguageChange and self._report is not None and is_still_said:
            self.show_report(self._report)
