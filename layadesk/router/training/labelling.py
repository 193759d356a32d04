"""Two labellings of the project's prompts become rows: what they agree on stays, head by head; the rest is counted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from layadesk.domain.routing_labels import DOMAINS, TASKS, Effort
from layadesk.router.training.rows import HERE

LABELLING_FILE: Final = HERE / "labelling.json"
HEADS: Final[Mapping[str, tuple[str, ...]]] = {"task": TASKS, "domain": DOMAINS, "effort": tuple(Effort)}
ORIGIN: Final = "project-written"


@dataclass(frozen=True, slots=True)
class Labelling:
    """How it went: prompts with both labellings, and by head the share on which the two differ."""

    n_both: int
    disagreement: Mapping[str, float]


def join(
    prompts: Sequence[Mapping[str, Any]],
    first: Mapping[str, Mapping[str, Any]],
    second: Mapping[str, Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], Labelling]:
    """Rows of the prompts on which both labellings say the same task or the same domain."""
    rows: list[dict[str, Any]] = []
    differ = dict.fromkeys(HEADS, 0)
    both = [prompt for prompt in prompts if prompt["id"] in first and prompt["id"] in second]
    for prompt in both:
        row = {key: prompt[key] for key in ("id", "text", "lang", "card", "writer")} | {"origin": ORIGIN}
        for head, known in HEADS.items():
            one, other = first[prompt["id"]].get(head), second[prompt["id"]].get(head)
            if one == other and one in known:
                row[head] = one
            else:
                differ[head] += 1
        if "task" in row or "domain" in row:
            rows.append(row)
    rows.sort(key=lambda row: (row["writer"], row["card"], row["id"]))
    return rows, Labelling(len(both), {head: n / max(1, len(both)) for head, n in differ.items()})


def read_labelling(file: Path = LABELLING_FILE) -> Labelling | None:
    """What was kept beside the rows; None where there is nothing."""
    if not file.exists():
        return None
    fields = json.loads(file.read_text("utf-8"))
    return Labelling(fields["n_both"], fields["disagreement"])
