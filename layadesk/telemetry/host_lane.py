"""The work of one tick of the host lane: read the sensors, join the GPUs, notice lost time."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence

from layadesk.domain.hardware import HOST_FIELDS, EngineWork, HardwareSample, Why, blank
from layadesk.telemetry.gpu_lane import GpuLane
from layadesk.telemetry.sensors import GpuReading, HostDraft, HostSensor

log = logging.getLogger(__name__)

_GAP_PERIODS = 3
_GAP_AT_LEAST_S = 2.0


class HostLane:
    """One thread. Sensors are made at the first tick."""

    def __init__(
        self,
        make_sensors: Callable[[], Sequence[HostSensor]],
        lane: GpuLane,
        *,
        clock: Callable[[], float],
        clock_with_sleep: Callable[[], float],
    ) -> None:
        self._make_sensors = make_sensors
        self._sensors: tuple[HostSensor, ...] | None = None
        self._lane = lane
        self._clock = clock
        self._clock_with_sleep = clock_with_sleep
        self._before: tuple[float, float] | None = None
        self._reasons: Mapping[str, str] | None = None
        self._failed: set[HostSensor] = set()

    def tick(
        self,
        period_s: float,
        work: EngineWork = EngineWork(),  # noqa: B008 - frozen
        slowed_by_ms: float | None = None,
    ) -> tuple[HardwareSample, ...]:
        """A sample, and before it a break when more than three periods (and 2 s) have passed unseen."""
        if self._sensors is None:
            self._sensors = tuple(self._make_sensors())
        now, with_sleep = self._clock(), self._clock_with_sleep()
        before, self._before = self._before, (now, with_sleep)
        gap_s = max(_GAP_PERIODS * period_s, _GAP_AT_LEAST_S)
        if before is None or with_sleep - before[1] <= gap_s:
            return (self._sample(now, work, slowed_by_ms),)
        broken = _break((before[0] + now) / 2, self._lane.latest(now))
        for sensor in self._sensors:
            sensor.reset()
        self._lane.reset()
        return (broken, self._sample(now, work, slowed_by_ms))

    def _sample(self, now: float, work: EngineWork, slowed_by_ms: float | None) -> HardwareSample:
        gpus = self._lane.latest(now)
        began = time.thread_time()
        draft = HostDraft()
        for sensor in self._sensors or ():
            self._fill(sensor, draft, now)
        sample = draft.sample(
            now,
            gpus.gpus,
            gpus.reason,
            before=self._reasons,
            wall_at=time.time(),
            work=work,
            took_ms=(time.thread_time() - began) * 1000,
            slowed_by_ms=slowed_by_ms,
        )
        self._reasons = sample.reasons
        return sample

    def _fill(self, sensor: HostSensor, draft: HostDraft, now: float) -> None:
        try:
            sensor.fill(draft, now)
        except OSError as error:
            log.debug("%s: %s", type(sensor).__name__, error)
            draft.lack(Why.UNREADABLE, *sensor.fields)
        except Exception:
            if sensor not in self._failed:
                log.exception("%s failed", type(sensor).__name__)
            self._failed.add(sensor)
            draft.lack(Why.UNREADABLE, *sensor.fields)


def _break(at: float, gpus: GpuReading) -> HardwareSample:
    reasons = dict.fromkeys((*HOST_FIELDS, "gpus"), Why.SUSPENDED)
    return HardwareSample(at, gpus=tuple(blank(gpu, Why.SUSPENDED) for gpu in gpus.gpus), reasons=reasons)
