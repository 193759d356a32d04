"""Sentences for what `layadesk doctor` found, and what to do about it."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from layadesk.domain.errors import Fact
from layadesk.domain.worker_state import ExitKind
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.numbers import gib_with_unit
from layadesk.ui.texts.words import exit_remedy, exit_words, unknown
from layadesk.usecases.check_installation import Check, Finding, Level

translate = QCoreApplication.translate

_GOOD: Final[Mapping[Check, str]] = {
    Check.PYTHON: QT_TRANSLATE_NOOP("findings", "Python {version} on {system}"),
    Check.PACKAGES: QT_TRANSLATE_NOOP("findings", "Installed: {installed}"),
    Check.OLD_PYNVML: QT_TRANSLATE_NOOP("findings", "The old package pynvml is not installed."),
    Check.DATA_DIR: QT_TRANSLATE_NOOP("findings", "The data folder {path} can be written to."),
    Check.DISK: QT_TRANSLATE_NOOP("findings", "{free} are free on the disk of the data folder."),
    Check.ENGINE: QT_TRANSLATE_NOOP("findings", "The engine runs (llama.cpp: {backend}, self-test {self_test_ms} ms)."),
    Check.DEVICES: QT_TRANSLATE_NOOP("findings", "It computes on: {devices}"),
    Check.MODULES: QT_TRANSLATE_NOOP("findings", "More backends: in use {used}; not in use {unused}"),
    Check.GPU_OFFLOAD: QT_TRANSLATE_NOOP("findings", "This build of llama.cpp can use a GPU: {supported}"),
    Check.ROUTER: QT_TRANSLATE_NOOP("findings", "The router runs."),
    Check.EXPERTS: QT_TRANSLATE_NOOP("findings", "Experts installed: {n}"),
    Check.STARTER: QT_TRANSLATE_NOOP("findings", "The starter expert is there: {path}"),
    Check.UPDATES: QT_TRANSLATE_NOOP("findings", "New versions: {updates}"),
}
_BAD: Final[Mapping[Check, tuple[str, str]]] = {
    Check.PYTHON: (
        QT_TRANSLATE_NOOP("findings", "Python {version} on {system} is not supported."),
        QT_TRANSLATE_NOOP("findings", "Use Python 3.11, 3.12 or 3.13."),
    ),
    Check.PACKAGES: (
        QT_TRANSLATE_NOOP("findings", "Not installed: {absent}"),
        QT_TRANSLATE_NOOP("findings", "Run the set-up again."),
    ),
    Check.OLD_PYNVML: (
        QT_TRANSLATE_NOOP("findings", "The old package pynvml {version} stands in the way of nvidia-ml-py."),
        QT_TRANSLATE_NOOP("findings", "Remove it with: pip uninstall pynvml"),
    ),
    Check.DATA_DIR: (
        QT_TRANSLATE_NOOP("findings", "The data folder {path} cannot be written to ({detail})."),
        QT_TRANSLATE_NOOP("findings", "Allow writing to it, or use --data-dir with another folder."),
    ),
    Check.DISK: (
        QT_TRANSLATE_NOOP("findings", "Only {free} are free on the disk of the data folder."),
        QT_TRANSLATE_NOOP("findings", "Free some space: a model takes several GiB."),
    ),
    Check.ENGINE: (
        QT_TRANSLATE_NOOP("findings", "The engine does not run: {how}."),
        QT_TRANSLATE_NOOP("findings", "{exit_remedy} Its last words are in engine-native.log."),
    ),
    Check.DEVICES: (
        QT_TRANSLATE_NOOP("findings", "It found nothing to compute on: {devices}"),
        QT_TRANSLATE_NOOP("findings", "Run the set-up again."),
    ),
    Check.GPU_OFFLOAD: (
        QT_TRANSLATE_NOOP("findings", "This build of llama.cpp cannot use the GPU."),
        QT_TRANSLATE_NOOP("findings", "Run the set-up again; it builds llama.cpp for this machine."),
    ),
    Check.ROUTER: (
        QT_TRANSLATE_NOOP("findings", "The router does not run: {how}."),
        QT_TRANSLATE_NOOP("findings", "{exit_remedy} The default expert answers meanwhile."),
    ),
    Check.EXPERTS: (
        QT_TRANSLATE_NOOP("findings", "Experts installed: {n}; files missing: {missing}"),
        QT_TRANSLATE_NOOP("findings", "Add a model with: layadesk models import FILE.gguf"),
    ),
    Check.STARTER: (
        QT_TRANSLATE_NOOP("findings", "The starter expert is not there."),
        QT_TRANSLATE_NOOP("findings", "Run the set-up again, or add a model of your own."),
    ),
    Check.UPDATES: (
        QT_TRANSLATE_NOOP("findings", "{host} was asked for new versions on {day}, in vain: {detail}."),
        QT_TRANSLATE_NOOP("findings", "It is asked again a day later; the address and the switch are in the settings."),
    ),
}


def finding_words(finding: Finding) -> str:
    """What was found, with its facts."""
    if finding.level is Level.OK:
        return translate("findings", _GOOD[finding.check]).format_map(_Facts(finding))
    return translate("findings", _BAD[finding.check][0]).format_map(_Facts(finding))


def finding_remedy(finding: Finding) -> str:
    """What to do; for findings that are not OK."""
    return translate("findings", _BAD[finding.check][1]).format_map(_Facts(finding)).strip()


class _Facts(dict[str, str]):
    """The facts as words, and those that are derived. One that is missing reads n/a."""

    def __init__(self, finding: Finding) -> None:
        facts = finding.facts
        super().__init__({name: _word(value) for name, value in facts.items()})
        if finding.check is Check.PACKAGES:
            self["installed"] = ", ".join(f"{name} {version}" for name, version in facts.items() if version)
            self["absent"] = ", ".join(name for name, version in facts.items() if not version)
        if finding.check is Check.UPDATES:
            self["day"] = _day(facts.get("at"))
            self["updates"] = _updates_words(finding.facts).format_map(self)
        free = facts.get("free_bytes")
        if isinstance(free, int):
            self["free"] = gib_with_unit(free)
        ended = facts.get("exit")
        if isinstance(ended, str) and ended in set(ExitKind):
            self["how"] = exit_words(ExitKind(ended), self.get("detail", "?"))
            self["exit_remedy"] = exit_remedy(ExitKind(ended))
        else:
            self["how"] = self.get("state", "?")
            self["exit_remedy"] = ""

    def __missing__(self, key: str) -> str:
        return unknown()


def _word(value: Fact) -> str:
    if isinstance(value, bool):
        return translate("findings", "yes") if value else translate("findings", "no")
    return "–" if value in {None, ""} else str(value)


def _updates_words(facts: Mapping[str, Fact]) -> str:
    if not facts.get("is_on"):
        return translate("findings", "nobody is asked, as it is off in the settings")
    if not facts.get("at"):
        return translate("findings", "not asked yet")
    if facts.get("version") is None:
        return translate("findings", "{host} was asked on {day}, and has none")
    return translate("findings", "{host} was asked on {day}; the newest is {version}")


def _day(seconds: Fact) -> str:
    if not isinstance(seconds, float | int):
        return unknown()
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(seconds)).date(), QLocale.FormatType.ShortFormat)
