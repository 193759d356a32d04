"""The host by psutil, with Windows' and macOS' answers played (reported faults I01, I03; psutil #2074, #2431)."""

import os
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from layadesk.domain.hardware import Why
from layadesk.telemetry.psutil_host import PsutilChildMemory, PsutilMemory
from layadesk.telemetry.sensors import HostDraft


class FakePsutil:
    """psutil as far as it is used."""

    NoSuchProcess = psutil.NoSuchProcess
    AccessDenied = psutil.AccessDenied

    def __init__(self, *, swap: object = None, process: object = None) -> None:
        self._swap = swap
        self._process = process
        self.n_processes = 0

    def virtual_memory(self) -> SimpleNamespace:
        """A fixed machine."""
        return SimpleNamespace(total=1000, available=400)

    def swap_memory(self) -> object:
        """What the test wants, or its exception."""
        if isinstance(self._swap, Exception):
            raise self._swap
        return self._swap

    def Process(self, pid: int) -> Any:  # noqa: N802 - psutil's name
        """What the test wants, or its exception."""
        self.n_processes += 1
        if isinstance(self._process, Exception):
            raise self._process
        return SimpleNamespace(pid=pid, memory_info=lambda: self._process)


def memory(library: FakePsutil) -> HostDraft:
    """One reading."""
    draft = HostDraft()
    PsutilMemory(library).fill(draft, 0.0)
    return draft


def test_swap_figures_pass_when_they_are_possible() -> None:
    draft = memory(FakePsutil(swap=SimpleNamespace(total=100, used=30)))
    assert (draft["ram_total_bytes"], draft["ram_available_bytes"]) == (1000, 400)
    assert (draft["swap_total_bytes"], draft["swap_used_bytes"]) == (100, 30)


@pytest.mark.parametrize(
    ("swap", "total", "why"),
    [
        (SimpleNamespace(total=0, used=0), 0, Why.NO_SWAP),
        (SimpleNamespace(total=100, used=130), 100, Why.BAD_VALUE),  # Windows: more used than there is
        (RuntimeError("performance counters may be disabled"), None, Why.UNSUPPORTED),
        (OSError("no counters"), None, Why.UNSUPPORTED),
    ],
)
def test_missing_and_impossible_swap_is_none_with_a_reason(swap: object, total: int | None, why: Why) -> None:
    draft = memory(FakePsutil(swap=swap))
    assert (draft["swap_total_bytes"], draft["swap_used_bytes"]) == (total, None)
    assert draft.reasons["swap_used_bytes"] == why


def child(library: FakePsutil, pid: int | None = 5) -> tuple[int | None, dict[str, Why]]:
    """The engine's private memory and why not."""
    draft = HostDraft()
    PsutilChildMemory("engine_bytes", lambda: pid, library).fill(draft, 0.0)
    return draft["engine_bytes"], draft.reasons


@pytest.mark.parametrize(
    ("process", "value", "why"),
    [
        (SimpleNamespace(rss=900, private=70), 70, None),
        (SimpleNamespace(rss=900), None, Why.UNSUPPORTED),  # macOS
        (psutil.NoSuchProcess(5), None, Why.NOT_RUNNING),
        (psutil.AccessDenied(5), None, Why.NO_PERMISSION),
    ],
)
def test_a_childs_private_memory_or_why_it_is_not_known(process: object, value: int | None, why: Why | None) -> None:
    assert child(FakePsutil(process=process)) == (value, {} if why is None else {"engine_bytes": why})


def test_no_child_is_not_asked_for() -> None:
    assert child(FakePsutil(), None) == (None, {"engine_bytes": Why.NOT_RUNNING})


def test_the_process_is_looked_up_once_for_each_pid() -> None:
    library = FakePsutil(process=SimpleNamespace(private=1))
    pids = iter([5, 5, 6])
    sensor = PsutilChildMemory("engine_bytes", lambda: next(pids), library)
    for _ in range(3):
        sensor.fill(HostDraft(), 0.0)
    assert library.n_processes == 2


def test_the_real_psutil_has_what_is_used() -> None:
    draft = HostDraft()
    PsutilMemory().fill(draft, 0.0)
    PsutilChildMemory("router_bytes", os.getpid).fill(draft, 0.0)
    assert draft["ram_total_bytes"]
    assert draft["router_bytes"] or draft.reasons["router_bytes"] == Why.UNSUPPORTED
