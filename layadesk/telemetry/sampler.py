"""Samples the machine a few times a second, tells subscribers, and keeps half an hour.

Two threads: `telemetry-host` reads files and makes the sample, `telemetry-gpu` talks to drivers (see `gpu_lane.py`).
What the GPU lane has not delivered for 2 s is None with Why.TIMEOUT; the RAM curve goes on.
"""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence

from layadesk.domain.hardware import HardwareSample
from layadesk.protocol.feed import Feed
from layadesk.telemetry.gpu_lane import GpuLane
from layadesk.telemetry.host_lane import HostLane
from layadesk.telemetry.pace import Pace
from layadesk.telemetry.sensor_list import Observed, gpu_sensors, host_sensors
from layadesk.telemetry.sensors import GpuSensor, HostSensor, Watched

log = logging.getLogger(__name__)

HISTORY_S = 30 * 60.0 + 15.0
_MAX_SAMPLES = 10_000


def sleep_clock() -> float:
    """Seconds that go on while the machine sleeps; `time.monotonic` stands still then on Linux and macOS."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    elif sys.platform == "darwin":  # noqa: RET505 - mypy checks each system's branch by itself
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    else:
        return time.monotonic()


class Sampler:
    """`start` and `stop` from one thread; all else from any. `feed` is published on the host lane."""

    def __init__(
        self,
        observed: Observed,
        *,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.monotonic,
        clock_with_sleep: Callable[[], float] = sleep_clock,
        make_host_sensors: Callable[[], Sequence[HostSensor]] | None = None,
        make_gpu_sensors: Callable[[], Sequence[GpuSensor]] = gpu_sensors,
    ) -> None:
        self.feed: Feed[HardwareSample] = Feed()
        self._observed = observed
        self._pace = pace or Pace()
        self._clock = clock
        self._clock_with_sleep = clock_with_sleep
        self._make_host_sensors = make_host_sensors or (lambda: host_sensors(observed))
        self._make_gpu_sensors = make_gpu_sensors
        self._history: deque[HardwareSample] = deque(maxlen=_MAX_SAMPLES)
        self._lock = threading.Lock()
        self._lane: GpuLane | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._wake = threading.Event()

    def start(self) -> None:
        """Begin to sample; returns at once, before anything is imported. A second call does nothing."""
        if self._thread is not None:
            return
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._lane = GpuLane(self._make_gpu_sensors, self._watched, clock=self._clock, period_s=self._period_s())
        self._lane.start()
        lane = HostLane(self._make_host_sensors, self._lane, clock=self._clock, clock_with_sleep=self._clock_with_sleep)
        self._thread = threading.Thread(target=self._run, args=(lane,), name="telemetry-host", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Return within about a second, also when a driver hangs. The history stays."""
        thread, lane = self._thread, self._lane
        if thread is None or lane is None:
            return
        self._stopped.set()
        self._wake.set()
        if not lane.stop(0.5):
            log.warning("the GPU driver does not answer; its thread is left behind")
        if thread is not threading.current_thread():
            thread.join(1.0)
            if thread.is_alive():
                log.warning("a reading of the system does not return; its thread is left behind")
        self._thread = self._lane = None

    def set_visible(self, is_visible: bool) -> None:
        """Whether somebody looks; in force at once."""
        self._pace.is_visible = is_visible
        self.wake()

    def wake(self) -> None:
        """Take a sample now, and go on at the rate that fits what the engine is at."""
        if self._lane is not None:
            self._lane.set_period(self._period_s())
        self._wake.set()

    def history(self) -> tuple[HardwareSample, ...]:
        """At least the last half hour, oldest first. A sample with every figure None marks a break."""
        with self._lock:
            return tuple(self._history)

    def latest(self) -> HardwareSample | None:
        """The newest sample; None before the first."""
        with self._lock:
            return self._history[-1] if self._history else None

    def _watched(self) -> Watched:
        work = self._observed.work()
        return Watched(self._observed.engine_pid(), is_loading=work.is_loading, is_busy=work.is_busy)

    def _period_s(self) -> float:
        return self._pace.period_s(self._clock(), is_busy=self._observed.work().is_busy)

    def _run(self, host: HostLane) -> None:
        stopped, wake, lane = self._stopped, self._wake, self._lane
        while not stopped.is_set():
            wake.clear()
            began = time.monotonic()
            period_s = self._period_s()
            if lane is not None:
                lane.set_period(period_s)
            for sample in host.tick(period_s, self._observed.work(), self._pace.slowed_by_ms):
                self._remember(sample)
                self.feed.publish(sample)
            took_s = time.monotonic() - began
            self._pace.took(took_s, period_s)
            wake.wait(max(period_s - took_s, 0.01))

    def _remember(self, sample: HardwareSample) -> None:
        with self._lock:
            self._history.append(sample)
            while self._history[0].taken_at < sample.taken_at - HISTORY_S:
                self._history.popleft()
