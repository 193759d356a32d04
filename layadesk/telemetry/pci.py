"""Whether a GPU is powered down, from sysfs, which does not wake it. Linux only; elsewhere nothing is asleep."""

from pathlib import Path

from layadesk.telemetry.small_files import word

_NVIDIA = "0x10de"
_INTEL = "0x8086"
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
        addresses = self._gpus_of(_NVIDIA)
        return bool(addresses) and all(self.is_asleep(address) for address in addresses)

    def has_intel(self) -> bool:
        """There is a GPU of Intel, in the processor or beside it."""
        return bool(self._gpus_of(_INTEL))

    def _gpus_of(self, vendor: str) -> list[str]:
        try:
            devices = list(self._devices.iterdir())
        except OSError:
            return []
        return [
            device.name
            for device in devices
            if word(device / "vendor") == vendor and word(device / "class").startswith(_DISPLAY_CLASS)
        ]
