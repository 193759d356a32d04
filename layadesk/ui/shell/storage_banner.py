"""Says that conversations do not reach the disk, why, and lets the user try again; or what was mended at the start."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Slot
from PySide6.QtWidgets import QWidget

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.ui.bridge import Bridge
from layadesk.ui.texts import words
from layadesk.ui.texts.errors import explain
from layadesk.ui.theme.tokens import Ink
from layadesk.ui.widgets.banner import Banner

if TYPE_CHECKING:
    from layadesk.usecases.watch_machine import WatchStorage


class StorageBanner(Banner):
    """Hidden while everything is saved and nothing had to be mended."""

    def __init__(self, storage: "WatchStorage", *, bridge: Bridge, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner-storage")
        self._storage = storage
        self._bridge = bridge
        self._status = storage.status
        self.accepted.connect(self._on_retry)
        bridge.follow(storage.feed, self._on_status)
        self._on_status(self._status)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange and not self.isHidden():
            self._on_status(self._status)

    @Slot(object)
    def _on_status(self, status: StorageStatus) -> None:
        self._status = status
        match status.kind:
            case StorageKind.MEMORY_ONLY:
                self._show_memory_only(status)
            case StorageKind.SAVING if status.error is not None:
                self._show_mended(status.error)
            case StorageKind.SAVING if status.n_unreadable:
                self.show_message(self._unreadable(status), ink=Ink.WARN)
            case StorageKind.SAVING:
                self.hide()

    def _show_memory_only(self, status: StorageStatus) -> None:
        parts = [words.storage_kind(status.kind)]
        if status.error is not None:
            explanation = explain(status.error)
            parts += [explanation.what, explanation.remedy]
        if status.n_unsaved:
            parts.append(self.tr("%n change(s) are waiting to be saved.", "", status.n_unsaved))
        self.show_message(words.together(*parts), ink=Ink.DANGER, action=self.tr("Try again"), can_close=False)

    def _show_mended(self, error: ErrorReport) -> None:
        explanation = explain(error)
        text = words.together(explanation.what, explanation.remedy)
        n_messages = error.facts.get("n_messages")
        if error.code is ErrorCode.DATABASE_DAMAGED and isinstance(n_messages, int):
            text = words.together(text, self.tr("%n message(s) are here.", "", n_messages))
        kept = error.facts.get("moved_to")
        self.show_message(text, ink=Ink.WARN, details=() if kept is None else (str(kept),))

    def _unreadable(self, status: StorageStatus) -> str:
        return self.tr("%n saved message(s) could not be read; all others are here.", "", status.n_unreadable)

    @Slot()
    def _on_retry(self) -> None:
        self._bridge.deliver(self._storage.retry(), self._on_status, on_error=self._on_failed)

    def _on_failed(self, report: ErrorReport) -> None:
        self._on_status(StorageStatus(StorageKind.MEMORY_ONLY, report, self._status.n_unsaved))
