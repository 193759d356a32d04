"""Download a model with one call, and steer what is under way."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from layadesk.domain.downloads import ACTIVE, ENDED, Download, DownloadState, SpeedWindow, download_id
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.download_job import RETRY_S, DownloadJob, discard_staging, staging_of
from layadesk.model_library.download_list import DownloadEntry, DownloadList, KeptFailure
from layadesk.model_library.hub import Hub
from layadesk.model_library.install import Installer
from layadesk.model_library.library_disk import LibraryDisk
from layadesk.model_library.web import Stop, Stopped
from layadesk.protocol.feed import Feed
from layadesk.usecases.download_row import DownloadRow
from layadesk.usecases.slow_feed import SlowFeed

log = logging.getLogger(__name__)

PUBLISH_S = 0.25
STOP_S = 5.0
# Waiting does not mend these; the others are retried by the user with one click just the same.
PAUSING = frozenset({ErrorCode.NO_ROOM_FOR_DOWNLOAD})


@dataclass(frozen=True, slots=True)
class DownloadRooms:
    """What downloads work with. `n_parallel` is asked when it is needed."""

    catalogues: Catalogues
    hub: Hub
    disk: LibraryDisk
    installer: Installer
    kept: DownloadList
    n_parallel: Callable[[], int]
    retry_s: Sequence[float] = RETRY_S


class Downloads:
    """All return at once, on any thread. `changed` has the whole list, at most four times a second.

    `disk_changed` is called, on a thread of its own, when the list of models has grown or an unfinished download went.
    """

    def __init__(
        self,
        rooms: DownloadRooms,
        *,
        disk_changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rooms = rooms
        self._disk_changed = disk_changed
        self._clock = clock
        self._lock = threading.RLock()
        self._rows: dict[str, DownloadRow] = {}
        self._is_closed = False
        self._writer = ThreadPoolExecutor(1, "download-list")
        self._cleaner = ThreadPoolExecutor(1, "download-cancel")
        self.changed: Feed[tuple[Download, ...]] = Feed()
        self._news = SlowFeed(self.changed, self.list, self._moves, PUBLISH_S)
        for entry in rooms.kept.read():
            self._restore(entry)

    def list(self) -> tuple[Download, ...]:
        """All rows, the oldest first."""
        with self._lock:
            return tuple(self._look_at(row) for row in self._rows.values())

    def find(self, which: str) -> Download | None:
        """The row of that id."""
        with self._lock:
            row = self._rows.get(which)
            return None if row is None else self._look_at(row)

    def start(self, model_id: str, quantization: str, *, licence_accepted: bool = False) -> str:
        """Queue a file of the catalogue (a router's is `checkpoint`); its download id. A row that is there is resumed.
        What is installed is checked, and fetched again only where it is damaged.

        Raises UNKNOWN_MODEL, BAD_PARAMETER, NOT_DOWNLOADABLE, LICENCE_NOT_ACCEPTED.
        """
        card, file = self._find(model_id, quantization)
        which = download_id(model_id, quantization)
        with self._lock:
            row = self._rows.get(which)
            accepted = licence_accepted or (row is not None and row.licence_accepted)
            if card.needs_consent and not accepted:
                facts = {"name": card.name, "licence": card.license, "page": card.license_url}
                raise fail(ErrorCode.LICENCE_NOT_ACCEPTED, **facts)
            if row is None or row.shown.state in ENDED:
                self._rows.pop(which, None)
                shown = Download(which, model_id, quantization, DownloadState.QUEUED, 0, file.size_bytes)
                self._rows[which] = DownloadRow(card, file, shown, accepted)
                self._keep(which, is_paused=False)
                self._advance()
            else:
                self.resume(which)
        return which

    def pause(self, download_id: str) -> None:
        """Stop within a second and keep what is here."""
        with self._lock:
            row = self._rows.get(download_id)
            if row is None or row.shown.state in (*ENDED, DownloadState.PAUSED):
                return
            self._look_at(row)
            row.stop.set()
            self._show(row, state=DownloadState.PAUSED, failure=None)
            self._keep(download_id, is_paused=True)
            self._advance()

    def resume(self, download_id: str) -> None:
        """Go on from the bytes that are here; also tries a failed one again."""
        with self._lock:
            row = self._rows.get(download_id)
            if row is None or row.shown.state not in (DownloadState.PAUSED, DownloadState.FAILED):
                return
            self._show(row, state=DownloadState.QUEUED, failure=None, was_interrupted=False)
            self._keep(download_id, is_paused=False)
            self._advance()

    def cancel(self, download_id: str) -> Future[None]:
        """Stop within a second and delete what is here; also takes an ended row off the list. Done when it is gone."""
        with self._lock:
            row = self._rows.pop(download_id, None)
            if row is not None:
                row.stop.set()
                self._drop(download_id)
                self._advance()
                self._news.tell()
            return self._cleaner.submit(self._clean_up, row)

    def resume_interrupted(self) -> None:
        """Go on with all that ran when the program ended."""
        for row in self.list():
            if row.was_interrupted:
                self.resume(row.download_id)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nothing is written while this lasts: what runs is paused, and goes on afterwards. Waits a few seconds."""
        with self._lock:
            moving = [row for row in self._rows.values() if row.shown.state not in (*ENDED, DownloadState.PAUSED)]
            for row in moving:
                self.pause(row.shown.download_id)
            threads = [row.thread for row in moving if row.thread is not None]
        for thread in threads:
            thread.join(STOP_S)
        try:
            yield
        finally:
            for row in moving:
                self.resume(row.shown.download_id)

    def close(self) -> None:
        """Stop what runs, to go on after the next start; waits a few seconds at most."""
        with self._lock:
            self._is_closed = True
            threads = [row.thread for row in self._rows.values() if row.thread is not None]
            for row in self._rows.values():
                row.stop.set()
        until = time.monotonic() + STOP_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        for executor in (self._cleaner, self._writer):
            executor.shutdown(wait=True)
        self._news.close()

    def _clean_up(self, row: DownloadRow | None) -> None:
        if row is None:
            return
        if row.thread is not None:
            row.thread.join(STOP_S)
        with self._lock:
            if row.shown.download_id not in self._rows:  # not started again meanwhile
                discard_staging(self._rooms.disk.models_dir, row.card, row.file)
        self._disk_changed()

    def _find(self, model_id: str, quantization: str) -> tuple[ModelCard, ModelFile]:
        card = self._rooms.catalogues.current().card(model_id)
        if card is None:
            raise fail(ErrorCode.UNKNOWN_MODEL, model_id=model_id)
        file = card.file(quantization)
        if file is None:
            known = ", ".join(one.quantization for one in card.files)
            raise fail(ErrorCode.BAD_PARAMETER, parameter="quantization", value=quantization, known=known)
        if not file.is_downloadable:
            raise fail(ErrorCode.NOT_DOWNLOADABLE, model_id=model_id, source=file.source)
        return card, file

    def _restore(self, entry: DownloadEntry) -> None:
        try:
            card, file = self._find(entry.model_id, entry.quantization)
        except LayaDeskError as error:  # not in the catalogue any more; its bytes are among the leftovers
            log.info("a kept download is left out: %s", error)
            return
        n_bytes = staging_of(self._rooms.disk.models_dir, card, file).n_bytes()
        report = entry.report
        shown = Download(
            entry.download_id,
            entry.model_id,
            entry.quantization,
            DownloadState.PAUSED if report is None else state_after(report),
            n_bytes,
            file.size_bytes,
            failure=report,
            was_interrupted=not entry.is_paused,
        )
        self._rows[entry.download_id] = DownloadRow(card, file, shown, entry.licence_accepted)

    def _advance(self) -> None:
        """Start queued rows while there is room; under the lock."""
        rows = list(self._rows.values())
        n_free = self._rooms.n_parallel() - sum(row.shown.state in ACTIVE for row in rows)
        for row in rows:
            if n_free <= 0 or self._is_closed:
                return
            if row.shown.state is DownloadState.QUEUED:
                n_free -= 1
                self._launch(row)

    def _launch(self, row: DownloadRow) -> None:
        previous, row.stop, row.speed = row.thread, Stop(), SpeedWindow()
        self._show(row, state=DownloadState.LOOKING_UP, failure=None)
        stop = row.stop
        row.thread = threading.Thread(
            target=self._run, args=(row, stop, previous), name=f"download-{row.card.model_id}", daemon=True
        )
        row.thread.start()

    def _run(self, row: DownloadRow, stop: Stop, previous: threading.Thread | None) -> None:
        if previous is not None:
            previous.join()  # it has been told to stop
        try:
            if self._rooms.installer.is_installed(row.card, row.file, partial(self._on_checked, row, stop)):
                self._on_installed(row, stop)
                return
            job = DownloadJob(
                row.card,
                row.file,
                self._rooms.hub,
                self._rooms.disk,
                stop,
                reserved=lambda: self._needed_by_others(row),
                retry_s=self._rooms.retry_s,
            )
            with self._lock:
                if not stop.is_set:
                    row.job = job
            self._news.tell()
            staged = job.run()
            stop.check()
            self._rooms.installer.install(row.card, row.file, staged)
            discard_staging(self._rooms.disk.models_dir, row.card, row.file)
            self._on_installed(row, stop)
        except Stopped:
            return
        except LayaDeskError as error:
            self._on_failure(row, stop, error.report)
        except Exception as error:
            log.exception("a download failed")
            detail = f"{type(error).__name__}: {error}"[:200]
            self._on_failure(row, stop, ErrorReport(ErrorCode.INTERNAL, {"reason": "download", "detail": detail}))

    def _moves(self) -> bool:
        with self._lock:
            return any(row.job is not None for row in self._rows.values())

    def _look_at(self, row: DownloadRow) -> Download:
        return row.look(self._clock())

    def _on_checked(self, row: DownloadRow, stop: Stop, n_bytes: int, total: int | None) -> None:
        with self._lock:
            stop.check()
            self._show(row, state=DownloadState.CHECKING, n_bytes_done=n_bytes, n_bytes_total=total)

    def _on_installed(self, row: DownloadRow, stop: Stop) -> None:
        with self._lock:
            if not stop.is_set:
                self._look_at(row)
                total = row.shown.n_bytes_total or row.shown.n_bytes_done
                self._show(row, state=DownloadState.INSTALLED, n_bytes_done=total, n_bytes_total=total, failure=None)
                self._drop(row.shown.download_id)
                self._advance()
        self._disk_changed()

    def _on_failure(self, row: DownloadRow, stop: Stop, report: ErrorReport) -> None:
        log.warning("download %s: %s %s", row.shown.download_id, report.code, dict(report.facts))
        with self._lock:
            if stop.is_set:
                return
            self._look_at(row)
            n_bytes = staging_of(self._rooms.disk.models_dir, row.card, row.file).n_bytes()
            self._show(row, state=state_after(report), failure=report, n_bytes_done=n_bytes)
            self._keep(row.shown.download_id, is_paused=True)
            self._advance()

    def _needed_by_others(self, row: DownloadRow) -> int:
        with self._lock:
            others = [self._look_at(one) for one in self._rows.values() if one is not row and one.job is not None]
        return sum(max(0, (one.n_bytes_total or 0) - one.n_bytes_done) for one in others)

    def _show(self, row: DownloadRow, **changes: object) -> None:
        row.show(**changes)
        self._news.tell()

    def _keep(self, which: str, *, is_paused: bool) -> None:
        row = self._rows[which]
        report = row.shown.failure
        failure = None if report is None else KeptFailure(report.code, dict(report.facts))
        entry = DownloadEntry(row.card.model_id, row.file.quantization, is_paused, row.licence_accepted, failure)
        self._write(lambda: self._rooms.kept.put(entry))

    def _drop(self, which: str) -> None:
        self._write(lambda: self._rooms.kept.drop(which))

    def _write(self, change: Callable[[], None]) -> None:
        if not self._is_closed:
            self._writer.submit(_quietly, change)


def state_after(report: ErrorReport) -> DownloadState:
    """Where a download stands that was stopped by that."""
    return DownloadState.PAUSED if report.code in PAUSING else DownloadState.FAILED


def _quietly(change: Callable[[], None]) -> None:
    try:
        change()
    except LayaDeskError as error:  # a full disk: the download itself says so, and the bytes are found again anyway
        log.warning("the list of downloads cannot be written: %s", error)
