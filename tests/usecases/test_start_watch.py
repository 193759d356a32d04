"""Two starts that come to nothing lead to a third without graphics cards; one that lives ends the count."""

import os
from pathlib import Path

import pytest

from layadesk.app import Core
from layadesk.domain.errors import ErrorCode
from layadesk.protocol.options import BACKEND_MODULES
from layadesk.usecases.start_watch import N_BROKEN, StartWatch, safe_mode_report


def killed_start(run_dir: Path) -> bool:
    """A start whose program is killed: nobody settles it."""
    watch = StartWatch(run_dir)
    is_safe = watch.begin(settled_s=3600.0)
    assert watch._timer is not None
    watch._timer.cancel()
    return is_safe


def test_the_third_start_after_two_broken_ones_is_safe(tmp_path: Path) -> None:
    assert [killed_start(tmp_path) for _ in range(N_BROKEN + 1)] == [False] * N_BROKEN + [True]


def test_a_program_that_is_closed_starts_normally_the_next_time(tmp_path: Path) -> None:
    for _ in range(N_BROKEN):
        killed_start(tmp_path)
    safe = StartWatch(tmp_path)
    assert safe.begin()
    safe.settle()
    assert not killed_start(tmp_path)


def test_a_crash_after_the_first_minute_is_no_broken_start(tmp_path: Path) -> None:
    killed_start(tmp_path)
    lived = StartWatch(tmp_path)
    lived.begin(settled_s=0.0)
    assert lived._timer is not None
    lived._timer.join(10.0)
    assert not any(killed_start(tmp_path) for _ in range(N_BROKEN))


@pytest.mark.parametrize("content", ["", "many", "-7", "9" * 400])
def test_a_count_that_cannot_be_read_starts_from_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "starts").write_text(content, encoding="ascii")
    if content.startswith("9"):
        assert killed_start(tmp_path)  # cut to a large number: safe once, then settled
    else:
        assert not killed_start(tmp_path)


def test_a_place_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    blocked = tmp_path / "run"
    blocked.write_bytes(b"")
    watch = StartWatch(blocked)
    assert not watch.begin()
    watch.settle()


def test_in_safe_mode_no_gpu_is_seen_or_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", BACKEND_MODULES)
    for name in names:
        monkeypatch.setenv(name, "set by somebody")
    core = Core(tmp_path, engine="scripted", is_safe=True)
    try:
        assert {os.environ[name] for name in ("CUDA_VISIBLE_DEVICES", "GGML_VK_VISIBLE_DEVICES", BACKEND_MODULES)} == {
            ""
        }
        assert core.sampler._make_gpu_sensors() == ()
    finally:
        core.stop()
    assert safe_mode_report().code is ErrorCode.SAFE_MODE
