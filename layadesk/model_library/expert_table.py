"""What the experts are good at: `models/experts.json`, as the user has set it, over what ships in `models.json`.

    {"experts": {"coder-7b": {"tasks": {"code": 0.95, "writer": 0.4}, "domains": {"programming": 0.8},
                              "languages": ["en", "zh"], "effort_ceiling": "heavy", "cost": 0.5, "can_think": false}}}

`tasks` may name a group for all its tasks. A bad entry is left out and reported; ids that are not installed are kept.
"""

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.routing_labels import DOMAINS, GROUPS, TASKS, Effort
from layadesk.domain.strengths import MIDDLING, Strengths
from layadesk.model_library.disk import write_atomically

log = logging.getLogger(__name__)

_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class StrengthsEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Strengths as they stand in a file."""

    tasks: dict[str, _Share] = {}
    domains: dict[str, _Share] = {}
    languages: tuple[str, ...] = ()
    effort_ceiling: Effort = Effort.MEDIUM
    cost: _Share = MIDDLING
    can_think: bool = False
    otherwise: _Share = MIDDLING


class ExpertTable:
    """The table on disk; read again when the file has changed. Any thread."""

    def __init__(self, path: Path, shipped: Mapping[str, Strengths] | None = None) -> None:
        self._path = path
        self._shipped = dict(shipped or {})
        self._lock = threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._own: dict[str, Strengths] = {}
        self._problems: tuple[ErrorReport, ...] = ()

    def table(self) -> Mapping[str, Strengths]:
        """Expert id → strengths, the user's before those that ship; never raises."""
        with self._lock:
            self._refresh()
            return {**self._shipped, **self._own}

    def problems(self) -> tuple[ErrorReport, ...]:
        """EXPERT_TABLE_DAMAGED for the file or for each entry that was left out."""
        with self._lock:
            self._refresh()
            return self._problems

    def set(self, model_id: str, strengths: Strengths | None) -> None:
        """Keep what the user says of an expert; None goes back to what is guessed. Raises DISK_FULL, DISK_ERROR."""
        with self._lock:
            self._refresh()
            entries = _raw_entries(self._path)
            if strengths is None:
                entries.pop(model_id, None)
            else:
                entries[model_id] = msgspec.to_builtins(strengths)
            text = json.dumps({"experts": entries}, ensure_ascii=False, indent=1)
            write_atomically(self._path, text.encode())
            self._read_at = None

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except OSError:
            self._read_at, self._own, self._problems = None, {}, ()
            return
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._read_at:
            return
        self._read_at = stamp
        self._own, problems = {}, []
        try:
            entries = json.loads(self._path.read_text("utf-8"))["experts"].items()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            self._problems = (self._problem("", f"{type(error).__name__}"),)
            return
        for model_id, raw in entries:
            try:
                self._own[model_id] = strengths_from(raw)
            except ValueError as error:  # msgspec.ValidationError is one
                problems.append(self._problem(model_id, str(error)))
        self._problems = tuple(problems)

    def _problem(self, entry: str, detail: str) -> ErrorReport:
        log.warning("expert table, entry %s: %s", entry, detail)
        facts = {"path": str(self._path), "entry": entry[:80], "detail": detail[:200]}
        return ErrorReport(ErrorCode.EXPERT_TABLE_DAMAGED, facts)


def strengths_from(raw: object) -> Strengths:
    """Strengths of an entry. Raises ValueError with what is wrong."""
    entry = msgspec.convert(raw, StrengthsEntry)
    tasks: dict[str, float] = {}
    for name, share in sorted(entry.tasks.items(), key=lambda item: item[0] in TASKS):  # a task over its group
        if name not in TASKS and name not in GROUPS:
            raise ValueError(f"no task {name}")
        tasks |= dict.fromkeys((name,) if name in TASKS else GROUPS[name], share)
    unknown = [name for name in entry.domains if name not in DOMAINS]
    if unknown:
        raise ValueError(f"no domain {unknown[0]}")
    return Strengths(
        tasks,
        dict(entry.domains),
        entry.languages,
        entry.effort_ceiling,
        entry.cost,
        entry.can_think,
        entry.otherwise,
    )


def _raw_entries(path: Path) -> dict[str, Any]:
    try:
        entries = json.loads(path.read_text("utf-8"))["experts"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return dict(entries) if isinstance(entries, dict) else {}
