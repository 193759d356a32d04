"""What Laya checkpoints are asked about a request, and how their labels and ours belong together.

Seven tasks with a description each: zero-shot checkpoints tell more options apart worse. English for both languages.
"""

from collections.abc import Mapping
from typing import Any, Final

from layadesk.domain.routing_labels import Effort

QUESTIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "task": {
        "type": "choice",
        "instructions": "What kind of help does `request` ask for?",
        "criteria": {
            "code": "write, fix, review or explain program code or commands",
            "math": "calculate, solve, prove or reason with numbers or logic",
            "write": "draft, rewrite, polish or continue a text",
            "translate": "turn text from one language into another",
            "summarize": "shorten or pull facts out of a given text",
            "explain": "answer a question of fact or explain a concept",
            "chat": "greeting, small talk, opinion or role play",
        },
    },
    "complexity": {
        "type": "choice",
        "instructions": "How much work does `request` need from an expert?",
        "criteria": {
            "light": "one short answer, a lookup or a greeting",
            "medium": "several steps or a page of text",
            "heavy": "long multi-step reasoning, a large program or a proof",
        },
    },
    "domain": {
        "type": "choice",
        "instructions": "Which field is `request` about?",
        "criteria": {
            "everyday": "daily life, hobbies, travel, relationships",
            "software": "programming, systems, data, networks",
            "science": "mathematics, physics, chemistry, biology, engineering",
            "medicine": "health, symptoms, drugs",
            "law": "contracts, rights, regulations",
            "finance": "money, business, accounting, investing",
            "culture": "language, literature, history, art, news",
        },
    },
}
# Laya's label → ours, with the share of each.
TASKS_OF: Final[Mapping[str, Mapping[str, float]]] = {
    "code": {"code": 1.0},
    "math": {"math": 0.6, "reasoning": 0.4},
    "write": {"writing": 0.6, "rewrite": 0.4},
    "translate": {"translate": 1.0},
    "summarize": {"summarise": 0.5, "extract": 0.5},
    "explain": {"knowledge": 0.7, "advise": 0.3},
    "chat": {"chat": 0.7, "roleplay": 0.3},
}
DOMAINS_OF: Final[Mapping[str, Mapping[str, float]]] = {
    "everyday": {"daily_life": 0.5, "general": 0.5},
    "software": {"programming": 1.0},
    "science": {"science": 0.5, "math": 0.5},
    "medicine": {"medicine": 1.0},
    "law": {"law": 1.0},
    "finance": {"finance": 1.0},
    "culture": {"humanities": 1.0},
}
COMPLEXITY_OF: Final[Mapping[str, int]] = {Effort.LIGHT: 2, Effort.MEDIUM: 3, Effort.HEAVY: 4}


def laya_label(ours: str, table: Mapping[str, Mapping[str, float]]) -> str | None:
    """The label of Laya's that holds one of ours; None for one it does not know."""
    return next((label for label, shares in table.items() if ours in shares), None)
