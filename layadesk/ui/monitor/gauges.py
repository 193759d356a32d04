"""What else is known of a GPU, in short: load, power, temperature, and why it is slowed down."""

from collections.abc import Iterator

from PySide6.QtCore import QCoreApplication

from layadesk.domain.hardware import GpuSample, Throttle
from layadesk.ui.texts import words
from layadesk.ui.texts.numbers import gib_with_unit

translate = QCoreApplication.translate


def gauges(gpu: GpuSample, *, told: str | None = None) -> Iterator[str]:
    """`GPU 97 %`, `memory busy 88 %`, `312 / 450 W`, `64 °C`, … What is not known is left out, and so is
    the reason that is told already.
    """
    if gpu.utilization_percent is not None:
        yield translate("gauges", "GPU {value}").format(value=f"{gpu.utilization_percent:.0f} %")
    elif gpu.reasons.get("utilization_percent") not in {None, told}:
        missing = words.not_available(gpu.reasons["utilization_percent"])
        yield translate("gauges", "GPU {value}").format(value=missing)
    if gpu.memory_busy_percent is not None:
        yield translate("gauges", "memory busy {value}").format(value=f"{gpu.memory_busy_percent:.0f} %")
    if gpu.power_watts is not None:
        limit = "" if gpu.power_limit_watts is None else f" / {gpu.power_limit_watts:.0f}"
        yield f"{gpu.power_watts:.0f}{limit} W"
    if gpu.temperature_celsius is not None:
        yield f"{gpu.temperature_celsius:.0f} °C"
    if gpu.evicted_bytes:
        yield translate("gauges", "pushed out to RAM {value}").format(value=gib_with_unit(gpu.evicted_bytes))
    for reason in gpu.throttle or ():
        yield _throttle(reason)


def _throttle(reason: Throttle) -> str:
    match reason:
        case Throttle.THERMAL:
            return translate("gauges", "slowed: too hot")
        case Throttle.POWER_BRAKE:
            return translate("gauges", "slowed: power brake")
        case Throttle.HARDWARE:
            return translate("gauges", "slowed by the hardware")
        case Throttle.POWER_CAP:
            return translate("gauges", "at its power limit")
