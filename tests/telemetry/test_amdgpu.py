"""AMD GPUs on fake sysfs and fdinfo trees (monitoring.md rows 14-20, 22; reported fault I11)."""

from pathlib import Path

import pytest

from layadesk.domain.hardware import GPU_FIELDS, GpuKind, GpuSample, Why
from layadesk.telemetry.amdgpu import AmdSensor
from layadesk.telemetry.sensors import Watched
from tests.fakes.roots import AMD_ADDRESS, GIB, MIB, break_file, make_amd_card, make_gpu_client, write

PID = 100


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    return tmp_path / "sys", tmp_path / "proc"


def sensor_of(roots: tuple[Path, Path]) -> AmdSensor:
    return AmdSensor(sys_root=roots[0], proc_root=roots[1])


def one(sensor: AmdSensor, now: float = 0.0, watched: Watched = Watched()) -> GpuSample:  # noqa: B008 - frozen
    """The only GPU."""
    (gpu,) = sensor.read(now, watched).gpus
    return gpu


def test_a_gpu_that_computes_in_ram_is_told_from_its_small_carve_out(roots: tuple[Path, Path]) -> None:
    make_amd_card(roots[0])
    gpu = one(sensor_of(roots))
    assert (gpu.gpu_id, gpu.kind, gpu.source) == (AMD_ADDRESS, GpuKind.UNIFIED, "amdgpu")
    assert (gpu.vram_total_bytes, gpu.vram_used_bytes) == (512 * MIB, 148 * MIB)
    assert (gpu.shared_total_bytes, gpu.shared_used_bytes) == (15 * GIB, 6 * GIB)
    assert (gpu.utilization_percent, gpu.temperature_celsius, gpu.power_watts) == (37.0, 61.0, 28.0)
    assert gpu.reasons["power_watts"] == Why.PACKAGE_POWER
    assert gpu.reasons["memory_busy_percent"] == Why.UNSUPPORTED  # qmassa #37: no such file on these


def test_a_card_with_memory_of_its_own(roots: tuple[Path, Path]) -> None:
    device = make_amd_card(roots[0], vram=(24 * GIB, 20 * GIB), gtt=(32 * GIB, 0))
    write(device / "mem_busy_percent", 71)
    write(device / "hwmon/hwmon5/power1_cap", 303_000_000)
    gpu = one(sensor_of(roots))
    assert (gpu.kind, gpu.memory_busy_percent, gpu.power_limit_watts) == (GpuKind.DISCRETE, 71.0, 303.0)
    assert "power_watts" not in gpu.reasons


@pytest.mark.parametrize("how", ["missing", "folder", "empty", "garbage"])
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("gpu_busy_percent", "utilization_percent"),
        ("mem_info_vram_used", "vram_used_bytes"),
        ("mem_info_gtt_used", "shared_used_bytes"),
        ("hwmon/hwmon5/temp1_input", "temperature_celsius"),
        ("hwmon/hwmon5/power1_input", "power_watts"),
    ],
)
def test_one_file_that_cannot_be_read_costs_only_its_own_figure(
    roots: tuple[Path, Path], file: str, name: str, how: str
) -> None:
    device = make_amd_card(roots[0])
    whole = one(sensor_of(roots))
    break_file(device / file, how)
    gpu = one(sensor_of(roots))
    assert (getattr(gpu, name), bool(gpu.reasons[name])) == (None, True)
    others = [field for field in GPU_FIELDS if field != name]
    assert [getattr(gpu, field) for field in others] == [getattr(whole, field) for field in others]


def test_more_used_than_there_is_is_no_figure(roots: tuple[Path, Path]) -> None:
    make_amd_card(roots[0], vram=(512 * MIB, 600 * MIB))
    gpu = one(sensor_of(roots))
    assert (gpu.vram_used_bytes, gpu.reasons["vram_used_bytes"]) == (None, Why.BAD_VALUE)


def test_a_sleeping_card_is_not_touched(roots: tuple[Path, Path]) -> None:
    device = make_amd_card(roots[0], status="suspended")
    for file in ("gpu_busy_percent", "mem_info_vram_used", "mem_info_gtt_used"):
        break_file(device / file, "hang")  # a reader that opened it would never come back
    gpu = one(sensor_of(roots))
    assert all(getattr(gpu, name) is None for name in GPU_FIELDS)
    assert set(gpu.reasons.values()) == {Why.ASLEEP}


def test_a_machine_without_such_a_card_says_so(roots: tuple[Path, Path]) -> None:
    device = make_amd_card(roots[0])
    write(device / "vendor", "0x8086")
    reading = sensor_of(roots).read(0.0, Watched())
    assert (reading.gpus, reading.reason) == ((), Why.NO_GPU)


# ---- the engine's share


def test_the_engines_share_is_counted_once_for_each_client(roots: tuple[Path, Path]) -> None:
    make_amd_card(roots[0], gtt=(32 * GIB, 25 * GIB))
    gtt = "20258000 KiB"
    for fd in (7, 8):  # a file that was duplicated
        make_gpu_client(roots[1], PID, fd, 42, drm_memory_gtt=gtt, drm_memory_vram="5348 KiB")
    make_gpu_client(roots[1], PID, 9, 43, drm_total_gtt="9 MiB", drm_resident_gtt="1048576", amd_evicted_vram="2 MiB")
    gpu = one(sensor_of(roots), watched=Watched(PID))
    assert gpu.engine_shared_bytes == 20258000 * 1024 + 1048576  # nvtop #492; resident is believed before total
    assert gpu.engine_bytes == 5348 * 1024
    assert gpu.evicted_bytes == 2 * MIB


def test_children_of_the_engine_count_too(roots: tuple[Path, Path]) -> None:
    make_amd_card(roots[0])
    make_gpu_client(roots[1], PID, 7, 42, drm_memory_gtt="1 MiB")
    write(roots[1] / "100/task/100/children", "101")
    make_gpu_client(roots[1], 101, 7, 42, drm_memory_gtt="1 MiB")  # inherited
    make_gpu_client(roots[1], 101, 8, 44, drm_memory_gtt="4 MiB")
    assert one(sensor_of(roots), watched=Watched(PID)).engine_shared_bytes == 5 * MIB


def test_an_engine_that_does_not_use_the_gpu_has_none_of_it(roots: tuple[Path, Path]) -> None:
    make_amd_card(roots[0])
    (roots[1] / "100/fd").mkdir(parents=True)
    gpu = one(sensor_of(roots), watched=Watched(PID))
    assert (gpu.engine_bytes, gpu.engine_shared_bytes) == (0, 0)


@pytest.mark.parametrize(("pid", "why"), [(None, Why.NOT_RUNNING), (999, Why.NO_PERMISSION)])
def test_a_share_that_cannot_be_told_is_none(roots: tuple[Path, Path], pid: int | None, why: Why) -> None:
    make_amd_card(roots[0])
    gpu = one(sensor_of(roots), watched=Watched(pid))
    assert (gpu.engine_shared_bytes, gpu.reasons["engine_shared_bytes"]) == (None, why)


def test_without_the_drivers_figure_the_engines_own_load_is_shown_as_such(roots: tuple[Path, Path]) -> None:
    device = make_amd_card(roots[0])
    break_file(device / "gpu_busy_percent", "missing")
    sensor = sensor_of(roots)
    make_gpu_client(roots[1], PID, 7, 42, drm_engine_compute="0 ns")
    one(sensor, 0.0, Watched(PID))
    write(
        roots[1] / "100/fdinfo/7", f"drm-pdev:\t{AMD_ADDRESS}\ndrm-client-id:\t42\ndrm-engine-compute:\t1000000000 ns"
    )
    gpu = one(sensor, 2.0, Watched(PID))
    assert (gpu.utilization_percent, gpu.reasons["utilization_percent"]) == (50.0, Why.OURS_ONLY)


def test_a_load_that_sticks_at_100_percent_without_work_is_not_believed(roots: tuple[Path, Path]) -> None:
    device = make_amd_card(roots[0])
    write(device / "gpu_busy_percent", 100)
    write(device / "hwmon/hwmon5/power1_input", 6_000_000)
    sensor = sensor_of(roots)
    assert one(sensor, 0.0).utilization_percent == 100.0
    gpu = one(sensor, 31.0)  # btop #914, lilbee #675
    assert (gpu.utilization_percent, gpu.reasons["utilization_percent"]) == (None, Why.STUCK)
    assert one(sensor, 32.0, Watched(PID, is_busy=True)).utilization_percent == 100.0
