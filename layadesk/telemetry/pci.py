"""Whether a GPU is powered down, from sysfs, which does not wake it. Linux only; elsewhere nothing is asleep."""

from pathlib import Path

from layadesk.telemetry.small_files import word

_NVIDIA = "0x10de"
_DISPLAY_CLASS = "0x03"
_ASLEEP = ("suspended", "suspending")


class PciBus:
    """Reads `sys_root/bus/pci/devices`."""

    def __init__(self, sys_root: Path) -> None:
        self._devices = sys_root / "bus" / "pci" / "devices"

    def is_asleep(self, address: str) -> bool:
        """`address` as in `0000:01:00.0`; False where it cannot be told."""
        return word(self._devices / address / "power" / "runtime_status") in _ASLEEP

    def all_nvidia_asleep(self) -> bool:
        """There are NVIDIA GPUs on this bus, and not one of them is awake."""
        try:
            addresses = [device.name for device in self._devices.iterdir() if self._is_nvidia_gpu(device)]
        except OSError:
            return False
        return bool(addresses) and all(self.is_asleep(address) for address in addresses)

    @staticmethod
    def _is_nvidia_gpu(device: Path) -> bool:
        return word(device / "vendor") == _NVIDIA and word(device / "class").startswith(_DISPLAY_CLASS)
