"""Files that are whole or not there."""

import errno
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from layadesk.domain.errors import EnvironmentFailure, ErrorCode
from layadesk.model_library.disk import copy_verified, disk_failure, write_atomically


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, ErrorCode.DISK_FULL),
        (errno.EROFS, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.EACCES, ErrorCode.DATA_DIR_READ_ONLY),
        (errno.EIO, ErrorCode.DISK_ERROR),
    ],
)
def test_errors_of_the_disk_become_words(tmp_path: Path, number: int, code: ErrorCode) -> None:
    failure = disk_failure(OSError(number, "x"), tmp_path)
    assert isinstance(failure, EnvironmentFailure)
    assert failure.code is code


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    target = tmp_path / "list.json"
    write_atomically(target, b"old")
    (tmp_path / "sub").mkdir()
    blocked = tmp_path / "sub" / "dir.json"
    (blocked / "full").mkdir(parents=True)  # a folder in its place cannot be replaced
    with pytest.raises(EnvironmentFailure):
        write_atomically(blocked, b"new")
    write_atomically(target, b"new")
    assert target.read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.glob("**/*") if path.is_file()) == ["list.json"]


def test_a_copy_that_would_not_fit_is_refused_with_both_numbers_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a"
    source.write_bytes(b"x" * 1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=999))
    with pytest.raises(EnvironmentFailure) as caught:
        copy_verified(source, tmp_path / "b" / "c", sha256=None)
    assert caught.value.code is ErrorCode.DISK_FULL
    assert (caught.value.facts["needed_bytes"], caught.value.facts["free_bytes"]) == (1000, 999)
    assert list((tmp_path / "b").iterdir()) == []


def test_a_copy_is_whole(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_bytes(b"x" * 3_000_000)
    copy_verified(source, tmp_path / "b", sha256=None)
    assert (tmp_path / "b").read_bytes() == source.read_bytes()
