"""Warnings about the machine: what is wrong and why, and the one thing to do."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.domain.alert_watch import Alert
from layadesk.domain.machine_alerts import Danger, Severity
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.numbers import gib_with_unit
from layadesk.ui.texts.words import together

translate = QCoreApplication.translate

_CAUSES: Final[Mapping[Danger, str]] = {
    Danger.RAM: QT_TRANSLATE_NOOP("alerts", "The machine is running out of RAM."),
    Danger.PRESSURE: QT_TRANSLATE_NOOP("alerts", "Programs wait for memory {value} % of the time."),
    Danger.STALLED: QT_TRANSLATE_NOOP("alerts", "Everything stands still {value} % of the time, waiting for memory."),
    Danger.SWAPPING: QT_TRANSLATE_NOOP(
        "alerts", "Memory is read back from swap at {rate}: RAM is too small for what runs."
    ),
    Danger.ENGINE_SWAPPED: QT_TRANSLATE_NOOP("alerts", "{share} of the engine's own memory lies in swap."),
    Danger.REREAD: QT_TRANSLATE_NOOP(
        "alerts",
        "Files are read again from the disk at {rate}: the expert's weights do not fit into RAM beside the rest.",
    ),
    Danger.WEIGHTS: QT_TRANSLATE_NOOP(
        "alerts", "{share} of the expert's weights are not in RAM and are read from the disk for every token."
    ),
    Danger.VRAM: QT_TRANSLATE_NOOP("alerts", "The GPU's memory is {share} full."),
    Danger.VRAM_OF_OTHERS: QT_TRANSLATE_NOOP(
        "alerts", "The GPU's memory is {share} full, all of it with other programs."
    ),
    Danger.SPILL: QT_TRANSLATE_NOOP(
        "alerts", "The GPU's memory is full, and its driver moved {size} to RAM, where it is many times slower."
    ),
    Danger.GPU_IN_RAM: QT_TRANSLATE_NOOP("alerts", "The RAM that the GPU may use is {share} full."),
    Danger.COMMIT: QT_TRANSLATE_NOOP("alerts", "Windows has promised {share} of the memory it can give."),
    Danger.PAGES_INPUT: QT_TRANSLATE_NOOP("alerts", "Memory is read from the disk at {rate} while the expert writes."),
    Danger.MAC_PRESSURE: QT_TRANSLATE_NOOP("alerts", "macOS says that memory is short."),
    Danger.THROTTLE: QT_TRANSLATE_NOOP("alerts", "The GPU is slowed down by its heat or its power supply."),
}
_CLOSE_OTHERS = QT_TRANSLATE_NOOP("alerts", "Close other programs, or use a smaller expert or a shorter context.")
_FEWER_LAYERS = QT_TRANSLATE_NOOP("alerts", "Put fewer layers on the GPU, or shorten the context.")
_REMEDIES: Final[Mapping[Danger, str]] = {
    Danger.VRAM: _FEWER_LAYERS,
    Danger.VRAM_OF_OTHERS: QT_TRANSLATE_NOOP(
        "alerts", "Close those that use the GPU before an expert is to be loaded onto it."
    ),
    Danger.SPILL: _FEWER_LAYERS,
    Danger.COMMIT: QT_TRANSLATE_NOOP("alerts", "Close other programs, or let Windows manage a larger page file."),
    Danger.THROTTLE: QT_TRANSLATE_NOOP("alerts", "Clear its fans and vents; it goes on slower meanwhile."),
}


def alert_words(alert: Alert) -> str:
    """What is wrong, and what to do."""
    value = alert.value
    cause = translate("alerts", _CAUSES[alert.danger]).format(
        value=f"{value:.0f}",
        share=f"{100 * value:.0f} %",
        rate=f"{value / 2**20:.0f} MiB/s",
        size=gib_with_unit(value),
    )
    return together(cause, translate("alerts", _REMEDIES.get(alert.danger, _CLOSE_OTHERS)))


def is_urgent(alert: Alert) -> bool:
    """Whether it is shown as a danger rather than a warning."""
    return alert.severity is Severity.CRITICAL


def waiting_words() -> str:
    """That new answers wait."""
    return translate("alerts", "New answers wait until there is memory again.")


def unloaded_words(names: str) -> str:
    """That experts were unloaded as a last resort."""
    sentence = translate(
        "alerts", "Memory ran out, so {names} was stopped and unloaded before the system ended programs."
    )
    return together(sentence.format(names=names), translate("alerts", "What was written until then is kept."))
