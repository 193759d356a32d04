"""How fast a download is, and how long it will take: over a moving window, and unknown where nobody knows."""

import pytest

from layadesk.domain.downloads import Download, DownloadState, SpeedWindow


def test_bytes_that_were_there_before_count_for_nothing() -> None:
    window = SpeedWindow()
    window.add(0.0, 5_000_000)
    window.add(2.0, 5_200_000)
    assert window.bytes_per_s() == 100_000
    assert window.remaining_s(1_000_000) == 10


def test_what_was_long_ago_does_not_count() -> None:
    window = SpeedWindow()
    for second in range(31):
        window.add(float(second), second * 1000 if second <= 15 else 15_000)
    assert window.bytes_per_s() == 0
    assert window.remaining_s(1000) is None


def test_too_short_a_look_gives_no_speed() -> None:
    window = SpeedWindow()
    assert window.bytes_per_s() is None
    window.add(0.0, 0)
    window.add(0.1, 1000)
    assert window.bytes_per_s() is None


@pytest.mark.parametrize(("total", "share"), [(None, None), (0, None), (200, 0.5), (50, 1.0)])
def test_a_share_is_known_when_the_whole_is(total: int | None, share: float | None) -> None:
    assert Download("a:b", "a", "b", DownloadState.RUNNING, 100, total).share == share
