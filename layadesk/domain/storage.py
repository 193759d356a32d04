"""Where conversations are kept at this moment, as the banner of the window shows it."""

import errno
from dataclasses import dataclass
from enum import StrEnum

from layadesk.domain.errors import ErrorCode, ErrorReport

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# A file where the data directory should be is the same to the person: nothing can be written there.
_REFUSED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EEXIST, errno.EISDIR})


class StorageKind(StrEnum):
    """Whether what is said now will still be there after the program ends."""

    SAVING = "saving"
    MEMORY_ONLY = "memory_only"


@dataclass(frozen=True, slots=True)
class StorageStatus:
    """`error` with MEMORY_ONLY is why the disk refuses; with SAVING it is what was mended, and is for reading once.

    A mended database is DATABASE_DAMAGED with the facts `path`, `moved_to`, `backup` (None: there was no good one) and
    `n_messages`, how many there are now. `n_unsaved` counts conversations and messages that are in memory only.
    `n_unreadable` counts the rows that could not be read, or only in part, since the start.
    """

    kind: StorageKind
    error: ErrorReport | None = None
    n_unsaved: int = 0
    n_unreadable: int = 0


def code_of_os_error(number: int | None) -> ErrorCode:
    """The code for an `errno` met while files were written. None, where the system gave no number, is DISK_ERROR."""
    if number in _FULL:
        return ErrorCode.DISK_FULL
    if number in _REFUSED:
        return ErrorCode.DATA_DIR_READ_ONLY
    return ErrorCode.DISK_ERROR
