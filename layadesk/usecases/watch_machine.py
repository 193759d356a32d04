"""What the window watches: the machine, the two children, and whether chats are being saved."""

from collections.abc import Mapping
from concurrent.futures import Future

from layadesk.domain.alert_watch import Alert
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.models import LoadedModel
from layadesk.domain.storage import StorageStatus
from layadesk.domain.worker_state import WorkerKind, WorkerStatus
from layadesk.protocol.events import EngineStats, ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.telemetry.sampler import Sampler
from layadesk.usecases.machine_history import MachineHistory
from layadesk.usecases.memory_guard import MemoryGuard
from layadesk.usecases.timeline import Band, Timeline
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient


class WatchResources:
    """Samples of RAM, swap and GPUs, and what was done meanwhile. Callbacks come on the telemetry thread."""

    def __init__(self, sampler: Sampler, timeline: Timeline, guard: MemoryGuard, past: MachineHistory) -> None:
        self._sampler = sampler
        self._past = past
        self._timeline = timeline
        self._guard = guard
        self.feed: Feed[HardwareSample] = sampler.feed

    def history(self) -> tuple[HardwareSample, ...]:
        """The samples of at least the last half hour, oldest first."""
        return self._sampler.history()

    def past(self) -> Future[tuple[HardwareSample, ...]]:
        """The half hour before this run, one figure a minute; see `MachineHistory.past`."""
        return self._past.past()

    def bands(self) -> tuple[Band, ...]:
        """What was done in the last half hour."""
        return self._timeline.bands()

    def episodes(self) -> tuple[Alert, ...]:
        """The warnings since the start, as they were raised."""
        return self._guard.episodes()

    def set_visible(self, visible: bool) -> None:
        """Sample less often while nobody looks."""
        self._sampler.set_visible(visible)


class WatchWorkers:
    """States of the engine and the router. Callbacks come on their client threads."""

    def __init__(self, engine: EngineClient, router: RouterClient) -> None:
        self._engine = engine
        self._router = router
        self.feed: Feed[WorkerStatus] = Feed()
        self.models: Feed[ModelLoading | ModelLoaded | ModelUnloaded] = engine.model_feed
        self.stats: Feed[EngineStats] = engine.stats_feed
        engine.status_feed.subscribe(self.feed.publish)
        router.status_feed.subscribe(self.feed.publish)

    def statuses(self) -> tuple[WorkerStatus, ...]:
        """Where both stand now."""
        return (self._engine.status, self._router.status)

    def loaded(self) -> Mapping[str, LoadedModel]:
        """The experts in memory by model id."""
        return self._engine.loaded

    def restart(self, worker: WorkerKind) -> None:
        """Start a child again that was given up, or replace a running one."""
        match worker:
            case WorkerKind.ENGINE:
                self._engine.restart()
            case WorkerKind.ROUTER:
                self._router.restart()


class WatchStorage:
    """Whether chats reach the disk. Callbacks come on the store's thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.feed: Feed[StorageStatus] = store.status_feed

    @property
    def status(self) -> StorageStatus:
        """How it stands now."""
        return self._store.status

    def retry(self) -> Future[StorageStatus]:
        """Try the disk again now; what is only in memory is written when it works."""
        return self._store.retry()
