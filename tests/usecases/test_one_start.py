"""Two starts at once on one data folder: one opens the window, the other finds it."""

import threading
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.usecases.one_start import only_start

PATIENCE_S = 10.0


class Window:
    """One that is there from some moment on; `looks` counts who asked for it."""

    def __init__(self) -> None:
        self.is_there = threading.Event()
        self.was_missed = threading.Event()

    def has_come_forward(self) -> bool:
        if not self.is_there.is_set():
            self.was_missed.set()
        return self.is_there.is_set()


def hangs() -> bool:
    raise fail(ErrorCode.ALREADY_RUNNING, path="somewhere")


def test_a_start_while_another_is_under_way_waits_for_its_window(tmp_path: Path) -> None:
    window, found = Window(), list[bool]()

    def second() -> None:
        with only_start(tmp_path, window.has_come_forward, patience_s=PATIENCE_S) as is_first:
            found.append(is_first)

    with only_start(tmp_path, window.has_come_forward) as is_first:
        assert is_first
        window.was_missed.clear()
        other = threading.Thread(target=second)
        other.start()
        assert window.was_missed.wait(PATIENCE_S)
        assert found == []
        window.is_there.set()
        other.join(PATIENCE_S)
    assert found == [False]


def test_a_start_while_the_one_before_is_still_ending_opens_a_window_when_that_is_over(tmp_path: Path) -> None:
    """Its window does not answer any more."""
    has_begun, found = threading.Event(), list[bool]()

    def asks() -> bool:
        has_begun.set()
        return hangs()

    def second() -> None:
        with only_start(tmp_path, asks, patience_s=PATIENCE_S) as is_first:
            found.append(is_first)

    with only_start(tmp_path, lambda: False):
        other = threading.Thread(target=second)
        other.start()
        assert has_begun.wait(PATIENCE_S)
        assert found == []
    other.join(PATIENCE_S)
    assert found == [True]


@pytest.mark.parametrize("window", [hangs, lambda: False])
def test_a_window_that_hangs_for_good_is_told(tmp_path: Path, window: object) -> None:
    assert callable(window)
    other = only_start(tmp_path, window, patience_s=0.0)
    with only_start(tmp_path, lambda: False), pytest.raises(LayaDeskError) as refused, other:
        pass
    assert refused.value.report.code is ErrorCode.ALREADY_RUNNING


def test_after_the_end_the_folder_is_free(tmp_path: Path) -> None:
    for _ in range(2):
        with only_start(tmp_path, lambda: False, patience_s=0.0) as is_first:
            assert is_first


def test_where_nothing_can_be_written_a_window_opens_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "run").touch()
    with only_start(tmp_path / "run", lambda: False) as is_first:
        assert is_first
