"""Three machines as the verdict sees them: a large card, an integrated GPU, a CPU alone."""

from layadesk.domain.memory_fit.machine import GIB, GpuMemory, MachineMemory, MemoryKind

RTX_4090 = MachineMemory(
    64 * GIB,
    56 * GIB,
    (
        GpuMemory(
            "CUDA0",
            "NVIDIA GeForce RTX 4090",
            MemoryKind.DISCRETE,
            round(23.99 * GIB),
            round(23.2 * GIB),
            bandwidth_bytes_per_s=1008e9,
        ),
    ),
)
RADEON_780M = MachineMemory(
    28 * GIB,
    23 * GIB,
    (
        GpuMemory(
            "Vulkan0", "AMD Radeon 780M", MemoryKind.UNIFIED, 4 * GIB, round(3.6 * GIB), 14 * GIB, round(13.8 * GIB)
        ),
    ),
)
CPU_16 = MachineMemory(16 * GIB, 10 * GIB)  # in use, as a desktop is
