"""What is free now, put together from what llama.cpp sees and what the sensors measure."""

from layadesk.domain.hardware import GpuKind, GpuSample, HardwareSample
from layadesk.domain.memory_fit.machine import GpuMemory, MemoryKind
from layadesk.protocol.dry_run import DeviceSeen
from layadesk.usecases.machine_now import machine_memory

GIB, MIB = 2**30, 2**20
CPU = DeviceSeen("CPU", "a processor", "cpu", 8 * GIB, 8 * GIB)
CARD = DeviceSeen("CUDA0", "NVIDIA GeForce RTX 4090", "gpu", 23 * GIB, 24 * GIB)


def sample(*gpus: GpuSample) -> HardwareSample:
    return HardwareSample(0.0, ram_total_bytes=64 * GIB, ram_available_bytes=50 * GIB, gpus=gpus)


def test_a_gpu_that_llama_cpp_does_not_have_offloads_nothing() -> None:  # reported faults A24, B05
    seen = machine_memory(sample(GpuSample("GPU-1", "NVIDIA GeForce RTX 4090", 24 * GIB, 1 * GIB)), [CPU])
    assert seen.gpus == ()
    assert (seen.ram_total_bytes, seen.ram_available_bytes) == (64 * GIB, 50 * GIB)


def test_what_others_hold_and_what_the_driver_keeps_is_not_free() -> None:  # reported fault A01
    used = GpuSample("GPU-1", "NVIDIA GeForce RTX 4090", 24 * GIB, 20 * GIB, vram_reserved_bytes=GIB)
    assert machine_memory(sample(used), [CPU, CARD]).gpus[0].free_bytes == 3 * GIB


def test_without_a_sensor_the_librarys_own_figure_counts() -> None:
    assert machine_memory(sample(), [CARD]).gpus[0].free_bytes == 23 * GIB
    blind = DeviceSeen("Vulkan0", "a card", "gpu", 0, 8 * GIB)
    assert machine_memory(sample(), [blind]).gpus[0].free_bytes is None  # 0 is "nobody knows", reported fault C11


def test_an_integrated_gpu_is_its_carve_out_and_what_it_shares() -> None:
    shown = GpuSample("0000:c1:00.0", "AMD Radeon 780M", 512 * MIB, 100 * MIB, kind=GpuKind.UNIFIED)
    gpu = GpuSample(
        shown.gpu_id,
        shown.name,
        shown.vram_total_bytes,
        shown.vram_used_bytes,
        kind=shown.kind,
        shared_total_bytes=16 * GIB,
        shared_used_bytes=GIB,
    )
    device = DeviceSeen("Vulkan0", "AMD Radeon 780M Graphics (RADV PHOENIX)", "igpu", 15 * GIB, 16 * GIB)
    assert machine_memory(sample(gpu), [device]).gpus == (
        GpuMemory(
            "Vulkan0",
            "AMD Radeon 780M Graphics (RADV PHOENIX)",
            MemoryKind.UNIFIED,
            512 * MIB,
            412 * MIB,
            16 * GIB,
            15 * GIB,
        ),
    )
