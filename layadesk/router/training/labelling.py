"""Labellings of the project's prompts become rows: what two of them agree on stays, head by head; the rest is counted.

Two labellers worked without sight of the card and of each other. Where one is missing, the card stands in for it; where
both are, the card's task alone is taken, and nothing else. `labelled_by` of a row says which.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from layadesk.domain.routing_labels import DOMAINS, TASKS, Effort
from layadesk.router.training.rows import HERE

LABELLING_FILE: Final = HERE / "labelling.json"
HEADS: Final[Mapping[str, tuple[str, ...]]] = {"task": TASKS, "domain": DOMAINS, "effort": tuple(Effort)}
ORIGIN: Final = "project-written"
Labels = Mapping[str, Mapping[str, Any]]  # prompt id → head → label


class LabelledBy(StrEnum):
    """Whose word the labels of a row are."""

    TWO_LABELLERS = "two labellers"
    LABELLER_AND_CARD = "a labeller and the card"
    CARD = "the card"


@dataclass(frozen=True, slots=True)
class Labelling:
    """How it went: prompts by who labelled them, and by head the share on which two labellers, or a labeller and the
    card, differ.
    """

    n: Mapping[str, int]
    labellers_differ: Mapping[str, float]
    card_differs: Mapping[str, float]


def join(
    prompts: Sequence[Mapping[str, Any]], cards: Labels, first: Labels, second: Labels
) -> tuple[list[dict[str, Any]], Labelling]:
    """Rows of the prompts on whose task or domain two agree, in the order of `prompts`."""
    rows: list[dict[str, Any]] = []
    n = dict.fromkeys((str(by) for by in LabelledBy), 0)
    pairs: dict[str, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {"labellers": [], "card": []}
    for prompt in prompts:
        known = [labels[prompt["id"]] for labels in (first, second) if prompt["id"] in labels]
        card = cards[prompt["id"]]
        pairs["card"] += [(card, labels) for labels in known]
        row = {key: prompt[key] for key in ("id", "text", "lang", "card", "writer")} | {"origin": ORIGIN}
        if len(known) == 2:
            by, agreed = LabelledBy.TWO_LABELLERS, agreement(known[0], known[1])
            pairs["labellers"].append((known[0], known[1]))
        elif known:
            by, agreed = LabelledBy.LABELLER_AND_CARD, agreement(known[0], card)
        else:
            by, agreed = LabelledBy.CARD, {"task": card["task"]}
        n[by] += 1
        if "task" in agreed or "domain" in agreed:
            rows.append(row | agreed | {"labelled_by": str(by)})
    return rows, Labelling(n, _differ(pairs["labellers"]), _differ(pairs["card"]))


def agreement(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, str]:
    """The heads on which both say the same known label."""
    return {head: one[head] for head, known in HEADS.items() if one.get(head) == other.get(head) and one[head] in known}


def _differ(pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> dict[str, float]:
    return {head: round(sum(head not in agreement(*pair) for pair in pairs) / len(pairs), 4) for head in HEADS if pairs}


def read_labelling(file: Path = LABELLING_FILE) -> Labelling | None:
    """What was kept beside the rows; None where there is nothing."""
    if not file.exists():
        return None
    fields = json.loads(file.read_text("utf-8"))
    return Labelling(fields["n"], fields["labellers_differ"], fields["card_differs"])
