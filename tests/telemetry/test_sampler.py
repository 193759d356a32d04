"""The sampler: two lanes, a steady rate, a minute of history, and curves that break where time was lost."""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layadesk.domain.hardware import HOST_FIELDS, EngineWork, HardwareSample, Why
from layadesk.telemetry import gpu_lane
from layadesk.telemetry.amdgpu import AmdSensor
from layadesk.telemetry.gpu_lane import GpuLane
from layadesk.telemetry.host_lane import HostLane
from layadesk.telemetry.nvml import NvmlSensor
from layadesk.telemetry.pace import Pace
from layadesk.telemetry.sampler import HISTORY_S, Sampler, sleep_clock
from layadesk.telemetry.sensor_list import Observed
from layadesk.telemetry.sensors import Watched
from tests.fakes.nvml_library import FakeDriver
from tests.fakes.roots import break_file, make_amd_card
from tests.fakes.sensors import FakeClock, FakeGpus, FakeHost

REPO = Path(__file__).resolve().parents[2]
WAIT_S = 10.0
NOBODY = Observed(lambda: None, lambda: None)


def fast() -> Pace:
    """Ten samples a second, whatever happens."""
    return Pace(idle_hz=10, busy_hz=10, hidden_hz=10)


class Bench:
    """A sampler on fakes, with its samples in a queue."""

    def __init__(self) -> None:
        self.host = FakeHost()
        self.gpus = FakeGpus()
        self.samples: queue.SimpleQueue[HardwareSample] = queue.SimpleQueue()
        self.work = EngineWork()
        self.sampler = Sampler(
            Observed(lambda: 7, lambda: 8, work=lambda: self.work),
            pace=fast(),
            make_host_sensors=lambda: [self.host],
            make_gpu_sensors=lambda: [self.gpus],
        )
        self.sampler.feed.subscribe(self.samples.put)

    def sample(self) -> HardwareSample:
        """The next one."""
        return self.samples.get(timeout=WAIT_S)

    def sample_where(self, fits: Callable[[HardwareSample], bool]) -> HardwareSample:
        """The next one that fits, of the next hundred."""
        for _ in range(100):
            sample = self.sample()
            if fits(sample):
                return sample
        pytest.fail("no such sample came")


def has_gpu_figures(sample: HardwareSample) -> bool:
    """The GPU lane has delivered."""
    return bool(sample.gpus) and sample.gpus[0].vram_used_bytes is not None


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(gpu_lane, "STALE_AFTER_S", 0.5)
    made = Bench()
    yield made
    made.gpus.answer()
    made.sampler.stop()


class Lanes:
    """Both lanes without threads, on clocks of the test."""

    def __init__(self) -> None:
        self.host = FakeHost()
        self.clock = FakeClock()
        self.with_sleep = FakeClock(5000.0)
        self.gpu_lane = GpuLane(list, Watched, clock=self.clock, period_s=0.5)
        self.lane = HostLane(lambda: [self.host], self.gpu_lane, clock=self.clock, clock_with_sleep=self.with_sleep)

    def tick(self, awake_s: float, asleep_s: float = 0.0) -> tuple[HardwareSample, ...]:
        """What one tick makes, that much later."""
        self.clock.now += awake_s
        self.with_sleep.now += awake_s + asleep_s
        return self.lane.tick(0.5)


# ---- importing and starting


def test_importing_the_room_brings_in_nothing_heavy() -> None:
    code = (
        "import sys, layadesk.telemetry.sampler\n"
        "bad = {'psutil', 'pynvml', 'numpy', 'ctypes'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPO, timeout=60)


def test_samples_come_by_themselves_and_are_kept(bench: Bench) -> None:
    bench.sampler.start()
    bench.sampler.start()  # a second start is no second sampler
    samples = [bench.sample() for _ in range(4)]
    assert [sample.ram_available_bytes for sample in samples] == [1, 2, 3, 4]
    assert bench.sampler.history()[:4] == tuple(samples)
    assert [sample.taken_at for sample in samples] == sorted(sample.taken_at for sample in samples)


def test_gpus_join_the_sample_when_their_lane_has_read_them(bench: Bench) -> None:
    bench.gpus.hang()
    bench.sampler.start()
    first = bench.sample()
    assert (first.gpus, first.reasons["gpus"]) == ((), Why.NOT_YET)
    bench.gpus.answer()
    sample = bench.sample_where(has_gpu_figures)
    assert "gpus" not in sample.reasons
    assert sample.gpus[0].engine_bytes == 7


def test_a_gpu_sensor_without_gpus_gives_its_reason(bench: Bench) -> None:
    bench.gpus.reason = Why.NO_DRIVER
    bench.sampler.start()
    sample = bench.sample_where(lambda one: one.reasons["gpus"] != Why.NOT_YET)
    assert (sample.gpus, sample.reasons["gpus"]) == ((), Why.NO_DRIVER)


def test_stopping_ends_both_threads_and_lets_go_of_the_driver(bench: Bench) -> None:
    bench.sampler.start()
    bench.sample()
    assert bench.gpus.has_read.acquire(timeout=WAIT_S)
    bench.sampler.stop()
    bench.sampler.stop()
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("telemetry")]
    assert bench.gpus.n_closes == 1
    assert bench.sampler.history()


def test_a_stopped_sampler_starts_again(bench: Bench) -> None:
    bench.sampler.start()
    bench.sample()
    bench.sampler.stop()
    n_before = bench.host.n_fills
    bench.sampler.start()
    first = bench.sample_where(lambda sample: sample.ram_available_bytes == n_before + 2)
    assert first in bench.sampler.history()


# ---- a hung or broken driver


def test_a_driver_that_hangs_loses_its_figures_and_the_ram_curve_goes_on(bench: Bench) -> None:
    bench.sampler.start()
    bench.sample_where(has_gpu_figures)
    bench.gpus.hang()
    n_before = bench.host.n_fills
    sample = bench.sample_where(lambda one: not has_gpu_figures(one))
    assert sample.gpus[0].gpu_id == "GPU-1"
    assert sample.gpus[0].reasons["vram_used_bytes"] == sample.reasons["gpus"] == Why.TIMEOUT
    assert sample.ram_available_bytes is not None
    assert bench.host.n_fills >= n_before + 3  # the RAM curve went on meanwhile
    bench.gpus.answer()
    bench.sample_where(has_gpu_figures)


@pytest.mark.logs_warnings
def test_a_driver_that_hangs_does_not_hold_up_the_end(bench: Bench) -> None:
    bench.gpus.hang()
    bench.sampler.start()
    bench.sample()
    ended = threading.Event()

    def end() -> None:
        bench.sampler.stop()
        ended.set()

    threading.Thread(target=end, daemon=True).start()
    assert ended.wait(WAIT_S)


def test_a_real_native_call_that_hangs_does_not_stop_the_ram_curve(
    driver: FakeDriver, sensor: NvmlSensor, bench: Bench
) -> None:
    driver.set({"delay_us.nvmlDeviceGetUtilizationRates": 900_000})
    sampler = Sampler(NOBODY, pace=fast(), make_host_sensors=lambda: [bench.host], make_gpu_sensors=lambda: [sensor])
    sampler.feed.subscribe(bench.samples.put)
    sampler.start()
    sample = bench.sample_where(lambda one: one.reasons["gpus"] != Why.NOT_YET)
    assert sample.reasons["gpus"] == Why.TIMEOUT
    assert bench.host.n_fills >= 3
    driver.set({"delay_us.nvmlDeviceGetUtilizationRates": 0})
    bench.sample_where(has_gpu_figures)
    sampler.stop()


def test_a_gpu_sensor_that_breaks_is_reported_once_and_tried_on(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.gpus.error = ZeroDivisionError("in a sensor")
    bench.sampler.start()
    for _ in range(3):
        assert bench.gpus.has_read.acquire(timeout=WAIT_S)
    assert caplog.text.count("FakeGpus failed") == 1
    bench.gpus.error = None
    bench.sample_where(has_gpu_figures)


def test_a_host_sensor_that_breaks_is_reported_once_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    lanes = Lanes()
    lanes.host.error = ZeroDivisionError("in a sensor")
    for _ in range(3):
        (sample,) = lanes.tick(0.5)
        assert (sample.ram_total_bytes, sample.reasons["ram_total_bytes"]) == (None, Why.UNREADABLE)
    assert caplog.text.count("FakeHost failed") == 1


def test_a_file_that_cannot_be_read_is_a_reason_and_no_log_line() -> None:
    lanes = Lanes()
    lanes.host.error = PermissionError("no")
    (sample,) = lanes.tick(0.5)
    assert sample.reasons["ram_available_bytes"] == Why.UNREADABLE
    lanes.host.error = None
    assert lanes.tick(0.5)[0].ram_available_bytes == 2


# ---- time


def test_a_suspend_breaks_the_curve_and_forgets_what_rates_are_made_of() -> None:
    lanes = Lanes()
    lanes.tick(0.0)
    assert len(lanes.tick(0.5)) == 1
    broken, after = lanes.tick(0.5, asleep_s=7200.0)
    assert all(getattr(broken, name) is None for name in HOST_FIELDS)
    assert set(broken.reasons.values()) == {Why.SUSPENDED}
    assert (lanes.clock.now - 0.5) < broken.taken_at < after.taken_at
    assert after.ram_total_bytes == 1000
    assert lanes.host.n_resets == 1
    assert len(lanes.tick(0.5)) == 1


def test_a_stall_of_the_whole_process_breaks_the_curve_too() -> None:
    lanes = Lanes()
    lanes.tick(0.0)
    assert len(lanes.tick(1.9)) == 1  # a late tick is no gap
    assert len(lanes.tick(2.1)) == 2


def test_gpus_keep_their_place_through_a_suspend_and_their_driver_is_opened_anew(bench: Bench) -> None:
    with_sleep = FakeClock()
    sampler = Sampler(
        NOBODY,
        pace=fast(),
        clock_with_sleep=lambda: sleep_clock() + with_sleep.now,
        make_host_sensors=lambda: [bench.host],
        make_gpu_sensors=lambda: [bench.gpus],
    )
    sampler.feed.subscribe(bench.samples.put)
    sampler.start()
    bench.sample_where(has_gpu_figures)
    with_sleep.now += 7200
    broken = bench.sample_where(lambda sample: sample.ram_total_bytes is None)
    assert [gpu.gpu_id for gpu in broken.gpus] == ["GPU-1"]
    assert broken.gpus[0].reasons["vram_used_bytes"] == Why.SUSPENDED
    assert [gpu.gpu_id for gpu in bench.sample().gpus] == ["GPU-1"]
    bench.sample_where(has_gpu_figures)
    sampler.stop()
    assert bench.gpus.n_resets >= 1


def test_the_history_holds_half_an_hour_and_no_more_than_it_must() -> None:
    lanes = Lanes()
    sampler = Sampler(NOBODY)
    for _ in range(4000):
        for sample in lanes.tick(0.5):
            sampler._remember(sample)
    history = sampler.history()
    assert 1800 < history[-1].taken_at - history[0].taken_at <= HISTORY_S
    assert sampler.latest() is history[-1]


def test_reasons_that_stay_the_same_are_kept_once_for_all_samples() -> None:
    lanes = Lanes()
    first, second = (*lanes.tick(0.5), *lanes.tick(0.5))
    assert first.reasons == second.reasons
    assert first.reasons is second.reasons
    lanes.host.error = PermissionError("no")
    (third,) = lanes.tick(0.5)
    assert third.reasons != first.reasons


def test_a_request_makes_samples_more_frequent_and_ten_seconds_after_it_they_are_seldom_again() -> None:
    pace = Pace()
    assert pace.period_s(0.0, is_busy=False) == 0.5
    assert pace.period_s(1.0, is_busy=True) == 0.25
    assert pace.period_s(10.9, is_busy=False) == 0.25
    assert pace.period_s(11.1, is_busy=False) == 0.5
    pace.is_visible = False
    assert pace.period_s(12.0, is_busy=True) == 1.0


def test_a_reading_that_takes_long_slows_the_sampling_and_says_so_until_it_is_quick_again() -> None:
    pace = Pace()
    for seconds in (0.15, 0.001, 0.15, 0.001):  # one alone, when all cores are taken
        pace.took(seconds, 0.5)
        assert (pace.period_s(0.0, is_busy=False), pace.slowed_by_ms) == (0.5, None)
    pace.took(0.15, 0.5)
    pace.took(0.18, 0.5)
    assert (pace.period_s(0.0, is_busy=False), pace.slowed_by_ms) == (1.0, 180.0)
    pace.took(0.3, 1.0)
    assert pace.period_s(0.0, is_busy=False) == 2.0
    for _ in range(10):
        pace.took(5.0, pace.period_s(0.0, is_busy=False))
    assert pace.period_s(0.0, is_busy=False) == 5.0  # never slower than that
    for _ in range(200):
        pace.took(0.001, pace.period_s(0.0, is_busy=False))
    assert (pace.period_s(0.0, is_busy=False), pace.slowed_by_ms) == (0.5, None)


def test_a_sample_tells_what_the_engine_is_at_and_what_it_cost(bench: Bench) -> None:
    bench.work = EngineWork(n_running=1, decode_tps=61.0)
    bench.sampler.start()
    sample = bench.sample()
    assert sample.work == bench.work
    assert sample.took_ms is not None
    assert sample.wall_at > 1e9


def test_whoever_begins_to_look_gets_a_sample_at_once() -> None:
    samples: queue.SimpleQueue[HardwareSample] = queue.SimpleQueue()
    sampler = Sampler(NOBODY, pace=Pace(hidden_hz=0.2), make_host_sensors=lambda: [FakeHost()], make_gpu_sensors=list)
    sampler.set_visible(False)
    sampler.feed.subscribe(samples.put)
    sampler.start()
    first = samples.get(timeout=WAIT_S)
    sampler.set_visible(True)
    assert samples.get(timeout=WAIT_S).taken_at - first.taken_at < 4
    sampler.stop()


def test_the_gpu_lane_is_slower_than_four_a_second_however_often_it_is_woken(bench: Bench) -> None:
    bench.sampler.start()
    for _ in range(12):
        bench.sampler.wake()
        bench.sample()
    first, last = bench.sampler.history()[0].taken_at, bench.sampler.history()[-1].taken_at
    assert bench.gpus.n_reads <= (last - first) * 4 + 2


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe in the file system")
def test_a_file_of_the_gpu_whose_reading_hangs_does_not_stop_the_ram_curve(bench: Bench, tmp_path: Path) -> None:
    card = make_amd_card(tmp_path / "sys")
    break_file(card / "gpu_busy_percent", "hang")
    sensor = AmdSensor(sys_root=tmp_path / "sys", proc_root=tmp_path / "proc")
    sampler = Sampler(NOBODY, pace=fast(), make_host_sensors=lambda: [bench.host], make_gpu_sensors=lambda: [sensor])
    sampler.feed.subscribe(bench.samples.put)
    sampler.start()
    sample = bench.sample_where(lambda one: one.reasons["gpus"] != Why.NOT_YET)
    assert sample.reasons["gpus"] == Why.TIMEOUT
    assert sample.ram_available_bytes is not None
    for _ in range(3):
        assert bench.sample().ram_available_bytes is not None
    (card / "gpu_busy_percent").write_text("37\n", encoding="ascii")  # lets the reader go
    break_file(card / "gpu_busy_percent", "missing")
    bench.sample_where(lambda one: bool(one.gpus))
    sampler.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the real /proc")
def test_this_machine_is_sampled_as_it_is() -> None:
    samples: queue.SimpleQueue[HardwareSample] = queue.SimpleQueue()
    sampler = Sampler(Observed(os.getpid, lambda: None), pace=fast())
    sampler.feed.subscribe(samples.put)
    sampler.start()
    sample = samples.get(timeout=WAIT_S)
    sampler.stop()
    assert sample.ram_total_bytes
    assert sample.engine_bytes
    assert (sample.router_bytes, sample.reasons["router_bytes"]) == (None, Why.NOT_RUNNING)
    assert sample.gpus or sample.reasons["gpus"]
