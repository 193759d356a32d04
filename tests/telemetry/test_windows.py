"""Windows' counters and calls with their answers played (monitoring.md 2.4; rows 3, 25, 26, 29, 41)."""

import ctypes

import pytest

from layadesk.domain.hardware import GpuKind, GpuSample, Why
from layadesk.telemetry.pdh import MORE_ROOM, CounterItem, PdhQuery
from layadesk.telemetry.sensors import GpuReading, HostDraft, Watched
from layadesk.telemetry.windows_api import Commit, PerformanceFigures, ProcessMemoryCounters, WindowsApi, WorkingSet
from layadesk.telemetry.windows_gpu import GPU_COUNTERS, WindowsGpus, join
from layadesk.telemetry.windows_host import HOST_COUNTERS, WindowsCommit, WindowsMapped
from tests.fakes.pdh import FakePdh
from tests.fakes.roots import GIB, MIB

ADAPTER = "luid_0x00000000_0x0000D5C8_phys_0"
PID = 4242


def gpus(pdh: FakePdh, pid: int | None = PID) -> GpuReading:
    return WindowsGpus(PdhQuery(GPU_COUNTERS, pdh)).read(0.0, Watched(pid))


def test_structures_have_the_layout_of_64_bit_windows() -> None:
    assert ctypes.sizeof(CounterItem) == 24
    assert ctypes.sizeof(PerformanceFigures) == 104
    assert ProcessMemoryCounters.private_working_set.offset == 80
    assert ctypes.sizeof(ProcessMemoryCounters) == 96


def test_counters_are_read_by_their_english_names_and_the_query_stays_open() -> None:
    pdh = FakePdh({HOST_COUNTERS["pages_input"]: {"": 100.0}})
    query = PdhQuery(HOST_COUNTERS, pdh)
    assert query.collect() == query.collect() == {"pages_input": {"": 100.0}}
    assert (pdh.n_opened, pdh.n_collected) == (1, 2)
    query.close()
    assert pdh.n_closed == 1


def test_instances_that_come_while_they_are_asked_for_make_no_error() -> None:
    pdh = FakePdh({HOST_COUNTERS["pages_input"]: {"a": 1.0, "b": 2.0}}, grows_once=True)
    assert PdhQuery(HOST_COUNTERS, pdh).collect() == {"pages_input": {"a": 1.0, "b": 2.0}}
    assert MORE_ROOM in pdh.answers


def test_a_counter_that_this_windows_does_not_have_is_left_out() -> None:
    assert PdhQuery(GPU_COUNTERS, FakePdh({GPU_COUNTERS["dedicated"]: {ADAPTER: 1.0}})).collect() == {
        "dedicated": {ADAPTER: 1.0}
    }


def test_performance_counters_that_are_switched_off_are_no_error() -> None:
    assert PdhQuery(GPU_COUNTERS, FakePdh({}, refuses=True)).collect() == {}


def test_the_engines_share_is_what_is_resident_and_not_what_was_promised() -> None:
    pdh = FakePdh(
        {
            GPU_COUNTERS["dedicated"]: {ADAPTER: 18.0 * GIB},
            GPU_COUNTERS["shared"]: {ADAPTER: 1.0 * GIB},
            GPU_COUNTERS["local"]: {f"pid_{PID}_{ADAPTER}": 16.0 * GIB, f"pid_77_{ADAPTER}": 14.0 * GIB},
            GPU_COUNTERS["non_local"]: {f"pid_{PID}_{ADAPTER}": 512.0 * MIB},
            GPU_COUNTERS["busy"]: {
                f"pid_{PID}_{ADAPTER}_eng_0_engtype_3D": 4.0,
                f"pid_{PID}_{ADAPTER}_eng_9_engtype_Compute_0": 60.0,
                f"pid_77_{ADAPTER}_eng_9_engtype_Compute_0": 35.0,
            },
        }
    )
    (gpu,) = gpus(pdh).gpus
    assert (gpu.vram_used_bytes, gpu.shared_used_bytes) == (18 * GIB, GIB)
    assert (gpu.engine_bytes, gpu.engine_shared_bytes) == (16 * GIB, 512 * MIB)
    assert gpu.utilization_percent == 95.0  # windows_exporter #725: the busiest engine, not the sum
    (gpu,) = gpus(pdh, None).gpus
    assert (gpu.engine_bytes, gpu.reasons["engine_bytes"]) == (None, Why.NOT_RUNNING)


def test_a_share_above_what_is_used_is_no_figure() -> None:
    pdh = FakePdh(
        {
            GPU_COUNTERS["dedicated"]: {ADAPTER: 8.0 * GIB},
            GPU_COUNTERS["local"]: {f"pid_{PID}_{ADAPTER}": 9000.0 * GIB},  # systeminformer #2073, after a sleep
        }
    )
    (gpu,) = gpus(pdh).gpus
    assert (gpu.engine_bytes, gpu.reasons["engine_bytes"]) == (None, Why.BAD_VALUE)


def test_a_gpu_that_keeps_most_of_the_engine_in_ram_is_one_that_computes_there() -> None:
    held = {"dedicated": 400.0 * MIB, "shared": 5.0 * GIB, "local": 50.0 * MIB, "non_local": 4.0 * GIB}
    spilled = {"dedicated": 7.5 * GIB, "shared": 5.0 * GIB, "local": 0.5 * GIB, "non_local": 4.0 * GIB}
    for use, kind in ((held, GpuKind.UNIFIED), (spilled, None)):  # monitoring rows 14, 16
        pdh = FakePdh(
            {
                GPU_COUNTERS[name]: {f"pid_{PID}_{ADAPTER}" if "local" in name else ADAPTER: value}
                for name, value in use.items()
            }
        )
        sensor = WindowsGpus(PdhQuery(GPU_COUNTERS, pdh))
        (gpu,) = sensor.read(0.0, Watched(PID)).gpus
        assert (gpu.kind, gpu.engine_shared_bytes) == (kind, 4 * GIB)
        assert gpu.shared_used_bytes == 5 * GIB
        (gpu,) = sensor.read(1.0, Watched(None)).gpus  # the engine has gone; the GPU is the same
        assert gpu.kind == kind


def test_nvidias_figures_and_windows_counters_make_one_gpu() -> None:
    nvidia = GpuSample(
        "GPU-1",
        "RTX 4090",
        vram_total_bytes=24 * GIB,
        vram_used_bytes=18 * GIB,
        power_watts=312.0,
        reasons={"engine_bytes": Why.WDDM},
    )
    counted = GpuSample(
        "luid_1", "GPU", vram_used_bytes=18 * GIB + 400 * MIB, engine_bytes=16 * GIB, engine_shared_bytes=0
    )
    internal = GpuSample("luid_2", "GPU", vram_used_bytes=100 * MIB, shared_used_bytes=3 * GIB)
    first, second = join(GpuReading((nvidia,)), GpuReading((counted, internal))).gpus
    assert (first.gpu_id, first.engine_bytes, first.power_watts) == ("GPU-1", 16 * GIB, 312.0)
    assert "engine_bytes" not in first.reasons
    assert second == internal
    assert join(GpuReading((), Why.NO_DRIVER), GpuReading((internal,))).gpus == (internal,)
    assert join(GpuReading((), Why.NO_DRIVER), GpuReading((), Why.NO_GPU)).reason is Why.NO_GPU


class FakeApi(WindowsApi):
    """kernel32 with fixed answers; None fails."""

    def __init__(self, commit: Commit | None, working_set: WorkingSet | None) -> None:
        self._commit, self._working_set = commit, working_set

    def commit(self) -> Commit:
        if self._commit is None:
            raise OSError("refused")
        return self._commit

    def working_set(self, pid: int) -> WorkingSet:
        if self._working_set is None:
            raise OSError("refused")
        return self._working_set


def filled(sensor: WindowsCommit | WindowsMapped) -> HostDraft:
    draft = HostDraft()
    sensor.fill(draft, 0.0)
    return draft


def test_commit_and_hard_faults_are_told() -> None:
    query = PdhQuery(HOST_COUNTERS, FakePdh({HOST_COUNTERS["pages_input"]: {"": 25_600.0}}))
    draft = filled(WindowsCommit(FakeApi(Commit(30 * GIB, 40 * GIB), None), query))
    assert (draft["commit_used_bytes"], draft["commit_limit_bytes"]) == (30 * GIB, 40 * GIB)
    assert draft["pages_input_bytes_per_s"] == 100 * MIB


@pytest.mark.parametrize(("commit", "why"), [(None, Why.UNREADABLE), (Commit(50, 40), Why.BAD_VALUE)])
def test_a_commit_that_cannot_be_is_none(commit: Commit | None, why: Why) -> None:
    draft = filled(WindowsCommit(FakeApi(commit, None), PdhQuery(HOST_COUNTERS, FakePdh({}))))
    assert (draft["commit_used_bytes"], draft.reasons["commit_used_bytes"]) == (None, why)
    assert draft.reasons["pages_input_bytes_per_s"] == Why.NOT_YET


@pytest.mark.parametrize(
    ("found", "mapped"), [(WorkingSet(5 * GIB, GIB), 4 * GIB), (WorkingSet(5 * GIB, None), None), (None, None)]
)
def test_mapped_weights_are_the_working_set_without_its_private_part(
    found: WorkingSet | None, mapped: int | None
) -> None:
    assert filled(WindowsMapped(FakeApi(None, found), lambda: 7))["engine_mapped_bytes"] == mapped
