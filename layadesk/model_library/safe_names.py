"""Names that come from a catalogue or a hub are hostile input: only those that stay inside a folder are taken."""

import re
from pathlib import PurePosixPath

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_FORBIDDEN = frozenset('<>:"|?*\\')
MAX_PATH = 300


def is_safe_path(path: str) -> bool:
    """Whether a relative path with `/` leads to a file below any folder, on every system we run on."""
    parts = path.split("/")
    return 0 < len(path) <= MAX_PATH and all(_is_safe_part(part) for part in parts)


def is_safe_id(model_id: str) -> bool:
    """Whether an id may be a folder's name: small letters, digits, `.`, `_`, `-`."""
    return _ID.fullmatch(model_id) is not None and _is_safe_part(model_id)


def file_name(path: str) -> str:
    """The last part of a path with `/`."""
    return PurePosixPath(path).name


def _is_safe_part(part: str) -> bool:
    if part in ("", ".", "..") or part[-1] in " ." or part[0] == " ":  # Windows drops a last dot or space
        return False
    return part.isprintable() and not _FORBIDDEN & set(part) and _DEVICES.fullmatch(part) is None
