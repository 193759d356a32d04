"""Codes for what the file system refuses."""

import errno

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.storage import StorageKind, StorageStatus, code_of_os_error


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, ErrorCode.DISK_FULL),
        (errno.EDQUOT, ErrorCode.DISK_FULL),
        (errno.EROFS, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.EACCES, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.EPERM, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.ENOTDIR, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.EIO, ErrorCode.DISK_ERROR),
        (None, ErrorCode.DISK_ERROR),
    ],
)
def test_each_refusal_has_a_code(number: int | None, code: ErrorCode) -> None:
    assert code_of_os_error(number) is code


def test_a_store_that_saves_has_nothing_to_tell() -> None:
    status = StorageStatus(StorageKind.SAVING)
    assert (status.error, status.n_unsaved, status.n_unreadable) == (None, 0, 0)
