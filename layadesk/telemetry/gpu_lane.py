"""The GPU lane: a thread of its own, because a driver may block for seconds or for ever."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from layadesk.domain.hardware import GpuSample, Why, blank
from layadesk.telemetry.sensors import GpuReading, GpuSensor, Watched

log = logging.getLogger(__name__)

MIN_PERIOD_S = 0.25  # NVML holds a lock that GPU work needs too: never faster than 4 Hz (DESIGN §9.13)
STALE_AFTER_S = 2.0
_SAYS_LITTLE = frozenset({Why.NO_DRIVER, Why.NO_GPU})  # of one maker, where another's sensor knows more


@dataclass(frozen=True, slots=True)
class _Latest:
    at: float
    reading: GpuReading


class GpuLane:
    """Reads its sensors at its own pace; `latest` never waits for it. One `start`, one `stop`."""

    def __init__(
        self,
        sensors: Callable[[], Sequence[GpuSensor]],
        watched: Callable[[], Watched],
        *,
        clock: Callable[[], float],
        period_s: float,
    ) -> None:
        self._make = sensors
        self._watched = watched
        self._clock = clock
        self._period_s = period_s
        self._started_at = clock()
        self._latest: _Latest | None = None
        self._wants_reset = False
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="telemetry-gpu", daemon=True)

    def start(self) -> None:
        """Return at once."""
        self._thread.start()

    def stop(self, timeout_s: float) -> bool:
        """True when the thread has ended; one that hangs in a driver is left behind, it is a daemon."""
        self._stopped.set()
        self._wake.set()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def set_period(self, period_s: float) -> None:
        """From now on; any thread."""
        self._period_s = period_s
        self._wake.set()

    def reset(self) -> None:
        """The machine slept: sensors start anew at their next reading."""
        latest, now = self._latest, self._clock()
        if latest is not None:
            gpus = tuple(blank(gpu, Why.NOT_YET) for gpu in latest.reading.gpus)
            self._latest = _Latest(now, GpuReading(gpus, latest.reading.reason))
        self._started_at = now
        self._wants_reset = True

    def latest(self, now: float) -> GpuReading:
        """The last reading, or, when it is too old, its GPUs without figures."""
        latest = self._latest
        stale_s = max(STALE_AFTER_S, 3 * self._period_s)
        if latest is None:
            return GpuReading((), Why.NOT_YET if now - self._started_at < stale_s else Why.TIMEOUT)
        if now - latest.at > stale_s:
            gpus = tuple(blank(gpu, Why.TIMEOUT) for gpu in latest.reading.gpus)
            return GpuReading(gpus, Why.TIMEOUT)
        return latest.reading

    def _run(self) -> None:
        sensors = tuple(self._make())
        failed: set[GpuSensor] = set()
        while not self._stopped.is_set():
            self._wake.clear()
            if self._wants_reset:
                self._wants_reset = False
                for sensor in sensors:
                    sensor.reset()
            now = self._clock()
            reading = self._read(sensors, now, failed)
            self._latest = _Latest(now, reading)
            self._stopped.wait(MIN_PERIOD_S)  # however often the rate is changed
            self._wake.wait(max(self._period_s - MIN_PERIOD_S, 0.0))
        for sensor in sensors:
            sensor.close()

    def _read(self, sensors: Sequence[GpuSensor], now: float, failed: set[GpuSensor]) -> GpuReading:
        gpus: list[GpuSample] = []
        reasons: list[Why] = []
        for sensor in sensors:
            try:
                part = sensor.read(now, self._watched())
            except Exception:
                if sensor not in failed:
                    log.exception("%s failed", type(sensor).__name__)
                failed.add(sensor)
                part = GpuReading((), Why.UNREADABLE)
            gpus += part.gpus
            reasons += () if part.reason is None else (part.reason,)
        telling = [reason for reason in reasons if reason not in _SAYS_LITTLE]
        return GpuReading(tuple(gpus), None if gpus else next(iter((*telling, *reasons)), None))
