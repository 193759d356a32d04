"""What a load took beside what was predicted, and what is learned from it."""

from dataclasses import replace

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import HOST_OVERHEAD_BYTES
from layadesk.domain.memory_fit.bill import CPU, DeviceBill
from layadesk.domain.memory_fit.load_record import (
    LEAST_LOADS,
    LoadMeasure,
    LoadRecord,
    OffloadMiss,
    learned_corrections,
    offload_miss,
)

MIB = 2**20


def record(beyond_mib: int = 0, *, mapped: int = 0) -> LoadRecord:
    host = DeviceBill(CPU, weights_bytes=100 * MIB, kv_bytes=10 * MIB, compute_bytes=5 * MIB)
    private = host.total_bytes - mapped + HOST_OVERHEAD_BYTES + beyond_mib * MIB
    return LoadRecord(1.0, "smol", "llama", CPU, 0, LoadParams(), None, LoadMeasure((host,), private, mapped), 0, 0)


def on_gpu(vram_mib: int | None) -> LoadRecord:
    card = DeviceBill("CUDA0", weights_bytes=1000 * MIB)
    one = record()
    return replace(
        one, backend="CUDA", vram_bytes=None if vram_mib is None else vram_mib * MIB,
        measure=replace(one.measure, devices=(card, *one.measure.devices)),
    )  # fmt: skip


def test_mapped_weights_are_measured_though_they_are_not_private() -> None:
    assert record(mapped=90 * MIB).measured_on(CPU) == record().measured_on(CPU)
    assert record(mapped=90 * MIB).beyond_bill() == {CPU: 0}


def test_less_than_the_bill_teaches_nothing_because_compute_buffers_are_touched_later() -> None:
    assert record(-5).beyond_bill() == {CPU: 0}
    assert learned_corrections([record(-5)] * 9) == {}


def test_the_median_of_several_loads_is_learned_for_their_architecture_and_device() -> None:
    loads = [record(30), record(400), record(20)]
    assert learned_corrections(loads) == {("llama", CPU): 30 * MIB}
    assert learned_corrections(loads[: LEAST_LOADS - 1]) == {}


def test_what_was_not_measured_is_unknown_and_teaches_nothing() -> None:
    unknown = replace(record(), measure=replace(record(50).measure, private_bytes=None))
    assert unknown.measured_on(CPU) is None
    assert learned_corrections([unknown] * 9) == {}
    assert on_gpu(None).measured_on("CUDA0") is None
    assert "CUDA0" not in on_gpu(None).beyond_bill()


def test_vram_beyond_weights_and_the_drivers_context_is_learned_too() -> None:
    assert learned_corrections([on_gpu(1700)] * 3) == {("llama", "CUDA0"): 100 * MIB}  # 600 are the driver's


def test_layers_that_are_not_where_they_were_asked_are_named_with_the_reason() -> None:
    def miss(**changed: object) -> OffloadMiss | None:
        values: dict[str, object] = {
            "asked": 33, "on_gpu": 33, "vram_bytes": 900 * MIB, "supports_gpu": True, "has_gpu": True,
        }  # fmt: skip
        return offload_miss(**(values | changed))  # type: ignore[arg-type] # by name

    assert miss() is None
    assert miss(asked=0, on_gpu=0) is None
    assert miss(asked=None, on_gpu=0) is None
    assert miss(on_gpu=0, supports_gpu=False) is OffloadMiss.NO_GPU_BUILD
    assert miss(on_gpu=0, has_gpu=False) is OffloadMiss.NO_DEVICE
    assert miss(on_gpu=0) is OffloadMiss.NO_LAYERS
    assert miss(on_gpu=20) is OffloadMiss.FEWER_LAYERS
    assert miss(vram_bytes=0) is OffloadMiss.NO_VRAM
    assert miss(vram_bytes=None) is None
