"""What the router's labels are called on screen; the labels themselves are for files and programs."""

from collections.abc import Mapping
from typing import Final

from PySide6.QtCore import QCoreApplication

from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

_TASKS: Final[Mapping[str, str]] = {
    "chat": QT_TRANSLATE_NOOP("labels", "chat"),
    "writing": QT_TRANSLATE_NOOP("labels", "writing"),
    "rewrite": QT_TRANSLATE_NOOP("labels", "rewriting"),
    "translate": QT_TRANSLATE_NOOP("labels", "translation"),
    "summarise": QT_TRANSLATE_NOOP("labels", "summaries"),
    "extract": QT_TRANSLATE_NOOP("labels", "extraction"),
    "code": QT_TRANSLATE_NOOP("labels", "code"),
    "math": QT_TRANSLATE_NOOP("labels", "math"),
    "reasoning": QT_TRANSLATE_NOOP("labels", "reasoning"),
    "knowledge": QT_TRANSLATE_NOOP("labels", "knowledge"),
    "advise": QT_TRANSLATE_NOOP("labels", "advice"),
    "roleplay": QT_TRANSLATE_NOOP("labels", "role play"),
}
_DOMAINS: Final[Mapping[str, str]] = {
    "general": QT_TRANSLATE_NOOP("labels", "general"),
    "daily_life": QT_TRANSLATE_NOOP("labels", "daily life"),
    "programming": QT_TRANSLATE_NOOP("labels", "programming"),
    "math": QT_TRANSLATE_NOOP("labels", "math"),
    "science": QT_TRANSLATE_NOOP("labels", "science"),
    "medicine": QT_TRANSLATE_NOOP("labels", "medicine"),
    "law": QT_TRANSLATE_NOOP("labels", "law"),
    "finance": QT_TRANSLATE_NOOP("labels", "finance"),
    "humanities": QT_TRANSLATE_NOOP("labels", "humanities"),
}


def task_name(task: str) -> str:
    """In the language of the window; one that is not known is shown as it is."""
    return QCoreApplication.translate("labels", _TASKS[task]) if task in _TASKS else task


def domain_name(domain: str) -> str:
    """In the language of the window; one that is not known is shown as it is."""
    return QCoreApplication.translate("labels", _DOMAINS[domain]) if domain in _DOMAINS else domain
