"""The life of a child process."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.errors import Bug
from layadesk.domain.worker_state import (
    BACK_OFF_S,
    CRASH_WINDOW_S,
    EXIT_BAD_BUILD,
    EXIT_PYTHON_ERROR,
    MAX_CRASHES,
    ExitKind,
    WorkerExit,
    WorkerState,
    classify_exit,
    next_state,
    restart_delay,
)

S = WorkerState
LEGAL = {
    (S.STOPPED, S.STARTING),
    (S.STARTING, S.READY),
    (S.STARTING, S.WAITING),
    (S.STARTING, S.GIVEN_UP),
    (S.STARTING, S.STOPPING),
    (S.READY, S.WAITING),
    (S.READY, S.GIVEN_UP),
    (S.READY, S.STOPPING),
    (S.WAITING, S.STARTING),
    (S.WAITING, S.STOPPING),
    (S.GIVEN_UP, S.STARTING),
    (S.GIVEN_UP, S.STOPPING),
    (S.STOPPING, S.STOPPED),
}


@pytest.mark.parametrize("current", WorkerState)
@pytest.mark.parametrize("wanted", WorkerState)
def test_only_legal_moves_are_made(current: WorkerState, wanted: WorkerState) -> None:
    if (current, wanted) in LEGAL:
        assert next_state(current, wanted) is wanted
    else:
        with pytest.raises(Bug):
            next_state(current, wanted)


def test_from_every_state_a_child_can_be_stopped_for_good() -> None:
    for state in WorkerState:
        path = [state]
        while path[-1] is not S.STOPPED:
            path.append(S.STOPPED if path[-1] is S.STOPPING else S.STOPPING)
            next_state(path[-2], path[-1])
            assert len(path) <= 3


@pytest.mark.parametrize(
    ("exit_code", "kind", "detail"),
    [
        (0, ExitKind.CLEAN, "0"),
        (1, ExitKind.PYTHON_ERROR, "1"),
        (EXIT_PYTHON_ERROR, ExitKind.PYTHON_ERROR, "70"),
        (EXIT_BAD_BUILD, ExitKind.BAD_BUILD, "71"),
        (-9, ExitKind.KILLED, "SIGKILL"),
        (-15, ExitKind.KILLED, "SIGTERM"),
        (-2, ExitKind.KILLED, "SIGINT"),
        (-1, ExitKind.KILLED, "SIGHUP"),
        (-11, ExitKind.NATIVE_CRASH, "SIGSEGV"),
        (-6, ExitKind.NATIVE_CRASH, "SIGABRT"),
        (-4, ExitKind.NATIVE_CRASH, "SIGILL"),
        (-7, ExitKind.NATIVE_CRASH, "SIGBUS"),
        (-31, ExitKind.NATIVE_CRASH, "signal 31"),
        (0xC0000005, ExitKind.NATIVE_CRASH, "0xC0000005"),
        (0xC0000005 - 2**32, ExitKind.NATIVE_CRASH, "0xC0000005"),
        (0xC00000FD, ExitKind.NATIVE_CRASH, "0xC00000FD"),
        (0x7FFFFFFF, ExitKind.PYTHON_ERROR, "2147483647"),
    ],
)
def test_how_a_child_ended_is_told_from_its_exit_code(exit_code: int, kind: ExitKind, detail: str) -> None:
    told = classify_exit(exit_code, asked_to_stop=False, log_tail=["last words"])
    assert told == WorkerExit(kind, detail, ("last words",))


@given(st.integers(-(2**31), 2**32 - 1))
def test_an_end_that_was_asked_for_is_never_told_as_a_crash(exit_code: int) -> None:
    assert classify_exit(exit_code, asked_to_stop=True).kind is ExitKind.STOPPED_BY_US
    assert classify_exit(exit_code, asked_to_stop=False).kind is not ExitKind.STOPPED_BY_US


def test_each_crash_in_a_row_waits_longer_and_the_fourth_within_a_minute_gives_up() -> None:
    times = [100.0, 110.0, 120.0, 130.0]
    waits = [restart_delay(times[: n + 1], now=times[n]) for n in range(4)]
    assert waits == [0.5, 2.0, 8.0, None]


def test_crashes_that_are_long_past_do_not_count() -> None:
    assert restart_delay([0.0, 1.0, 2.0, 100.0], now=100.0) == 0.5
    assert restart_delay([0.0, 1.0, 2.0, CRASH_WINDOW_S], now=CRASH_WINDOW_S) is None
    assert restart_delay([0.0, 1.0, 2.0, CRASH_WINDOW_S + 0.5], now=CRASH_WINDOW_S + 0.5) == 8.0
    assert restart_delay([], now=0.0) == 0.5


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=10))
def test_a_child_starts_again_exactly_when_it_crashed_seldom_enough(times: list[float]) -> None:
    times.sort()
    delay = restart_delay(times, now=times[-1])
    n_recent = sum(times[-1] - one <= CRASH_WINDOW_S for one in times)
    assert (delay is None) == (n_recent > MAX_CRASHES)
    assert delay is None or delay in BACK_OFF_S
