"""What is said about the children and about saving, at the moment it happens."""

import pytest

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.storage import StorageKind, StorageStatus
from layadesk.domain.worker_state import ExitKind, WorkerExit, WorkerKind, WorkerState, WorkerStatus
from layadesk.ui.widgets.banner import Banner
from tests.ui.conftest import Stage
from tests.ui.hands import click

KILLED = WorkerExit(ExitKind.KILLED, "SIGKILL", ("loading tensors", "killed"))


def banner(stage: Stage, name: str) -> Banner:
    found = stage.window.findChild(Banner, f"banner-{name}")
    assert found is not None
    return found


def tell(stage: Stage, status: WorkerStatus | StorageStatus) -> None:
    def publish() -> None:
        if isinstance(status, WorkerStatus):
            stage.house.workers.feed.publish(status)
        else:
            stage.house.storage.feed.publish(status)

    stage.house.engine.wait(publish)
    stage.settle()


def test_while_all_is_well_no_banner_is_shown(stage: Stage) -> None:
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.STARTING))
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.READY))
    tell(stage, StorageStatus(StorageKind.SAVING))
    assert [one for one in stage.window.findChildren(Banner) if not one.isHidden()] == []


def test_a_killed_engine_is_told_in_words_and_its_return_too(stage: Stage) -> None:
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.WAITING, KILLED, retry_in_s=0.5))
    engine = banner(stage, "engine")
    assert not engine.isHidden()
    assert engine.text() == (
        "The engine stopped: the system ended it, most likely because memory ran out (SIGKILL). It starts again in "
        "0.5 s. A smaller expert or a shorter context needs less memory."
    )
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.STARTING))
    assert "stopped" in engine.text()
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.READY))
    assert engine.text() == "The engine is running again."
    assert not engine.isHidden()


def test_details_unfold_the_last_lines_of_the_log(stage: Stage) -> None:
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.WAITING, KILLED, retry_in_s=2.0))
    engine = banner(stage, "engine")
    assert engine.log_text() == ""
    click(engine.details)
    assert engine.log_text() == "loading tensors\nkilled"


def test_an_engine_that_was_given_up_can_be_started_again(stage: Stage) -> None:
    crash = WorkerExit(ExitKind.NATIVE_CRASH, "SIGSEGV")
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.GIVEN_UP, crash))
    engine = banner(stage, "engine")
    assert "stopped too often and stays off: it crashed in native code (SIGSEGV)." in engine.text()
    assert engine.action.text() == "Start again"
    click(engine.action)
    assert stage.house.workers.restarted == [WorkerKind.ENGINE]


def test_without_the_router_the_chat_goes_on_and_that_is_said(stage: Stage) -> None:
    ended = WorkerExit(ExitKind.PYTHON_ERROR, "70")
    tell(stage, WorkerStatus(WorkerKind.ROUTER, WorkerState.GIVEN_UP, ended))
    text = banner(stage, "router").text()
    assert text.startswith("The router stopped too often")
    assert "The default expert answers meanwhile." in text
    assert banner(stage, "engine").isHidden()


def test_a_closed_banner_comes_back_with_the_next_crash(stage: Stage) -> None:
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.WAITING, KILLED, retry_in_s=0.5))
    engine = banner(stage, "engine")
    click(engine.cross)
    assert engine.isHidden()
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.READY))
    assert engine.isHidden()
    tell(stage, WorkerStatus(WorkerKind.ENGINE, WorkerState.WAITING, KILLED, retry_in_s=2.0))
    assert not engine.isHidden()


@pytest.mark.parametrize(
    ("n", "said"), [(1, "1 change is waiting to be saved."), (3, "3 changes are waiting to be saved.")]
)
def test_a_full_disk_is_told_with_what_waits(stage: Stage, n: int, said: str) -> None:
    tell(stage, StorageStatus(StorageKind.MEMORY_ONLY, ErrorReport(ErrorCode.DISK_FULL), n))
    storage = banner(stage, "storage")
    assert storage.text() == (
        "Your conversations are kept in memory only and not saved. The disk with the data folder is full. "
        f"Free some space; what was not saved is saved then. {said}"
    )
    assert storage.cross.isHidden()
    tell(stage, StorageStatus(StorageKind.SAVING))
    assert storage.isHidden()


def test_saving_can_be_tried_again(stage: Stage) -> None:
    tell(stage, StorageStatus(StorageKind.MEMORY_ONLY, ErrorReport(ErrorCode.DATA_DIR_READ_ONLY, {"path": "/x"}), 1))
    storage = banner(stage, "storage")
    assert "The data folder cannot be written to (/x)." in storage.text()
    click(storage.action)
    stage.qtbot.waitUntil(storage.isHidden)  # the fake's disk is well
    assert stage.house.storage.n_retries == 1


def test_a_mended_database_is_told_once_with_what_is_left(stage: Stage) -> None:
    facts: dict[str, str | int | float | bool | None] = {"moved_to": "/x/damaged-1.sqlite3", "n_messages": 12}
    tell(stage, StorageStatus(StorageKind.SAVING, ErrorReport(ErrorCode.DATABASE_DAMAGED, facts)))
    storage = banner(stage, "storage")
    assert storage.text().endswith("12 messages are here.")
    click(storage.details)
    assert storage.log_text() == "/x/damaged-1.sqlite3"
    click(storage.cross)
    assert storage.isHidden()


def test_rows_that_could_not_be_read_are_counted(stage: Stage) -> None:
    tell(stage, StorageStatus(StorageKind.SAVING, n_unreadable=2))
    assert banner(stage, "storage").text() == "2 saved messages could not be read; all others are here."


def test_a_banner_changes_its_language_while_it_is_shown(stage: Stage) -> None:
    tell(stage, StorageStatus(StorageKind.MEMORY_ONLY, ErrorReport(ErrorCode.DISK_FULL), 1))
    stage.appearance.choose_language("zh_CN")
    stage.qtbot.waitUntil(lambda: "只在内存中" in banner(stage, "storage").text())
    stage.appearance.choose_language("en")
