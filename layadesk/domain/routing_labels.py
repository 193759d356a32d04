"""The words a router answers in: what is asked for, what it is about, and how much work it is."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

TASKS: Final = (
    "chat", "writing", "rewrite", "translate", "summarise", "extract", "code", "math", "reasoning", "knowledge",
    "advise", "roleplay",
)  # fmt: skip
DOMAINS: Final = (
    "general", "daily_life", "programming", "math", "science", "medicine", "law", "finance", "humanities",
)  # fmt: skip
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "coder": ("code",),
    "reasoner": ("math", "reasoning"),
    "chat": ("chat", "roleplay"),
    "writer": ("writing", "rewrite", "translate", "summarise", "extract"),
    "general": ("knowledge", "advise"),
}
GROUP_OF: Final[Mapping[str, str]] = {task: group for group, tasks in GROUPS.items() for task in tasks}


class Effort(StrEnum):
    """How much work a good answer takes; 1–5 in a stored route as `complexity`."""

    LIGHT = "light"
    MEDIUM = "medium"
    HEAVY = "heavy"


def effort_of(complexity: int | None) -> Effort | None:
    """Light for 1 and 2, medium for 3, heavy from 4 on; None where nobody said."""
    if complexity is None:
        return None
    if complexity <= 2:
        return Effort.LIGHT
    return Effort.MEDIUM if complexity == 3 else Effort.HEAVY
