"""One download in the list: what it fetches, how it is shown, and the job that is at it."""

import threading
from dataclasses import dataclass, field, replace

from layadesk.domain.downloads import Download, DownloadState, SpeedWindow
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.model_library.download_job import DownloadJob
from layadesk.model_library.web import Stop


@dataclass(slots=True)
class DownloadRow:
    """Under the lock of its list. `job` is None while nothing is fetched; `stop` and `thread` are those of the last."""

    card: ModelCard
    file: ModelFile
    shown: Download
    licence_accepted: bool
    stop: Stop = field(default_factory=Stop)
    thread: threading.Thread | None = None
    job: DownloadJob | None = None
    speed: SpeedWindow = field(default_factory=SpeedWindow)

    def look(self, at_s: float) -> Download:
        """As it is now, by its job where there is one."""
        if self.job is None:
            return self.shown
        now = self.job.now
        self.speed.add(at_s, now.n_bytes_done)
        left = None if now.n_bytes_total is None else max(0, now.n_bytes_total - now.n_bytes_done)
        runs = now.state is DownloadState.RUNNING
        self.shown = replace(
            self.shown,
            state=now.state,
            n_bytes_done=now.n_bytes_done,
            n_bytes_total=now.n_bytes_total,
            bytes_per_s=self.speed.bytes_per_s() if runs else None,
            remaining_s=self.speed.remaining_s(left) if runs else None,
            failure=now.trouble,
            host=now.host,
        )
        return self.shown

    def show(self, **changes: object) -> None:
        """What it is from now on, whatever its job says."""
        self.job = None
        self.shown = replace(self.shown, bytes_per_s=None, remaining_s=None, **changes)  # type: ignore[arg-type]
