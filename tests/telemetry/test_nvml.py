"""NVIDIA GPUs on a compiled stand-in: right figures, honest gaps, few calls (reported faults I04-I15)."""

import ctypes
from pathlib import Path

import pytest

from layadesk.domain.hardware import GPU_FIELDS, GpuKind, GpuSample, Throttle, Why
from layadesk.telemetry.nvml import NvmlSensor
from layadesk.telemetry.sensors import Watched
from tests.fakes.nvml_library import FakeDriver, put_in_place
from tests.fakes.nvml_module import FakePynvml, process
from tests.fakes.roots import MIB, make_nvidia_pci, write

PID = 4242


def one(sensor: NvmlSensor, now: float = 0.0, pid: int | None = PID) -> GpuSample:
    """The only GPU."""
    (gpu,) = sensor.read(now, Watched(pid)).gpus
    return gpu


NOT_NVML = {"shared_total_bytes", "shared_used_bytes", "engine_shared_bytes", "evicted_bytes"}
IDLE = {"pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s"}  # read in loads only


def reasons(gpu: GpuSample) -> dict[str, str]:
    """Why figures are not there that could be."""
    return {name: why for name, why in gpu.reasons.items() if name not in NOT_NVML | IDLE}


def all_gone(gpu: GpuSample, why: Why) -> bool:
    """Nothing is known of it, and that is why."""
    return all(getattr(gpu, name) is None for name in GPU_FIELDS) and set(gpu.reasons.values()) == {why}


def on(library: FakePynvml) -> NvmlSensor:
    """A sensor that is given that module, and no machine around it."""
    nowhere = Path("no/such/folder")
    return NvmlSensor(load=lambda: library, sys_root=nowhere, proc_root=nowhere, platform="linux")


# ---- figures


def test_a_gpu_is_described_in_bytes_watts_percent_and_degrees(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.used": 17408 * MIB, "gpu0.util": 97, "gpu0.power_mw": 312_500, "gpu0.temp": 71})
    driver.set({"gpu0.compute": f"{PID}:{17000 * MIB},777:NA", "gpu0.memutil": 88, "gpu0.power_limit_mw": 450_000})
    driver.set({"gpu0.throttle": 0x4 | 0x20})
    gpu = one(sensor)
    assert gpu == GpuSample(
        gpu_id="GPU-00000000-0000-0000-0000-000000000000",
        name="NVIDIA GeForce RTX 4090",
        vram_total_bytes=24564 * MIB,
        vram_used_bytes=17408 * MIB,
        vram_reserved_bytes=451 * MIB,
        engine_bytes=17000 * MIB,
        utilization_percent=97.0,
        power_watts=312.5,
        temperature_celsius=71.0,
        kind=GpuKind.DISCRETE,
        memory_busy_percent=88.0,
        power_limit_watts=450.0,
        throttle=(Throttle.THERMAL, Throttle.POWER_CAP),
        bandwidth_bytes_per_s=2e6 * 10501 * 384 / 8,
        source="nvml",
        reasons=gpu.reasons,
    )
    assert reasons(gpu) == {}


@pytest.mark.parametrize(
    ("bits", "expected"),
    [(0x0, ()), (0x1, ()), (0x80, (Throttle.POWER_BRAKE,)), (0x8 | 0x40, (Throttle.THERMAL, Throttle.HARDWARE))],
)
def test_why_a_gpu_is_slowed_down_is_told(
    driver: FakeDriver, sensor: NvmlSensor, bits: int, expected: tuple[Throttle, ...]
) -> None:
    driver.set({"gpu0.throttle": bits})
    assert one(sensor).throttle == expected


def test_traffic_on_the_bus_is_read_once_a_second_and_only_while_an_expert_loads(
    driver: FakeDriver, sensor: NvmlSensor
) -> None:
    driver.set({"gpu0.pcie_rx_kb": 2048, "gpu0.pcie_tx_kb": 1})
    gpu = one(sensor, 0.0)
    assert (gpu.pcie_rx_bytes_per_s, gpu.reasons["pcie_rx_bytes_per_s"]) == (None, Why.ONLY_IN_LOADS)
    assert "nvmlDeviceGetPcieThroughput" not in driver.calls()  # monitoring.md: it blocks for 40 ms
    for now in (1.0, 1.25, 1.5, 1.75):
        (gpu,) = sensor.read(now, Watched(PID, is_loading=True)).gpus
        assert (gpu.pcie_rx_bytes_per_s, gpu.pcie_tx_bytes_per_s) == (2.0**21, 1024.0)
    assert driver.calls().count("nvmlDeviceGetPcieThroughput") == 2
    assert one(sensor, 2.0).pcie_rx_bytes_per_s is None


def test_below_wsl2_a_load_that_has_never_moved_is_not_known(driver: FakeDriver, tmp_path: Path) -> None:
    write(tmp_path / "sys/kernel/osrelease", "6.6.87.2-microsoft-standard-WSL2")
    sensor = NvmlSensor(sys_root=tmp_path, proc_root=tmp_path, platform="linux")  # nvtop #109, WSL #7162
    driver.set({"gpu0.util": 0})
    assert (one(sensor).utilization_percent, one(sensor).reasons["utilization_percent"]) == (None, Why.WSL_BLIND)
    driver.set({"gpu0.util": 5})
    assert one(sensor).utilization_percent == 5.0
    driver.set({"gpu0.util": 0})
    assert one(sensor).utilization_percent == 0.0
    sensor.close()


def test_figures_follow_the_driver(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.used": 1000 * MIB})
    assert one(sensor, 0.0).vram_used_bytes == 1000 * MIB
    driver.set({"gpu0.used": 9000 * MIB, "gpu0.temp": 80})
    assert one(sensor, 0.5).vram_used_bytes == 9000 * MIB
    assert one(sensor, 0.5).temperature_celsius == 40.0  # read every 2 s only
    assert one(sensor, 2.1).temperature_celsius == 80.0


def test_an_old_driver_without_versioned_calls_gives_what_it_can(
    old_nvml_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(old_nvml_library, monkeypatch)
    driver = FakeDriver(tmp_path, monkeypatch)
    driver.set({"gpu0.used": 1000 * MIB})
    sensor = NvmlSensor(sys_root=tmp_path, proc_root=tmp_path, platform="linux")
    gpu = one(sensor)
    sensor.close()
    assert gpu.vram_used_bytes == 1451 * MIB  # the reserved part is inside and cannot be told apart
    assert (gpu.vram_reserved_bytes, gpu.engine_bytes) == (None, None)
    assert {"vram_reserved_bytes": Why.UNSUPPORTED, "engine_bytes": Why.UNSUPPORTED}.items() <= reasons(gpu).items()


@pytest.mark.parametrize(
    ("memory", "used"),
    [
        ({"total": 100, "reserved": 10, "used": 40, "free": 50}, 40),  # total = reserved + used + free
        ({"total": 100, "reserved": 10, "used": 50, "free": 50}, 40),  # total = used + free: reserved is inside
        ({"total": 100, "reserved": 0, "used": 50, "free": 50}, 50),
    ],
)
def test_used_memory_never_contains_what_the_driver_reserves(memory: dict[str, int], used: int) -> None:
    gpu = one(on(FakePynvml(**memory)))  # reported fault I08, monitoring row 1
    assert (gpu.vram_used_bytes, gpu.vram_reserved_bytes) == (used, memory["reserved"])


@pytest.mark.parametrize("field", ["total", "used", "free", "reserved"])
def test_a_value_of_all_ones_is_no_value(field: str) -> None:
    gpu = one(on(FakePynvml(**{field: 2**64 - 1})))
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes) == (None, None)
    assert gpu.reasons["vram_used_bytes"] == Why.BAD_VALUE


def test_more_used_than_there_is_is_no_value() -> None:
    gpu = one(on(FakePynvml(used=500, free=0)))
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes) == (100, None)
    assert gpu.reasons["vram_used_bytes"] == Why.BAD_VALUE


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [
        ("gpu0.util", 150, "utilization_percent"),
        ("gpu0.power_mw", 2**32 - 1, "power_watts"),
        ("gpu0.temp", 2**32 - 1, "temperature_celsius"),
        ("gpu0.compute", f"{PID}:{2**60}", "engine_bytes"),
    ],
)
def test_an_impossible_figure_is_no_figure(
    driver: FakeDriver, sensor: NvmlSensor, key: str, value: object, name: str
) -> None:
    driver.set({key: value})
    gpu = one(sensor)
    assert getattr(gpu, name) is None
    assert reasons(gpu) == {name: Why.BAD_VALUE}


@pytest.mark.parametrize(
    ("function", "code", "name", "why"),
    [
        ("nvmlDeviceGetUtilizationRates", 3, "utilization_percent", Why.UNSUPPORTED),
        ("nvmlDeviceGetPowerUsage", 3, "power_watts", Why.UNSUPPORTED),
        ("nvmlDeviceGetPowerUsage", 4, "power_watts", Why.NO_PERMISSION),
        ("nvmlDeviceGetTemperature", 3, "temperature_celsius", Why.UNSUPPORTED),
        ("nvmlDeviceGetComputeRunningProcesses_v3", 4, "engine_bytes", Why.NO_PERMISSION),
        ("nvmlDeviceGetUtilizationRates", 10, "utilization_percent", Why.TIMEOUT),
        ("nvmlDeviceGetUtilizationRates", 77, "utilization_percent", Why.UNREADABLE),
    ],
)
def test_one_figure_that_is_refused_costs_only_itself(
    driver: FakeDriver, sensor: NvmlSensor, function: str, code: int, name: str, why: Why
) -> None:
    driver.set({f"gpu0.err.{function}": code})
    gpu = one(sensor)
    assert getattr(gpu, name) is None
    both = {"memory_busy_percent": why} if name == "utilization_percent" else {}  # one call tells both
    assert reasons(gpu) == {name: why} | both
    assert gpu.vram_total_bytes == 24564 * MIB


def test_a_gpu_with_unified_memory_has_no_memory_figures_and_says_so(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"err.nvmlDeviceGetMemoryInfo": 3, "err.nvmlDeviceGetMemoryInfo_v2": 3})  # reported fault I07
    gpu = one(sensor)
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes, gpu.utilization_percent) == (None, None, 0.0)
    assert (gpu.kind, gpu.reasons["vram_total_bytes"]) == (GpuKind.UNIFIED, Why.UNIFIED)


def test_a_gpu_that_is_cut_into_instances_is_as_large_as_those_that_may_be_seen() -> None:
    library = FakePynvml()  # monitoring row 10
    library.instances = [
        {"total": 20 * MIB, "used": 8 * MIB, "free": 12 * MIB, "reserved": 0},
        {"total": 10 * MIB, "used": MIB, "free": 9 * MIB, "reserved": 0},
    ]
    gpu = one(on(library))
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes, gpu.kind) == (30 * MIB, 9 * MIB, GpuKind.DISCRETE)
    assert not {"vram_total_bytes", "vram_used_bytes"} & set(gpu.reasons)


# ---- the engine's share


def test_a_process_in_both_lists_is_counted_once(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.compute": f"{PID}:{500 * MIB}", "gpu0.graphics": f"{PID}:{300 * MIB},9:{MIB}"})
    assert one(sensor).engine_bytes == 500 * MIB


def test_an_engine_that_is_not_on_the_gpu_has_none_of_it(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.compute": f"9:{MIB}"})
    assert one(sensor).engine_bytes == 0


def test_without_an_engine_there_is_no_share_and_nobody_is_asked_for_it(driver: FakeDriver, sensor: NvmlSensor) -> None:
    gpu = one(sensor, pid=None)
    assert (gpu.engine_bytes, reasons(gpu)) == (None, {"engine_bytes": Why.NOT_RUNNING})
    assert not [name for name in driver.calls() if "Processes" in name]


def test_a_new_engine_is_looked_for_at_once(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.compute": f"{PID}:{MIB},{PID + 1}:{2 * MIB}"})
    assert one(sensor, 0.0).engine_bytes == MIB
    assert one(sensor, 0.1, PID + 1).engine_bytes == 2 * MIB


def test_windows_does_not_tell_the_share(driver: FakeDriver, tmp_path: Path) -> None:
    sensor = NvmlSensor(sys_root=tmp_path, proc_root=tmp_path, platform="win32")  # reported faults I04, I05
    gpu = one(sensor)
    sensor.close()
    assert (gpu.engine_bytes, reasons(gpu)) == (None, {"engine_bytes": Why.WDDM})


def test_a_share_that_the_driver_keeps_to_itself_is_none(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"gpu0.compute": f"{PID}:NA"})
    gpu = one(sensor)
    assert (gpu.engine_bytes, reasons(gpu)) == (None, {"engine_bytes": Why.UNSUPPORTED})


@pytest.mark.parametrize(("namespace", "why"), [("pid:[4026532000]", Why.CONTAINER), ("pid:[4026531836]", None)])
def test_in_a_container_the_numbers_of_the_host_are_not_taken_for_ours(
    driver: FakeDriver, sensor: NvmlSensor, tmp_path: Path, namespace: str, why: Why | None
) -> None:
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").symlink_to(namespace)
    driver.set({"gpu0.compute": f"31337:{MIB}"})
    gpu = one(sensor)
    assert (gpu.engine_bytes, gpu.reasons.get("engine_bytes")) == (None if why else 0, why)


def test_rows_with_scrambled_process_numbers_are_no_processes() -> None:
    library = FakePynvml()
    library.processes = [process(0, 5), process(2**31, 5), process(PID, 7), process(8, None)]
    assert one(on(library), pid=PID).engine_bytes == 7
    gpu = one(on(library), pid=PID + 1)  # ours may be among the scrambled ones
    assert (gpu.engine_bytes, gpu.reasons["engine_bytes"]) == (None, Why.BAD_VALUE)
    assert one(on(library), pid=2**31).engine_bytes is None


# ---- things that go away


def test_a_lost_gpu_loses_its_curve_and_the_others_stay(
    driver: FakeDriver, sensor: NvmlSensor, caplog: pytest.LogCaptureFixture
) -> None:
    driver.set({"count": 2, "gpu1.used": 5 * MIB})
    assert len(sensor.read(0.0, Watched()).gpus) == 2
    driver.set({"gpu0.lost": 1})
    first, second = sensor.read(1.0, Watched()).gpus
    assert all_gone(first, Why.LOST)
    assert second.vram_used_bytes == 5 * MIB
    assert "is lost" in caplog.text


@pytest.mark.logs_warnings
def test_the_handle_of_a_lost_gpu_is_not_used_again_before_the_driver_is_opened_anew(
    driver: FakeDriver, sensor: NvmlSensor
) -> None:
    one(sensor, 0.0)
    driver.set({"gpu0.lost": 1})
    one(sensor, 1.0)
    driver.set({"gpu0.lost": None, "gpu0.used": 7 * MIB})
    driver.forget_calls()
    assert all_gone(one(sensor, 30.0), Why.LOST)
    assert driver.calls() == []
    assert one(sensor, 61.1).vram_used_bytes == 7 * MIB
    assert driver.calls().count("nvmlInitWithFlags") == 1


@pytest.mark.logs_warnings
def test_a_gpu_that_was_unplugged_is_shown_as_lost_until_it_is_back(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"count": 2})
    ids = [gpu.gpu_id for gpu in sensor.read(0.0, Watched()).gpus]
    driver.set({"count": 1})
    for now in (1.0, 62.0):  # before and after the driver was opened anew
        gpus = sensor.read(now, Watched()).gpus
        assert [gpu.gpu_id for gpu in gpus] == ids
        assert all_gone(gpus[1], Why.LOST)
        assert gpus[0].vram_total_bytes is not None
    driver.set({"count": 2})
    assert all(gpu.vram_total_bytes is not None for gpu in sensor.read(123.0, Watched()).gpus)


@pytest.mark.logs_warnings
def test_a_container_that_lost_its_devices_is_asked_again_later(driver: FakeDriver, sensor: NvmlSensor) -> None:
    one(sensor, 0.0)
    driver.set({"err.nvmlDeviceGetMemoryInfo_v2": 999})
    assert all_gone(one(sensor, 1.0), Why.LOST)
    driver.set({"err.nvmlDeviceGetMemoryInfo_v2": None})
    assert one(sensor, 62.0).vram_total_bytes == 24564 * MIB


def test_a_driver_that_was_updated_is_named_and_tried_again_every_minute(
    driver: FakeDriver, sensor: NvmlSensor
) -> None:
    driver.set({"err.nvmlInit": 18})
    assert (sensor.read(0.0, Watched()).gpus, sensor.read(0.0, Watched()).reason) == ((), Why.DRIVER_MISMATCH)
    driver.forget_calls()
    assert sensor.read(59.0, Watched()).reason is Why.DRIVER_MISMATCH
    assert driver.calls() == []
    driver.set({"err.nvmlInit": None})
    assert one(sensor, 60.0).vram_total_bytes == 24564 * MIB


@pytest.mark.parametrize("code", [9, 12])
def test_without_a_driver_there_are_no_gpus_and_one_reason_and_no_second_try(code: int) -> None:
    library = FakePynvml(init_error=code)
    sensor = on(library)
    for now in (0.0, 61.0, 3600.0):
        reading = sensor.read(now, Watched(PID))
        assert (reading.gpus, reading.reason) == ((), Why.NO_DRIVER)
    assert library.n_inits == 1


@pytest.mark.parametrize("error", [ImportError("no pynvml"), OSError("cannot open shared object")])
def test_a_module_that_cannot_be_imported_is_no_driver(error: Exception) -> None:
    def load() -> object:
        raise error

    assert NvmlSensor(load=load).read(0.0, Watched()).reason is Why.NO_DRIVER


def test_a_driver_without_gpus_says_so(driver: FakeDriver, sensor: NvmlSensor) -> None:
    driver.set({"count": 0})
    assert (sensor.read(0.0, Watched()).gpus, sensor.read(0.0, Watched()).reason) == ((), Why.NO_GPU)


def test_after_a_suspend_the_driver_is_opened_anew(driver: FakeDriver, sensor: NvmlSensor) -> None:
    one(sensor, 0.0)
    driver.forget_calls()
    sensor.reset()
    assert one(sensor, 0.1).vram_total_bytes is not None
    assert driver.calls()[:2] == ["nvmlShutdown", "nvmlInitWithFlags"]


# ---- not to be a burden


def test_a_sleeping_gpu_is_not_woken(driver: FakeDriver, sensor: NvmlSensor, tmp_path: Path) -> None:
    driver.set({"gpu0.pci": "00000000:01:00.0"})  # reported faults I13-I15
    make_nvidia_pci(tmp_path / "sys")
    assert one(sensor, 0.0).vram_total_bytes is not None
    make_nvidia_pci(tmp_path / "sys", status="suspended")
    driver.forget_calls()
    assert all_gone(one(sensor, 1.0), Why.ASLEEP)
    assert driver.calls() == []
    make_nvidia_pci(tmp_path / "sys")
    assert one(sensor, 2.0).vram_total_bytes is not None


def test_a_gpu_that_sleeps_at_the_start_is_not_even_counted_until_it_wakes(
    driver: FakeDriver, sensor: NvmlSensor, tmp_path: Path
) -> None:
    make_nvidia_pci(tmp_path / "sys", status="suspended")
    assert (sensor.read(0.0, Watched()).gpus, sensor.read(0.0, Watched()).reason) == ((), Why.ASLEEP)
    assert driver.calls() == []
    make_nvidia_pci(tmp_path / "sys")
    assert one(sensor, 2.0).vram_total_bytes is not None


def test_a_minute_of_sampling_stays_within_its_budget_of_calls(driver: FakeDriver, sensor: NvmlSensor) -> None:
    one(sensor, 0.0)
    driver.forget_calls()
    for tick in range(1, 121):  # 2 Hz
        one(sensor, tick * 0.5)
    calls = {name: driver.calls().count(name) for name in set(driver.calls())}
    assert calls == {
        "nvmlDeviceGetMemoryInfo_v2": 120,
        "nvmlDeviceGetUtilizationRates": 120,
        "nvmlDeviceGetPowerUsage": 120,
        "nvmlDeviceGetTemperature": 30,
        "nvmlDeviceGetCurrentClocksEventReasons": 30,
        "nvmlDeviceGetEnforcedPowerLimit": 1,
        "nvmlDeviceGetComputeRunningProcesses_v3": 30,
        "nvmlDeviceGetGraphicsRunningProcesses_v3": 30,
    }


def test_our_structures_have_the_size_nvidia_gave_them() -> None:
    pynvml = pytest.importorskip("pynvml")
    assert pynvml.nvmlMemory_v2 == 0x02000028
    assert ctypes.sizeof(pynvml.c_nvmlMemory_v2_t) == 0x28
