"""One download from its first question to the file at its place: look up, make sure of room, transfer, check, install.

Everything of a download lies in `models/.downloads/ID/` until it is whole: finished files under their names, the one
that is coming as `.part`. So a download survives the end of the program at any moment, and nothing half done is ever
taken for a model (reported faults D01, D02, D03).
"""

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from layadesk.domain.downloads import DownloadState
from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import CardKind, FilePart, ModelCard, ModelFile
from layadesk.model_library.disk import disk_failure, process_lock
from layadesk.model_library.following_hash import FollowingHash
from layadesk.model_library.hub import Hub
from layadesk.model_library.library_disk import STAGING, LibraryDisk
from layadesk.model_library.partial_file import PartialFile, PartIdentity, bytes_here
from layadesk.model_library.safe_names import file_name
from layadesk.model_library.transfer import Remote, Transfer
from layadesk.model_library.web import Stop, Transient, host_of

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

RETRY_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)  # between tries that brought nothing; then it is left to the user
LOCK_S = 5.0
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class JobState:
    """What a download tells of itself. `trouble` is what it is waiting out."""

    state: DownloadState
    n_bytes_done: int
    n_bytes_total: int | None
    host: str = ""
    trouble: ErrorReport | None = None


@dataclass(slots=True)
class Staging:
    """The folder of one download."""

    folder: Path
    card: ModelCard
    file: ModelFile

    def place_of(self, part: FilePart) -> Path:
        """Where a part comes to lie: flat for an expert, as in the repository for a checkpoint."""
        name = part.path if self.card.kind is CardKind.ROUTER else file_name(part.path)
        return self.folder.joinpath(*name.split("/"))

    def n_bytes(self) -> int:
        """What is here already."""
        return sum(bytes_here(self.place_of(part)) for part in self.file.parts)


def staging_of(models_dir: Path, card: ModelCard, file: ModelFile) -> Staging:
    """Of that download, whether it is there or not. Ids are safe names; a quantization may hold anything."""
    kept = "".join(c if c.isalnum() or c in "-_." else "-" for c in file.quantization)
    return Staging(models_dir / STAGING / f"{card.model_id}--{kept}", card, file)


@dataclass(slots=True)
class DownloadJob:
    """Runs once, on a thread of its own; others may look at `now`. `reserved` are bytes that other downloads need."""

    card: ModelCard
    file: ModelFile
    hub: Hub
    disk: LibraryDisk
    stop: Stop
    reserved: Callable[[], int] = lambda: 0
    retry_s: Sequence[float] = RETRY_S
    _staging: Staging = field(init=False)
    _now: JobState = field(init=False)
    _n_done: int = 0
    _n_before: int = 0  # bytes of the parts that are done

    def __post_init__(self) -> None:
        self._staging = staging_of(self.disk.models_dir, self.card, self.file)
        self._now = JobState(DownloadState.LOOKING_UP, 0, self.file.size_bytes)

    @property
    def now(self) -> JobState:
        """Where it stands. Any thread."""
        return replace(self._now, n_bytes_done=self._n_done)

    def run(self) -> list[Path]:
        """Fetch all parts into the staging folder; their paths there, in order. Raises Stopped and LayaDeskErrors."""
        folder = self._staging.folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with process_lock(folder / _LOCK, timeout_s=LOCK_S):
                return self._run()
        except OSError as error:
            raise disk_failure(error, folder) from error
        except LayaDeskError as error:
            if error.code is ErrorCode.DATABASE_BUSY:  # the lock's own word for "somebody else"
                raise fail(ErrorCode.DOWNLOAD_ELSEWHERE, model_id=self.card.model_id) from error
            if error.code is ErrorCode.DISK_FULL:
                raise self._no_room() from error
            raise

    def _run(self) -> list[Path]:
        self._n_done = self._staging.n_bytes()
        missing = [part for part in self.file.parts if not self._is_done(part)]
        remotes: dict[FilePart, Remote] = {}
        for part in missing:
            remotes[part] = self._patiently(partial(self._look_up, part), lambda: 0)
        self._tell(n_bytes_total=self._whole(remotes))
        self._make_sure_of_room()
        for part in self.file.parts:
            place = self._staging.place_of(part)
            if part in remotes:
                self._fetch(remotes[part], place)
            self._n_before += place.stat().st_size
        self._n_done = self._n_before
        self._tell(state=DownloadState.CHECKING)
        return [self._staging.place_of(part) for part in self.file.parts]

    def _is_done(self, part: FilePart) -> bool:
        """A file without `.part` in the staging folder has been checked."""
        place = self._staging.place_of(part)
        return place.is_file() and part.size_bytes in (None, place.stat().st_size)

    def _look_up(self, part: FilePart) -> Remote:
        self._tell(host=host_of(self.hub.rules.address))
        remote = self.hub.look_up(self.card, self.file, part)
        self._tell(host=host_of(remote.url))
        return remote

    def _whole(self, remotes: Mapping[FilePart, Remote]) -> int | None:
        sizes = [
            remotes[part].size_bytes if part in remotes else bytes_here(self._staging.place_of(part))
            for part in self.file.parts
        ]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    def _make_sure_of_room(self) -> None:
        """Before the first byte: what is missing, what the others still need, and the reserve (reported fault D13)."""
        room = self.disk.room()
        if self._now.n_bytes_total is not None and room.free_bytes is not None and room.free_bytes < self._needed():
            raise self._no_room()

    def _needed(self) -> int:
        missing = (self._now.n_bytes_total or 0) - self._staging.n_bytes()
        return max(0, missing) + self.reserved() + self.disk.room().reserve_bytes

    def _no_room(self) -> LayaDeskError:
        room = self.disk.room()
        facts = {"needs_bytes": self._needed(), "free_bytes": room.free_bytes}
        return fail(ErrorCode.NO_ROOM_FOR_DOWNLOAD, path=room.models_dir, **facts)

    def _fetch(self, remote: Remote, place: Path) -> None:
        origin = f"{self.file.source}@{self.file.revision or 'main'}/{remote.path}"
        part = PartialFile(place, PartIdentity(origin, remote.size_bytes, remote.sha256))
        part.open()
        digest = FollowingHash(part.path)
        try:
            self._transfer(remote, part, digest)
            n_bytes = part.path.stat().st_size
            self._tell(state=DownloadState.CHECKING)
            found = digest.digest(n_bytes, self.stop)
        finally:
            digest.close()
        if found != remote.sha256:
            part.discard()
            facts = {"host": self._now.host, "file": remote.path, "value": found, "expected": remote.sha256}
            raise fail(ErrorCode.DOWNLOAD_DAMAGED, **facts)
        part.finish()

    def _transfer(self, remote: Remote, part: PartialFile, digest: FollowingHash) -> None:
        client = self.hub.client()
        try:
            transfer = Transfer(client, remote, part, self.hub.token(), self.stop)
            step = partial(transfer.receive, digest, self._on_bytes)
            self._patiently(step, lambda: part.path.stat().st_size)
        finally:
            client.close()

    def _patiently(self, step: Callable[[], ResultT], reached: Callable[[], int]) -> ResultT:
        """Try until it goes well, or until as many tries in a row as there are pauses have brought nothing new."""
        n_failed, before = 0, reached()
        while True:
            self.stop.check()
            try:
                result = step()
            except Transient as trouble:
                now = reached()
                n_failed = 1 if now > before else n_failed + 1
                before = now
                log.info("download of %s: %s (try %d)", self.card.model_id, trouble, n_failed)
                if n_failed > len(self.retry_s):
                    raise fail(trouble.report.code, **trouble.report.facts) from trouble
                self._tell(trouble=trouble.report)
                pause = self.retry_s[n_failed - 1]
                self.stop.wait(pause if trouble.retry_after_s is None else trouble.retry_after_s)
            else:
                self._tell(trouble=None)
                return result

    def _on_bytes(self, n_bytes: int) -> None:
        """For each piece that came, so it does next to nothing."""
        self._n_done = self._n_before + n_bytes
        if self._now.state is not DownloadState.RUNNING or self._now.trouble is not None:
            self._tell(state=DownloadState.RUNNING, trouble=None)

    def _tell(self, **changes: Any) -> None:
        self._now = replace(self._now, **changes)


def is_in_use(folder: Path) -> bool:
    """Whether a download is writing there now, in this process or another."""
    if not folder.is_dir():
        return False
    try:
        with process_lock(folder / _LOCK, timeout_s=0.0):
            return False
    except LayaDeskError as error:
        return error.code is ErrorCode.DATABASE_BUSY  # the lock's own word for "somebody else"


def discard_staging(models_dir: Path, card: ModelCard, file: ModelFile) -> None:
    """Delete what a download has left, unless somebody goes on with it; never raises."""
    folder = staging_of(models_dir, card, file).folder
    if is_in_use(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()  # when it was the last
