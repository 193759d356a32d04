"""`models/remote.json`: the experts that run elsewhere, as the user has entered them. Keys are never in it.

    {"schema_version": 1, "experts": [{"model_id": "remote:big", "name": "Big", "base_url": "https://host/v1",
                                       "model": "big-70b", "n_ctx": 32768, "strengths": {"tasks": {"code": 0.9}}}]}

Read entry by entry: a bad one is left out and reported, and carried along when the file is written.
"""

import json
import logging
import threading
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.remote import REMOTE_PREFIX, RemoteExpert, checked_url, is_remote
from layadesk.model_library.disk import write_atomically
from layadesk.model_library.expert_table import strengths_from
from layadesk.model_library.inventory_file import move_aside
from layadesk.model_library.model_ids import free_id, slug

log = logging.getLogger(__name__)

SCHEMA_VERSION: Final = 1
N_CTX_LEAST: Final = 256
MAX_NAME: Final = 200
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]


class _Entry(msgspec.Struct, frozen=True):
    model_id: _Name
    base_url: str
    model: _Name
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME)] = ""
    n_ctx: Annotated[int, msgspec.Meta(ge=N_CTX_LEAST, le=2**31)] | None = None
    strengths: dict[str, Any] | None = None


class RemoteList:
    """The list on disk; read again when the file has changed. Any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._read_at: tuple[int, int] | None = None
        self._experts: dict[str, RemoteExpert] = {}
        self._problems: tuple[ErrorReport, ...] = ()

    def experts(self) -> tuple[RemoteExpert, ...]:
        """In the order in which they were added; never raises."""
        with self._lock:
            self._refresh()
            return tuple(self._experts.values())

    def find(self, model_id: str) -> RemoteExpert | None:
        """One by its id."""
        with self._lock:
            self._refresh()
            return self._experts.get(model_id)

    def problems(self) -> tuple[ErrorReport, ...]:
        """REMOTE_LIST_DAMAGED for the file or for each entry that was left out."""
        with self._lock:
            self._refresh()
            return self._problems

    def free_id(self, name: str) -> str:
        """A new id, made of a name."""
        taken = {one.model_id for one in self.experts()}
        return free_id(f"{REMOTE_PREFIX}{slug(name)}", taken)

    def put(self, expert: RemoteExpert) -> None:
        """Add it, or replace the one with its id. Raises DISK_FULL & co."""
        new = msgspec.to_builtins(expert)
        self._change(expert.model_id, new)

    def drop(self, model_id: str) -> None:
        """Take one out; silent for those that are not there. Raises DISK_FULL & co."""
        self._change(model_id, None)

    def _change(self, model_id: str, new: dict[str, Any] | None) -> None:
        with self._lock:
            rows = self._rows_on_disk()
            at = next((i for i, row in enumerate(rows) if _id_of(row) == model_id), len(rows))
            rows[at : at + 1] = [] if new is None else [new]
            document = {"schema_version": SCHEMA_VERSION, "experts": rows}
            write_atomically(self._path, json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace"))
            self._read_at = None

    def _rows_on_disk(self) -> list[Any]:
        """As they are, bad ones too; a file that is no list is kept beside the new one."""
        try:
            rows = _rows(self._path.read_bytes())
        except FileNotFoundError:
            return []
        except (OSError, ValueError):
            move_aside(self._path)
            return []
        return rows

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except OSError:
            self._read_at, self._experts, self._problems = None, {}, ()
            return
        stamp = (status.st_mtime_ns, status.st_size)
        if stamp == self._read_at:
            return
        self._read_at, self._experts = stamp, {}
        rows, problems = [], []
        try:
            rows = _rows(self._path.read_bytes())
        except (OSError, ValueError) as error:
            problems.append(self._problem(str(error)))
        for row in rows:
            try:
                expert = _expert(row)
            except (ValueError, LayaDeskError) as error:  # msgspec.ValidationError is one
                problems.append(self._problem(str(error)))
                continue
            if expert.model_id in self._experts:
                problems.append(self._problem(f"a second {expert.model_id}"))
            else:
                self._experts[expert.model_id] = expert
        self._problems = tuple(problems)

    def _problem(self, detail: str) -> ErrorReport:
        log.warning("list of remote experts: %s", detail[:200])
        return ErrorReport(ErrorCode.REMOTE_LIST_DAMAGED, {"path": str(self._path), "detail": detail[:200]})


def _rows(content: bytes) -> list[Any]:
    """Raises ValueError for what is no list."""
    try:
        rows = json.loads(content)["experts"]
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError("experts is no list") from error
    if not isinstance(rows, list):
        raise ValueError("experts is no list")  # noqa: TRY004 - it is the content of a file
    return rows


def _id_of(row: object) -> object:
    return row.get("model_id") if isinstance(row, dict) else None


def _expert(row: object) -> RemoteExpert:
    entry = msgspec.convert(row, _Entry)
    if not is_remote(entry.model_id):
        raise ValueError(f"{entry.model_id} does not begin with {REMOTE_PREFIX}")
    return RemoteExpert(
        entry.model_id,
        entry.name or entry.model,
        checked_url(entry.base_url),
        entry.model,
        entry.n_ctx,
        None if entry.strengths is None else strengths_from(entry.strengths),
    )
