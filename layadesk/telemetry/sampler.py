"""Samples the machine a few times a second, tells subscribers, and keeps the last minute.

Two threads: `telemetry-host` reads files and makes the sample, `telemetry-gpu` talks to drivers (see `gpu_lane.py`).
What the GPU lane has not delivered for 2 s is None with Why.TIMEOUT; the RAM curve goes on.
"""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from layadesk.domain.hardware import HardwareSample, Why
from layadesk.protocol.feed import Feed
from layadesk.telemetry.gpu_lane import GpuLane
from layadesk.telemetry.sensors import HOST_FIELDS, GpuReading, GpuSensor, HostDraft, HostSensor, blank

log = logging.getLogger(__name__)

HISTORY_S = 75.0
DEFAULT_HZ = 2.0
MIN_HZ, MAX_HZ = 0.2, 10.0
_GAP_PERIODS = 3
_GAP_AT_LEAST_S = 2.0
_MAX_SAMPLES = 2000

Pid = Callable[[], int | None]


def sleep_clock() -> float:
    """Seconds that go on while the machine sleeps; `time.monotonic` stands still then on Linux and macOS."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    elif sys.platform == "darwin":  # noqa: RET505 - mypy checks each system's branch by itself
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    else:
        return time.monotonic()


def host_sensors(engine_pid: Pid, router_pid: Pid) -> tuple[HostSensor, ...]:
    """The sensors of this system; called on the host lane, because psutil is imported here."""
    children = (("engine_bytes", engine_pid), ("router_bytes", router_pid))
    if sys.platform == "linux":
        from layadesk.telemetry.linux_host import LinuxChildMemory, LinuxMemory, LinuxSwapRate  # noqa: PLC0415

        proc = Path("/proc")
        memory = LinuxMemory(proc, Path("/sys/fs/cgroup"))
        return (memory, LinuxSwapRate(proc), *(LinuxChildMemory(name, pid, proc) for name, pid in children))
    else:  # noqa: RET505 - mypy checks each system's branch by itself
        from layadesk.telemetry.psutil_host import PsutilChildMemory, PsutilMemory  # noqa: PLC0415

        return (PsutilMemory(), *(PsutilChildMemory(name, pid) for name, pid in children))


def gpu_sensors() -> tuple[GpuSensor, ...]:
    """One sensor for each maker; called on the GPU lane. AMD and Intel join here."""
    from layadesk.telemetry.nvml import NvmlSensor  # noqa: PLC0415

    return (NvmlSensor(),)


class Sampler:
    """`start` and `stop` from one thread; all else from any. `feed` is published on the host lane."""

    def __init__(
        self,
        engine_pid: Pid,
        router_pid: Pid,
        *,
        clock: Callable[[], float] = time.monotonic,
        clock_with_sleep: Callable[[], float] = sleep_clock,
        make_host_sensors: Callable[[], Sequence[HostSensor]] | None = None,
        make_gpu_sensors: Callable[[], Sequence[GpuSensor]] = gpu_sensors,
    ) -> None:
        self.feed: Feed[HardwareSample] = Feed()
        self._engine_pid = engine_pid
        self._clock = clock
        self._clock_with_sleep = clock_with_sleep
        self._make_host_sensors = make_host_sensors or (lambda: host_sensors(engine_pid, router_pid))
        self._make_gpu_sensors = make_gpu_sensors
        self._period_s = 1 / DEFAULT_HZ
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
        self._lane = GpuLane(self._make_gpu_sensors, self._engine_pid, clock=self._clock, period_s=self._period_s)
        self._lane.start()
        work = HostLane(self._make_host_sensors, self._lane, clock=self._clock, clock_with_sleep=self._clock_with_sleep)
        self._thread = threading.Thread(target=self._run, args=(work,), name="telemetry-host", daemon=True)
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
        self._thread = self._lane = None

    def set_rate(self, hz: float) -> None:
        """Samples a second, 0.2 to 10; GPUs at most 4. In force at once."""
        self._period_s = 1 / min(max(hz, MIN_HZ), MAX_HZ)
        if self._lane is not None:
            self._lane.set_period(self._period_s)
        self._wake.set()

    def history(self) -> tuple[HardwareSample, ...]:
        """At least the last minute, oldest first. A sample with every figure None marks a break."""
        with self._lock:
            return tuple(self._history)

    def _run(self, work: "HostLane") -> None:
        stopped, wake = self._stopped, self._wake
        while not stopped.is_set():
            wake.clear()
            began = time.monotonic()
            for sample in work.tick(self._period_s):
                self._remember(sample)
                self.feed.publish(sample)
            wake.wait(max(self._period_s - (time.monotonic() - began), 0.01))

    def _remember(self, sample: HardwareSample) -> None:
        with self._lock:
            self._history.append(sample)
            while self._history[0].taken_at < sample.taken_at - HISTORY_S:
                self._history.popleft()


class HostLane:
    """The work of one tick of the host lane."""

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
        self._failed: set[HostSensor] = set()

    def tick(self, period_s: float) -> tuple[HardwareSample, ...]:
        """A sample, and before it a break when more than three periods (and 2 s) have passed unseen."""
        if self._sensors is None:
            self._sensors = tuple(self._make_sensors())
        now, with_sleep = self._clock(), self._clock_with_sleep()
        before, self._before = self._before, (now, with_sleep)
        gap_s = max(_GAP_PERIODS * period_s, _GAP_AT_LEAST_S)
        if before is None or with_sleep - before[1] <= gap_s:
            return (self._sample(now, self._lane.latest(now)),)
        broken = _break((before[0] + now) / 2, self._lane.latest(now))
        for sensor in self._sensors:
            sensor.reset()
        self._lane.reset()
        return (broken, self._sample(now, self._lane.latest(now)))

    def _sample(self, now: float, gpus: GpuReading) -> HardwareSample:
        draft = HostDraft()
        for sensor in self._sensors or ():
            try:
                sensor.fill(draft, now)
            except OSError as error:
                log.debug("%s: %s", type(sensor).__name__, error)
                draft.reasons |= dict.fromkeys(sensor.fields, Why.UNREADABLE)
            except Exception:
                if sensor not in self._failed:
                    log.exception("%s failed", type(sensor).__name__)
                self._failed.add(sensor)
                draft.reasons |= dict.fromkeys(sensor.fields, Why.UNREADABLE)
        return draft.sample(now, gpus.gpus, gpus.reason)


def _break(at: float, gpus: GpuReading) -> HardwareSample:
    reasons = dict.fromkeys((*HOST_FIELDS, "gpus"), Why.SUSPENDED)
    return HardwareSample(at, gpus=tuple(blank(gpu, Why.SUSPENDED) for gpu in gpus.gpus), reasons=reasons)
