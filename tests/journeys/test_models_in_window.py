"""Models from a hub to a chat, through the real window over the real rooms; the hub cuts, lies and refuses."""

from pathlib import Path

import pytest

from layadesk.domain.chat import MessageStatus
from layadesk.domain.downloads import DownloadState
from tests.fakes.library import FILE, REPO, SIZE
from tests.fakes.models_journey import Journey

pytestmark = [
    pytest.mark.logs_warnings,
    pytest.mark.qt_log_ignore("^This plugin does not support propagateSizeHints"),  # of the platform without a screen
]


def test_one_click_downloads_and_the_next_chats_with_it(journey: Journey) -> None:
    journey.download(DownloadState.INSTALLED)
    journey.wait(lambda: journey.details.chat.isVisibleTo(journey.window))
    journey.details.chat.click()
    page = journey.window.page
    journey.wait(lambda: page.conversation.expert_id == "tiny")
    journey.desk.start()
    page.composer.text_box.setPlainText("Hello")
    page.composer.text_box.submitted.emit()
    journey.wait(lambda: page.transcript.branch and page.transcript.branch[-1].status is MessageStatus.COMPLETE)
    assert page.transcript.branch[-1].expert_id == "tiny"


def test_a_line_that_is_cut_goes_on_from_the_byte_by_itself(journey: Journey) -> None:
    journey.hub.fault(REPO, FILE, cut_after=1_000_000, cut_times=1)
    row = journey.download(DownloadState.INSTALLED)
    assert "installed" in row.text()
    asked = [request.range for request in journey.hub.gets() if request.range]
    assert any(one.startswith("bytes=") and not one.startswith("bytes=0-") for one in asked)


def test_a_file_with_another_sum_is_not_installed_and_the_words_say_why(journey: Journey) -> None:
    journey.hub.fault(REPO, FILE, corrupt=True)
    row = journey.download(DownloadState.FAILED)
    assert "checksum is wrong" in row.failure_text()
    assert journey.n_installed == 0
    assert journey.details.download.text().startswith("Try again")


def test_a_gated_model_says_what_to_do_and_where(journey: Journey) -> None:
    journey.hub.gated.add(REPO)
    row = journey.download(DownloadState.FAILED)
    assert "token" in row.failure_text().casefold()
    assert journey.n_installed == 0


def test_pause_stops_the_bytes_and_go_on_takes_them_up(journey: Journey) -> None:
    fault = journey.hub.fault(REPO, FILE, bytes_per_s=1_500_000)
    row = journey.download(DownloadState.RUNNING)
    journey.wait(lambda: row.download.n_bytes_done > 100_000)
    row.steer.click()
    journey.wait(lambda: journey.state is DownloadState.PAUSED)
    n_bytes = row.download.n_bytes_done
    assert 0 < n_bytes < SIZE
    fault.bytes_per_s = 0
    row.steer.click()
    journey.wait(lambda: journey.state is DownloadState.INSTALLED)


def test_what_was_under_way_when_the_program_ended_is_there_at_the_next_start(journey: Journey) -> None:
    journey.hub.fault(REPO, FILE, hang_after=SIZE * 4 // 10)  # so that it is under way however long a look takes
    row = journey.download(DownloadState.RUNNING)
    journey.wait(lambda: row.download.n_bytes_done > SIZE * 0.3)
    journey.close()
    journey.hub.faults.clear()
    n_before = len(journey.hub.gets())
    journey.open()
    journey.wait(lambda: journey.row is not None)
    assert journey.row is not None
    journey.row.steer.click()
    journey.wait(lambda: journey.state is DownloadState.INSTALLED)
    later = [request.range or "" for request in journey.hub.gets()[n_before:]]
    assert all(one != "" and not one.startswith("bytes=0-") for one in later)


def test_removing_deletes_the_file_and_says_how_much_came_free(journey: Journey) -> None:
    journey.download(DownloadState.INSTALLED)
    page = journey.window.models.page
    page.show_disk(is_shown=True)
    journey.wait(lambda: "tiny" in page.disk.rows)
    path = Path(page.disk.rows["tiny"].model.path)
    assert path.stat().st_size == SIZE
    page.disk.rows["tiny"].remove.click()
    journey.wait(lambda: page.doing.box is not None)
    box = page.doing.box
    assert box is not None
    next(button for button in box.buttons() if button.text() == "Remove, 3 MiB").click()
    journey.wait(lambda: not page.disk.rows)
    assert not path.exists()
    assert journey.window.toast.text() == "3 MiB came free."
