"""The same on real file systems: a full one of one MiB, and one that is mounted read-only. Needs root on Linux."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode
from layadesk.domain.storage import StorageKind, StorageStatus
from tests.fakes.store import a_question, fill, opened, result_of
from tests.store.test_kill import kill_after, start_child

pytestmark = pytest.mark.logs_warnings
TEXT = "many words " * 2_000


def _mount(*arguments: str) -> None:
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root on Linux may mount a file system for this test")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """An empty file system of one MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder))
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def make_read_only(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """Gives a second, read-only view of a folder: what root may not write to either."""
    mounted: list[Path] = []

    def make(folder: Path) -> Path:
        view = tmp_path / "view"
        view.mkdir()
        _mount("--bind", str(folder), str(view))
        mounted.append(view)
        _mount("-o", "remount,bind,ro", str(view))
        return view

    yield make
    for view in mounted:
        subprocess.run(["umount", "-l", str(view)], check=True)


def fill_up(disk: Path) -> Path:
    """Write until not one more byte fits."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for block in (65536, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(b"x" * block)
    assert shutil.disk_usage(disk).free == 0
    return filler


def test_a_disk_that_fills_up_while_chatting(small_disk: Path) -> None:
    root = small_disk / "data"
    with opened(root) as store:
        fill(store)
        filler = fill_up(small_disk)
        for n in range(20):
            result_of(store.add_messages([a_question(f"m{n}", text=TEXT)], leaf_id=f"m{n}"))
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DISK_FULL)
        assert len(result_of(store.load_messages("c1"))) == 22
        assert result_of(store.retry()).kind is StorageKind.MEMORY_ONLY
        filler.unlink()
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with opened(root) as store:
        assert len(result_of(store.load_messages("c1"))) == 22


def test_a_disk_that_is_full_at_the_start(small_disk: Path) -> None:
    root = small_disk / "data"
    with opened(root) as store:
        fill(store)
    filler = fill_up(small_disk)
    with opened(root) as store:
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DISK_FULL)
        assert len(result_of(store.load_messages("c1"))) == 2
        result_of(store.rename("c1", "x"))
        filler.unlink()
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
    with opened(root) as store:
        assert result_of(store.load_conversation("c1")).title == "x"


def test_a_new_data_directory_on_a_full_disk(small_disk: Path) -> None:
    filler = fill_up(small_disk)
    with opened(small_disk / "data") as store:
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DISK_FULL)
        fill(store)
        filler.unlink()
        assert result_of(store.retry()) == StorageStatus(StorageKind.SAVING)
        assert len(result_of(store.load_messages("c1"))) == 2


def test_a_read_only_directory_shows_the_old_chats(tmp_path: Path, make_read_only: Callable[[Path], Path]) -> None:
    with opened(tmp_path / "data") as store:
        fill(store)
    with opened(make_read_only(tmp_path / "data")) as store:
        assert store.status.error is not None
        assert (store.status.kind, store.status.error.code) == (StorageKind.MEMORY_ONLY, ErrorCode.DATA_DIR_READ_ONLY)
        assert len(result_of(store.load_messages("c1"))) == 2
        result_of(store.rename("c1", "x"))
        assert result_of(store.retry()).kind is StorageKind.MEMORY_ONLY
        assert [one.title for one in result_of(store.list_conversations())] == ["x"]


def test_a_read_only_directory_with_the_log_of_a_killed_program_shows_that_too(
    tmp_path: Path, make_read_only: Callable[[Path], Path]
) -> None:
    kill_after(start_child(tmp_path / "data", "killed"), 1)
    with opened(make_read_only(tmp_path / "data")) as store:
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DATA_DIR_READ_ONLY
        assert "killed-q0" in result_of(store.load_messages("killed"))


def test_an_empty_read_only_directory_is_no_reason_not_to_chat(
    tmp_path: Path, make_read_only: Callable[[Path], Path]
) -> None:
    (tmp_path / "data").mkdir()
    with opened(make_read_only(tmp_path / "data")) as store:
        assert store.status.error is not None
        assert store.status.error.code is ErrorCode.DATA_DIR_READ_ONLY
        fill(store)
        assert len(result_of(store.load_messages("c1"))) == 2
