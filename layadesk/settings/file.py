"""The settings file: JSON that a person may edit. What makes no sense in it is left out and told, never an obstacle.

    {"schema": 1, "values": {"ui.language": "en", …}}

Only what differs from the defaults is in it. Keys that this version does not know are kept, at both levels, for the
newer program they may belong to.
"""

import json
import logging
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.storage import code_of_os_error
from layadesk.settings.definitions import ALL_SETTINGS, REMOVED, RENAMED, Setting, SettingValue

log = logging.getLogger(__name__)

SCHEMA = 1
MAX_FILE_BYTES = 4 * 2**20


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What was read. `values` are valid; `strangers` and `frame` are what this version does not know."""

    values: Mapping[str, SettingValue] = field(default_factory=dict)
    strangers: Mapping[str, Any] = field(default_factory=dict)
    frame: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[ErrorReport, ...] = ()


def load(
    path: Path,
    *,
    settings: Iterable[Setting[Any]] = ALL_SETTINGS,
    renamed: Mapping[str, str] = RENAMED,
    removed: frozenset[str] = REMOVED,
) -> SettingsFile:
    """Read the file; never raises. Where anything in it is bad, the file as it was is kept as `settings.json.bak`."""
    try:
        frame = _read(path)
        raw = frame.pop("values", {})
        if not isinstance(raw, dict):
            raise _damaged(path, "values is no object")
    except LayaDeskError as error:
        log.warning("settings are at their defaults: %s", error)
        _keep_as_bak(path)
        return SettingsFile(problems=(error.report,))
    known = {setting.key: setting for setting in settings}
    values: dict[str, SettingValue] = {}
    strangers: dict[str, Any] = {}
    problems: list[ErrorReport] = []
    for old_key, value in raw.items():
        key = renamed.get(old_key, old_key)
        if key in removed or (key != old_key and key in raw):
            continue
        if key not in known:
            strangers[key] = value
            continue
        try:
            values[key] = known[key].check(value)
        except LayaDeskError as error:
            problems.append(error.report)
    if problems:
        log.warning("%d settings are at their defaults, their values in the file are not valid", len(problems))
        _keep_as_bak(path)
    return SettingsFile(values, strangers, frame, tuple(problems))


def save(path: Path, content: SettingsFile) -> None:
    """Write the whole file beside the old one and exchange the two, so that a crash leaves one or the other.

    Blocks for the disk. Raises DISK_FULL, DATA_DIR_READ_ONLY, DISK_ERROR, with the old file unchanged.
    """
    schema = content.frame.get("schema")
    newest = schema if type(schema) is int and schema > SCHEMA else SCHEMA
    whole = {**content.frame, "schema": newest, "values": {**content.strangers, **content.values}}
    try:
        write_whole(path, _encode(whole))
    except OSError as error:
        raise fail(code_of_os_error(error.errno), path=str(path), detail=error.strerror) from error


def write_whole(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Replace a file whole or not at all; `mode` is whom it lets in from its first moment on. Raises OSError."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError:
        _remove(part)
        raise


def _read(path: Path) -> dict[str, Any]:
    try:
        if not path.exists():
            return {}
        if not path.is_file():  # a folder; or a pipe, which would never end
            raise _damaged(path, "no file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _damaged(path, error.strerror or "unreadable") from error
    if len(content) > MAX_FILE_BYTES:
        raise _damaged(path, f"more than {MAX_FILE_BYTES} bytes")
    try:
        frame = json.loads(content.decode("utf-8-sig"))  # editors on Windows write a byte-order mark
        _encode(frame)  # what is nested too deep to be written again would fail at each save
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"no JSON ({type(error).__name__})") from error
    if not isinstance(frame, dict):
        raise _damaged(path, "no object")
    return frame


def _encode(whole: Mapping[str, Any]) -> bytes:
    text = json.dumps(whole, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"  # JSON's own escapes for halves of surrogate pairs


def _damaged(path: Path, detail: str) -> LayaDeskError:
    return fail(ErrorCode.SETTINGS_DAMAGED, path=str(path), detail=detail)


def _keep_as_bak(path: Path) -> None:
    try:
        if path.is_file():
            shutil.copyfile(path, path.with_name(path.name + ".bak"))
    except OSError as error:
        log.warning("the settings file could not be copied: %s", error)


def _remove(part: Path) -> None:
    try:
        part.unlink(missing_ok=True)
    except OSError as error:
        log.info("a part of a settings file stays behind: %s", error)
