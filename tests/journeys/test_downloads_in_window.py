"""Downloads that meet the worst, through the real window over the real rooms: killed, no room, in parts, a mirror."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from layadesk.domain.downloads import DownloadState
from layadesk.model_library import library_disk
from layadesk.model_library.hub import Hub, HubRules
from tests.fakes.gguf_files import write_shards
from tests.fakes.library import FILE, REPO, SIZE, TOKEN
from tests.fakes.models_journey import Journey
from tests.fakes.models_window import ROW
from tests.fakes.window_program import REPO as SOURCE

pytestmark = [
    pytest.mark.logs_warnings,
    pytest.mark.qt_log_ignore("^This plugin does not support propagateSizeHints"),
]


def first_bytes(journey: Journey, n_seen: int) -> list[int]:
    """Where each request for bytes began, of those after the first `n_seen`."""
    asked = [request for request in journey.hub.gets()[n_seen:] if request.path.endswith(".gguf")]
    ranges = [request.range or "bytes=0-" for request in asked]
    return [int(one.removeprefix("bytes=").partition("-")[0]) for one in ranges]


def kill_at(share: float, journey: Journey) -> str:
    """Download in a window of another process and end that with SIGKILL when its row says `share`; the row then."""
    command = [sys.executable, "-m", "tests.fakes.models_window", str(journey.root)]
    said = ""
    with subprocess.Popen(command, cwd=SOURCE, stdout=subprocess.PIPE, text=True, encoding="utf-8") as program:
        assert program.stdout is not None
        try:
            for line in program.stdout:
                said = line.strip()
                if any(part.endswith(" %") and int(part[:-2]) >= share * 100 for part in said.split(" · ")):
                    break
        finally:
            program.kill()
    return said


def test_a_program_killed_at_60_percent_goes_on_from_the_byte_after_the_restart(closed_journey: Journey) -> None:
    journey = closed_journey
    journey.hub.fault(REPO, FILE, bytes_per_s=2_500_000, hang_after=round(SIZE * 0.65))
    said = kill_at(0.6, journey)
    assert "downloading" in said.casefold()
    (part,) = journey.shelf.staged
    kept = part.stat().st_size
    assert SIZE * 0.6 <= kept < SIZE * 0.7
    journey.hub.faults.clear()
    n_seen = len(journey.hub.gets())
    journey.open()
    journey.wait(lambda: journey.row is not None)
    assert (journey.state, journey.n_installed) == (DownloadState.PAUSED, 0)
    assert journey.row is not None
    assert f"{kept * 100 // SIZE} %" in journey.row.text()
    journey.go_on()
    assert first_bytes(journey, n_seen) == [kept]
    assert journey.n_installed == 1


def test_a_split_model_is_one_row_and_not_there_before_its_last_shard(closed_journey: Journey, tmp_path: Path) -> None:
    journey = closed_journey
    shards = [(path.name, path.read_bytes()) for path in write_shards(tmp_path / "made", "tiny", 2)]
    journey.shelf.entries.clear()
    journey.shelf.offer("tiny", *((name, journey.hub.add(REPO, name, data)) for name, data in shards))
    journey.hub.fault(REPO, shards[1][0], hang_after=0)
    journey.open()
    assert "in 2 parts" in journey.details.quantizations.rows[0].note()
    row = journey.download(DownloadState.RUNNING)
    journey.wait(lambda: row.download.n_bytes_done == len(shards[0][1]) and journey.state is DownloadState.RUNNING)
    assert [one.download.download_id for one in journey.opened.rows] == [ROW]
    assert journey.n_installed == 0
    assert not journey.details.chat.isVisibleTo(journey.window)
    assert row.steer.isEnabled()
    row.steer.click()
    journey.wait(lambda: journey.state is DownloadState.PAUSED)
    journey.hub.faults.clear()
    journey.go_on()
    assert len(journey.opened.rows) == 1
    (model,) = journey.desk.use_cases.experts.list()
    folder = Path(model.path).parent
    assert {name: (folder / name).read_bytes() for name, _ in shards} == dict(shards)
    journey.wait(lambda: journey.details.chat.isVisibleTo(journey.window))


def test_a_disk_that_fills_up_is_told_in_words_and_nothing_is_lost(
    closed_journey: Journey, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = closed_journey
    values = {"models.directory": str(small_disk), "downloads.reserve_gib": 0.0}
    (journey.root / "settings.json").write_text(json.dumps({"schema": 1, "values": values}), encoding="utf-8")
    monkeypatch.setattr(library_disk, "free_bytes", lambda _: None)  # somebody else fills it after the check
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 2_500_000)
    journey.open()
    row = journey.download(DownloadState.PAUSED)
    assert "the disk is too full for this download" in row.failure_text().casefold()
    assert "nothing is lost" in row.failure_text()
    (part,) = small_disk.rglob("*.part")
    kept = part.stat().st_size
    assert 1_000_000 < kept < SIZE
    assert f"{kept * 100 // SIZE} %" in row.text()
    assert journey.n_installed == 0
    filler.unlink()
    n_seen = len(journey.hub.gets())
    journey.go_on()
    assert first_bytes(journey, n_seen) == [kept]
    assert row.failure_text() == ""
    assert journey.n_installed == 1


def test_a_mirror_is_named_in_the_row_and_never_sees_the_token(
    closed_journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey, mirror = closed_journey, closed_journey.hub
    monkeypatch.delenv("HF_ENDPOINT")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert Hub(HubRules).token() is not None
    journey.open()
    journey.desk.use_cases.settings.set("downloads.endpoint", mirror.url)
    mirror.gated.add(REPO)  # it asks for one, and does not get it
    row = journey.download(DownloadState.FAILED)
    assert f"from 127.0.0.1:{mirror.port}" in row.text()
    mirror.gated.clear()
    row.steer.click()
    journey.wait(lambda: journey.state is DownloadState.INSTALLED)
    assert f"from 127.0.0.1:{mirror.port}" in row.text()
    assert len(mirror.log) >= 3
    assert {request.token for request in mirror.log} == {None}
