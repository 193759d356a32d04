"""The labelled prompts: those of public sources (LICENSES.md here) and those written for this project."""

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from layadesk.domain.routing_labels import DOMAINS, TASKS

HERE: Final = Path(__file__).parent
SOURCES_FILE: Final = HERE / "sources.jsonl.xz"
PROJECT_FILE: Final = HERE / "project.jsonl.xz"
PROJECT: Final = "project"


@dataclass(frozen=True, slots=True)
class Row:
    """One prompt; a label that is unknown is None. `source` names its origin, for the project's own `project`.

    `card` and `writer` are empty for rows that were not written for the project.
    """

    row_id: str
    text: str
    lang: str
    task: str | None
    domain: str | None
    source: str
    card: str = ""
    writer: str = ""
    effort: str | None = None

    @property
    def group(self) -> str:
        """What must not be split: a writer's card, or a row."""
        return f"{self.writer}/{self.card}" if self.card else self.row_id


def source_rows(path: Path = SOURCES_FILE) -> list[Row]:
    """The rows of public sources."""
    return [_row(fields) for fields in _lines(path)]


def project_rows(path: Path = PROJECT_FILE) -> list[Row]:
    """The rows written for this project; none where the file is missing."""
    return [_row(fields) for fields in _lines(path)] if path.exists() else []


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Write rows as compressed JSON Lines, the same bytes for the same rows."""
    text = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    path.write_bytes(lzma.compress(text.encode(), preset=9))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in lzma.decompress(path.read_bytes()).decode().split("\n")[:-1]:
        yield json.loads(line)


def _row(fields: dict[str, Any]) -> Row:
    task, domain = fields.get("task"), fields.get("domain")
    return Row(
        fields["id"],
        fields["text"],
        fields["lang"],
        task if task in TASKS else None,
        domain if domain in DOMAINS else None,
        fields.get("source", PROJECT),
        fields.get("card", ""),
        fields.get("writer", ""),
        fields.get("effort"),
    )
