"""The welcome: what this machine is, which models suit it, one button for all of them.

It lies where a new chat is empty, above the field for the message, so that the starter can be asked meanwhile.
"""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLocale, Signal, Slot
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from layadesk.domain.downloads import Download, DownloadState, download_id
from layadesk.domain.errors import ErrorReport, LayaDeskError
from layadesk.domain.models import Origin
from layadesk.settings import definitions
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import library, memory, words
from layadesk.ui.texts.errors import sentence
from layadesk.ui.texts.numbers import gib_with_unit, percent
from layadesk.ui.theme.fonts import small_font, title_font
from layadesk.ui.theme.tokens import GAP_M, GAP_S, GAP_XS, Ink
from layadesk.ui.welcome.suggestion_view import SuggestionView, machine_words
from layadesk.ui.widgets.elided_label import ElidedLabel
from layadesk.ui.widgets.flow_layout import FlowLayout
from layadesk.ui.widgets.meter_bar import MeterBar
from layadesk.ui.widgets.reading_area import ReadingArea
from layadesk.ui.widgets.roles import note, set_role
from layadesk.usecases.look_at_library import Suggested

if TYPE_CHECKING:
    from layadesk.usecases.bundle import UseCases


class WelcomePanel(QWidget):
    """Asks for a suggestion when it is wanted for the first time.

    Signals:
        wanted_changed: it should be shown now, or not any more.
        models_requested: the user wants to see all models, or what is on its way.
        failed: an ErrorReport.
    """

    wanted_changed = Signal()
    models_requested = Signal()
    failed = Signal(object)

    def __init__(self, use_cases: "UseCases", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, "surface")
        self.setObjectName("welcome")
        self._use_cases = use_cases
        self._bridge = bridge
        self._is_called = False  # by the user, whatever is installed
        self._is_asked = False
        self._suggested: Suggested | None = None
        self._failure: ErrorReport | None = None
        self._wanted_ids: tuple[str, ...] = ()  # of the downloads that were started here
        self._downloads: tuple[Download, ...] = use_cases.downloads.list()
        self._title, self._machine = QLabel(), note()
        self._title.setFont(title_font())
        self._sentence, self._cost = QLabel(), note()
        self._sentence.setWordWrap(True)
        self.suggestion = SuggestionView()
        self._meter = MeterBar()
        self._progress = ElidedLabel(meaning=Ink.MUTED)
        self._progress.setFont(small_font())
        self.download, self.models, self.later = QPushButton(), QPushButton(), QPushButton()
        self.download.setObjectName("download-all")
        set_role(self.download, "primary")
        self.models.setObjectName("all-models")
        self.later.setObjectName("not-now")
        set_role(self.later, "quiet")
        self._lay_out()
        self._connect()
        self._render()

    @property
    def is_wanted(self) -> bool:
        """Called by the user; or nothing but the starter is here, and it was not put away."""
        if self._is_called:
            return True
        is_on = self._use_cases.settings.get(definitions.UI_WELCOME)
        experts = self._use_cases.experts.list()
        return is_on and all(model.origin is Origin.STARTER for model in experts)

    @Slot()
    def call(self) -> None:
        """Bring it back, with a suggestion for the machine as it is now."""
        self._is_called = True
        self.ask()
        self.wanted_changed.emit()

    def ask(self) -> None:
        """Look at the machine and ask what suits it."""
        self._is_asked, self._failure = True, None
        n_ctx = self._use_cases.settings.get(definitions.N_CTX)
        language = QLocale().name().split("_")[0]
        future = self._use_cases.look_at_library.suggest(n_ctx, language=language)
        self._bridge.deliver(future, self._on_suggested, on_error=self._on_failed)
        self._render()

    def ask_once(self) -> None:
        """The same, if nobody has asked yet."""
        if not self._is_asked:
            self.ask()

    def text(self) -> str:
        """All that it says."""
        labels = (self._title, self._machine, self._sentence, self._cost, self._progress)
        return "\n".join([*(label.text() for label in labels), self.suggestion.text()])

    def focus_chain(self) -> list[QWidget]:
        """For the Tab key."""
        return [self.download, self.models, self.later]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.LanguageChange:
            self._render()
        super().changeEvent(event)

    def _lay_out(self) -> None:
        buttons = FlowLayout(gap=GAP_S, line_gap=GAP_XS)
        for button in (self.download, self.models, self.later):
            buttons.addWidget(button)
        area = ReadingArea(spacing=GAP_M)
        column = area.column
        column.addStretch(1)
        for widget in (self._title, self._machine, self._sentence, self.suggestion, self._cost):
            column.addWidget(widget)
        column.addWidget(self._meter)
        column.addWidget(self._progress)
        column.addLayout(buttons)
        column.addStretch(2)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(area)

    def _connect(self) -> None:
        self.download.clicked.connect(self._on_download)
        self.models.clicked.connect(self.models_requested)
        self.later.clicked.connect(self._on_later)
        self._bridge.follow(self._use_cases.downloads.changed, self._on_downloads)
        self._bridge.follow(self._use_cases.experts.changed, self._on_experts_changed)

    @Slot()
    def _on_download(self) -> None:
        if self._suggested is None or self._failure is not None:
            self.ask()
            return
        started = []
        for one in self._suggested.proposal.experts:
            if one.download_bytes:
                try:
                    started.append(self._use_cases.downloads.start(one.model_id, one.quantization))
                except LayaDeskError as error:
                    self.failed.emit(error.report)
        self._wanted_ids = tuple(started)
        self._is_called = True  # stays until everything is here, also when the first expert is
        self._downloads = self._use_cases.downloads.list()
        self._render()

    @Slot()
    def _on_later(self) -> None:
        self._is_called = False
        self._wanted_ids = ()
        self._use_cases.settings.set(definitions.UI_WELCOME, False)
        self.wanted_changed.emit()

    @Slot(object)
    def _on_downloads(self, downloads: tuple[Download, ...]) -> None:
        self._downloads = downloads
        self._render_progress()

    @Slot(object)
    def _on_experts_changed(self, _: object) -> None:
        self.wanted_changed.emit()

    def _on_suggested(self, suggested: Suggested) -> None:
        self._suggested = suggested
        if not self._wanted_ids:
            known = {one.download_id for one in self._downloads}
            ids = (download_id(one.model_id, one.quantization) for one in suggested.proposal.experts)
            self._wanted_ids = tuple(one for one in ids if one in known)  # of an earlier session
        self._render()

    def _on_failed(self, report: ErrorReport) -> None:
        self._failure = report
        self._render()

    def _render(self) -> None:
        suggested = self._suggested
        self._title.setText(self.tr("Welcome to LayaDesk"))
        self._machine.setText("" if suggested is None else machine_words(suggested.machine))
        self._machine.setVisible(suggested is not None)
        self._sentence.setText(self._sentence_words())
        self.suggestion.show_suggestion(suggested if suggested is not None and suggested.proposal.experts else None)
        self._cost.setText("" if suggested is None else self._cost_words(suggested))
        self._cost.setVisible(bool(self._cost.text()))
        self.models.setText(self.tr("All models"))
        self.later.setText(self.tr("Not now"))
        for button in (self.models, self.later):
            button.setAccessibleName(button.text())
        self._render_progress()

    def _sentence_words(self) -> str:
        if self._failure is not None:
            return sentence(self._failure)
        if self._suggested is None:
            return self.tr("Looking at what this machine can do…")
        if not self._suggested.proposal.experts:
            return self.tr(
                "None of the models in the catalogue fits beside what is in use now. Close other programs, or "
                "choose one under All models. The starter answers meanwhile."
            )
        return self.tr(
            "The starter is tiny and only shows that everything works. These fit into memory together, and the router "
            "chooses between them:"
        )

    def _cost_words(self, suggested: Suggested) -> str:
        proposal = suggested.proposal
        if not proposal.experts:
            return ""
        takes = " + ".join(
            f"{gib_with_unit(one.total_bytes)} {memory.device_name(one.device)}" for one in proposal.together
        )
        free = words.unknown() if suggested.free_disk_bytes is None else gib_with_unit(suggested.free_disk_bytes)
        return self.tr("To download: {download} (free on the disk: {free}). In memory together: {takes}.").format(
            download=library.size(proposal.download_bytes), free=free, takes=takes
        )

    def _render_progress(self) -> None:
        wanted = [one for one in self._downloads if one.download_id in self._wanted_ids]
        is_under_way = bool(wanted)
        self._meter.setVisible(is_under_way)
        self._progress.setVisible(is_under_way)
        suggested = self._suggested
        has_experts = suggested is not None and bool(suggested.proposal.experts)
        n_bytes = 0 if suggested is None else suggested.proposal.download_bytes
        self.download.setVisible(not is_under_way and (has_experts or self._failure is not None))
        text = self.tr("Download all, {size}").format(size=library.size(n_bytes))
        self.download.setText(self.tr("Try again") if self._failure is not None else text)
        self.download.setAccessibleName(self.download.text())
        self.download.setEnabled(bool(n_bytes) or self._failure is not None)
        if is_under_way:
            self._show_progress(wanted)

    def _show_progress(self, wanted: list[Download]) -> None:
        n_here = sum(one.state is DownloadState.INSTALLED for one in wanted)
        n_done = sum(one.n_bytes_done for one in wanted)
        n_all = sum(one.n_bytes_total or 0 for one in wanted)
        share = min(1.0, n_done / n_all) if n_all else 0.0
        failed = next((one.failure for one in wanted if one.failure is not None), None)
        self._meter.set_shares([("danger" if failed is not None else "accent", share)])
        if n_here == len(wanted):
            text = self.tr("All of them are here. Ask something: the router chooses who answers.")
        elif failed is not None:
            text = sentence(failed)
        else:
            text = self.tr("{share}, {n} of {all} are here. Ask the starter something meanwhile.").format(
                share=percent(share), n=n_here, all=len(wanted)
            )
        self._progress.set_text(text)
        self._meter.setAccessibleName(text)
