"""How the tasks of the router are called on screen. Marked here, translated when shown."""

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import QCoreApplication

from layadesk.ui.texts.marks import QT_TRANSLATE_NOOP

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "chat": QT_TRANSLATE_NOOP("tasks", "Small talk"),
        "writing": QT_TRANSLATE_NOOP("tasks", "Writing a text"),
        "rewrite": QT_TRANSLATE_NOOP("tasks", "Rewriting"),
        "translate": QT_TRANSLATE_NOOP("tasks", "Translation"),
        "summarise": QT_TRANSLATE_NOOP("tasks", "Summary"),
        "extract": QT_TRANSLATE_NOOP("tasks", "Extraction"),
        "code": QT_TRANSLATE_NOOP("tasks", "Code"),
        "math": QT_TRANSLATE_NOOP("tasks", "Maths"),
        "reasoning": QT_TRANSLATE_NOOP("tasks", "Reasoning"),
        "knowledge": QT_TRANSLATE_NOOP("tasks", "Knowledge"),
        "advise": QT_TRANSLATE_NOOP("tasks", "Advice"),
        "roleplay": QT_TRANSLATE_NOOP("tasks", "Role play"),
    }
)


def task_name(task: str) -> str:
    """In the language of the window; one that is not known is shown as it is."""
    return QCoreApplication.translate("tasks", _NAMES[task]) if task in _NAMES else task
