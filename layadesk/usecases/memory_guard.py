"""Warn before it hurts, and act before the system's OOM killer chooses: pause, offer, and as a last resort unload."""

import logging
import math
import threading
from collections import deque
from dataclasses import dataclass
from typing import Final

from layadesk.domain.alert_watch import CLEAR_AFTER_S, Alert, AlertWatch
from layadesk.domain.hardware import HardwareSample
from layadesk.domain.machine_alerts import OUT_OF_MEMORY, Severity
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.workers.engine_client import EngineClient

log = logging.getLogger(__name__)

LAST_RESORT_S: Final = 8.0  # of critical lack of memory while an expert computes
N_CTX_LEAST: Final = 1024
N_EPISODES_KEPT: Final = 200


@dataclass(frozen=True, slots=True)
class GuardState:
    """What is wrong, whether new answers wait because of it, and which experts were unloaded as a last resort."""

    alerts: tuple[Alert, ...] = ()
    is_pausing: bool = False
    unloaded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relief:
    """What can be done now: a context of new loads, a smaller expert, experts to unload. None and empty: nothing."""

    n_ctx: int | None = None
    smaller: str | None = None
    loaded: tuple[str, ...] = ()


class MemoryGuard:
    """Follows the samples on the telemetry thread. The rest from any."""

    def __init__(
        self,
        samples: Feed[HardwareSample],
        *,
        answers: AnswerRequest,
        engine: EngineClient,
        pool: ExpertPool,
        settings: Settings,
    ) -> None:
        self.feed: Feed[GuardState] = Feed()
        self._answers = answers
        self._engine = engine
        self._pool = pool
        self._settings = settings
        self._watch = AlertWatch()
        self._lock = threading.Lock()
        self._state = GuardState()
        self._acute_at = -math.inf
        self._critical_since: float | None = None
        self._episodes: deque[Alert] = deque(maxlen=N_EPISODES_KEPT)
        samples.subscribe(self._on_sample)

    @property
    def state(self) -> GuardState:
        """How it stands now."""
        return self._state

    def episodes(self) -> tuple[Alert, ...]:
        """All warnings since the start, as they were raised."""
        with self._lock:
            return tuple(self._episodes)

    def relief(self) -> Relief:
        """What the user can be offered."""
        loaded = tuple(self._engine.loaded)
        sizes = {model.model_id: model.size_bytes for model in self._pool.present()}
        largest = max((sizes.get(model_id, 0) for model_id in loaded), default=0)
        less = [model_id for model_id, size in sizes.items() if size < largest and model_id not in loaded]
        smaller = min(less, key=sizes.__getitem__, default=None)
        n_ctx = self._settings.get(definitions.N_CTX)
        return Relief(n_ctx // 2 if n_ctx // 2 >= N_CTX_LEAST else None, smaller, loaded)

    def shrink_context(self) -> None:
        """Halve the context of experts loaded from now on, and unload those in memory."""
        n_ctx = self.relief().n_ctx
        if n_ctx is not None:
            self._settings.set(definitions.N_CTX, n_ctx)
            self._pool.configure_engine()
        self.unload()

    def use_smaller(self) -> None:
        """Make a smaller expert the default, and unload those in memory."""
        smaller = self.relief().smaller
        if smaller is not None:
            self._settings.set(definitions.DEFAULT_EXPERT, smaller)
        self.unload()

    def unload(self) -> None:
        """Unload all experts; what they were writing ends as stopped, and its text is kept."""
        for model_id in tuple(self._engine.loaded):
            self._engine.unload(model_id)

    def acknowledge(self) -> None:
        """The user has read that experts were unloaded."""
        self._set(GuardState(self._state.alerts, self._state.is_pausing))

    def _on_sample(self, sample: HardwareSample) -> None:
        alerts = self._watch.take(sample)
        self._log(alerts)
        is_on = self._settings.get(definitions.GUARD_ENABLED)
        critical = [one for one in alerts if one.severity is Severity.CRITICAL and one.danger in OUT_OF_MEMORY]
        unloaded = self._state.unloaded
        is_acute = any(one.is_acute for one in critical)
        self._acute_at = sample.taken_at if is_acute else self._acute_at
        is_recent = sample.taken_at - self._acute_at < CLEAR_AFTER_S
        is_pausing = is_on and bool(critical) and is_recent and (sample.work.is_busy or self._state.is_pausing)
        if is_pausing and is_acute and (sample.work.n_running > 0 or sample.work.is_loading):
            self._critical_since = sample.taken_at if self._critical_since is None else self._critical_since
            if sample.taken_at - self._critical_since >= LAST_RESORT_S:
                unloaded = self._last_resort(critical)
        else:
            self._critical_since = None
        self._set(GuardState(alerts, is_pausing, unloaded))

    def _last_resort(self, critical: list[Alert]) -> tuple[str, ...]:
        self._critical_since = None
        loaded = tuple(self._engine.loaded)
        log.warning("unloading %s as a last resort: %s", ", ".join(loaded), ", ".join(one.danger for one in critical))
        self.unload()
        return loaded or self._state.unloaded

    def _set(self, state: GuardState) -> None:
        before, self._state = self._state, state
        if state.is_pausing and not before.is_pausing:
            self._answers.pause()
        elif before.is_pausing and not state.is_pausing:
            self._answers.resume()
        if state != before:
            self.feed.publish(state)

    def _log(self, alerts: tuple[Alert, ...]) -> None:
        known = {(alert.danger, alert.severity) for alert in self._state.alerts}
        for alert in alerts:
            if (alert.danger, alert.severity) not in known:
                log.info("machine: %s %s at %.3g", alert.danger, alert.severity.name.lower(), alert.value)
                with self._lock:
                    self._episodes.append(alert)
