"""What happened to a child process, in words, at the moment it happens; and that it is back."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QTimer, Slot
from PySide6.QtWidgets import QWidget

from layadesk.domain.worker_state import WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import words
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.banner import Banner

if TYPE_CHECKING:
    from layadesk.usecases.watch_machine import WatchWorkers


BACK_SHOWN_MS = 4000


class WorkerBanner(Banner):
    """Stays hidden as long as its child has not died."""

    def __init__(
        self, worker: WorkerKind, workers: "WatchWorkers", *, bridge: Bridge, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(f"banner-{worker}")
        self._worker = worker
        self._workers = workers
        self._exit: WorkerExit | None = None
        self._status: WorkerStatus | None = None
        self._back_timer = QTimer(self)
        self._back_timer.setSingleShot(True)
        self._back_timer.setInterval(BACK_SHOWN_MS)
        self._back_timer.timeout.connect(self.hide)
        self.accepted.connect(self._on_restart)
        bridge.follow(workers.feed, self._on_status)
        for status in workers.statuses():
            self._on_status(status)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange and self._status is not None and not self.isHidden():
            self._render(self._status)

    @Slot(object)
    def _on_status(self, status: WorkerStatus) -> None:
        if status.worker is not self._worker:
            return
        self._status = status
        if status.state in {WorkerState.WAITING, WorkerState.GIVEN_UP} and status.exit is not None:
            self._exit = status.exit
        self._render(status)

    def _render(self, status: WorkerStatus) -> None:
        self._back_timer.stop()
        match status.state:
            case WorkerState.WAITING if self._exit is not None:
                self._show_waiting(self._exit, status.retry_in_s)
            case WorkerState.GIVEN_UP if self._exit is not None:
                self._show_given_up(self._exit)
            case WorkerState.READY if self._exit is not None and not self.isHidden():
                self._show_back()
            case WorkerState.STOPPING | WorkerState.STOPPED:
                self.hide()
            case _:
                pass  # starting, or ready for the first time: nothing to say

    def _show_waiting(self, ended: WorkerExit, retry_in_s: float | None) -> None:
        what = self.tr("{who} stopped: {how}.").format(
            who=words.worker_name(self._worker), how=words.exit_words(ended.kind, ended.detail)
        )
        when = (
            self.tr("It starts again by itself.")
            if retry_in_s is None
            else self.tr("It starts again in {seconds} s.").format(seconds=f"{retry_in_s:g}")
        )
        text = words.together(what, when, words.exit_remedy(ended.kind))
        self.show_message(text, ink=Ink.WARN, details=ended.log_tail)

    def _show_given_up(self, ended: WorkerExit) -> None:
        text = self.tr("{who} stopped too often and stays off: {how}.").format(
            who=words.worker_name(self._worker), how=words.exit_words(ended.kind, ended.detail)
        )
        if self._worker is WorkerKind.ROUTER:
            text = words.together(text, self.tr("The default expert answers meanwhile."))
        self.show_message(
            words.together(text, words.exit_remedy(ended.kind)),
            ink=Ink.DANGER,
            action=self.tr("Start again"),
            details=ended.log_tail,
        )

    def _show_back(self) -> None:
        self._exit = None
        self.show_message(self.tr("{who} is running again.").format(who=words.worker_name(self._worker)), ink=Ink.OK)
        self._back_timer.start()

    @Slot()
    def _on_restart(self) -> None:
        self._workers.restart(self._worker)
