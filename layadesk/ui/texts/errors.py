"""A sentence that says what and why, and a remedy, for every ErrorCode. Used by the window and the command line."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from layadesk.domain.memory_fit.bill import BillItem
from layadesk.domain.worker_state import ExitKind
from layadesk.ui.texts.error_table import ERROR_TEXTS
from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP
from layadesk.ui.texts.memory import bill_item, device_name
from layadesk.ui.texts.model_kinds import foreign_format, not_chat_kind
from layadesk.ui.texts.numbers import gib_with_unit
from layadesk.ui.texts.words import exit_words, together, unknown


@dataclass(frozen=True, slots=True)
class Explanation:
    """`what` names the cause, `remedy` the way out, `detail` what a library said, untranslated (may be empty)."""

    what: str
    remedy: str
    detail: str = ""


def explain(report: ErrorReport, *, name: str | None = None) -> Explanation:
    """The texts of an error in the current language. `name` is how the expert is called on screen, where known."""
    what, remedy = ERROR_TEXTS[report.code]
    if report.code is ErrorCode.BAD_PARAMETER and report.facts.get("known"):
        remedy = QT_TRANSLATE_NOOP("errors", "Choose one of: {known}.")
    facts = _Facts(report.facts, name)
    said = QCoreApplication.translate("errors", what).format_map(facts)
    detail = _detail(report.facts)
    if report.code is ErrorCode.OUT_OF_MEMORY and report.facts.get("free_bytes") is not None:
        numbers = QCoreApplication.translate("errors", "needed {needs_gib}, RAM free {free_gib}").format_map(facts)
        detail = "; ".join(filter(None, (numbers, detail)))
    return Explanation(
        said,
        QCoreApplication.translate("errors", remedy).format_map(facts),
        "" if detail in said else detail,
    )


def sentence(report: ErrorReport) -> str:
    """What and what to do in one line, for the command line and screen readers."""
    explanation = explain(report)
    return together(explanation.what, explanation.remedy)


class _Facts(dict[str, str]):
    """The facts as words, and the few that are derived. One that is missing reads "?" and hides nothing else."""

    def __init__(self, facts: Mapping[str, Fact], name: str | None) -> None:
        super().__init__({key: str(value) for key, value in facts.items() if value is not None})
        subject = next((self[key] for key in ("path", "expert", "model_id", "name") if key in self), "?")
        self["subject"] = name or subject or '""'  # an empty name is shown as one
        called = name or self.get("name")
        by_path = f"{called} ({self['path']})" if called and "path" in self else self["subject"]
        self.setdefault("file", by_path)  # a download names its file itself
        self["place"] = _place(facts.get("entry"))
        for key, source in (("size", "size_bytes"), ("needed", "needed_bytes")):
            value = facts.get(source)
            self[key] = f"{value:,}" if isinstance(value, int) else "?"
        for source in ("needs_bytes", "free_bytes", "reserve_bytes", "item_bytes"):
            amount = facts.get(source)
            self[source.replace("_bytes", "_gib")] = gib_with_unit(amount) if isinstance(amount, int) else unknown()
        if "item" in self:
            self["item"], self["device"] = bill_item(BillItem(self["item"])), device_name(self.get("device", "?"))
        self["holder"] = _holder(facts)
        self["how"] = _how(facts)
        self["kind"] = not_chat_kind(facts.get("kind", facts.get("detail")))
        self["format"] = foreign_format(facts.get("looks_like"))

    def __missing__(self, key: str) -> str:
        return "?"


def _place(entry: Fact) -> str:
    """Where in a list something is wrong; entries are counted from 0 there."""
    if not isinstance(entry, int):
        return QCoreApplication.translate("errors", "the file as a whole")
    return QCoreApplication.translate("errors", "entry {number}").format(number=entry + 1)


def _holder(facts: Mapping[str, Fact]) -> str:
    """Who has the port, where the system says so."""
    if facts.get("owner") is None:
        return QCoreApplication.translate("errors", "another program")
    return f"{facts['owner']} ({facts.get('pid')})"


def _how(facts: Mapping[str, Fact]) -> str:
    kind = facts.get("kind")
    known = kind if isinstance(kind, str) and kind in set(ExitKind) else ExitKind.PYTHON_ERROR
    return exit_words(ExitKind(known), str(facts.get("detail", "?")))


def _detail(facts: Mapping[str, Fact]) -> str:
    return "; ".join(str(facts[key]) for key in ("reason", "detail") if facts.get(key))
