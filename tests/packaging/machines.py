"""Machines to decide about."""

from setup_steps.machine import Distribution, Machine, VulkanTools

DEBIAN = Distribution(("debian",), "Debian GNU/Linux 12")


def machine(
    *,
    system: str = "linux",
    arch: str = "x86_64",
    distribution: Distribution = DEBIAN,
    is_root: bool = False,
    nvidia: tuple[str, ...] = (),
    has_nvcc: bool = False,
    vulkan: VulkanTools | None = None,
) -> Machine:
    """A Debian PC without a graphics card, but for what is said otherwise."""
    return Machine(
        system=system,
        arch=arch,
        distribution=distribution,
        is_root=is_root,
        nvidia=nvidia,
        has_nvcc=has_nvcc,
        vulkan=vulkan or VulkanTools(),
    )
