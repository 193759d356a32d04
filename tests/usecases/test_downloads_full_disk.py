"""A disk that fills up during a download, on a real small file system. Needs root on Linux."""

from pathlib import Path

import pytest

from layadesk.domain.downloads import DownloadState
from layadesk.domain.errors import ErrorCode
from layadesk.model_library import library_disk
from layadesk.model_library.hub import HubRules
from layadesk.paths import DataPaths
from tests.fakes.fake_hub import FakeHub
from tests.fakes.library import SIZE, Shelf, ended

pytestmark = pytest.mark.logs_warnings


def test_a_full_disk_pauses_and_not_a_byte_is_lost(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_disk, "free_bytes", lambda _: None)  # somebody else fills it after the check
    for name in ("HF_ENDPOINT", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * 2_500_000)
    with FakeHub() as hub:
        shelf = Shelf(DataPaths(small_disk / "data"), hub, HubRules(home=hub.url, stall_s=5))
        served = shelf.serve()
        downloads = shelf.open()
        row = ended(downloads, downloads.start("tiny", "Q4_K_M"))
        assert row.failure is not None
        assert (row.state, row.failure.code) == (DownloadState.PAUSED, ErrorCode.NO_ROOM_FOR_DOWNLOAD)
        (part,) = shelf.staged
        kept = part.stat().st_size
        assert 1_000_000 < kept < SIZE
        assert part.read_bytes() == served.data[:kept]
        filler.unlink()
        downloads.resume(row.download_id)
        assert ended(downloads, row.download_id).state is DownloadState.INSTALLED
        assert hub.gets()[-1].range == f"bytes={kept}-"
        downloads.close()
