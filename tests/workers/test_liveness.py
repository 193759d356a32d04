"""When a child counts as hung: a table of pings, pongs and phases, without a clock."""

import pytest

from layadesk.protocol.events import Pong
from layadesk.workers.liveness import Liveness, Timing

TIMING = Timing(ping_every_s=2.0, silent_s=60.0, stuck_s={"decode": 60.0, "prefill": 60.0}, start_s=180.0)


def ping(liveness: Liveness, times: int, *pongs: tuple[str, int]) -> None:
    """So many pings, each answered by the pongs given, if any."""
    for _ in range(times):
        n = liveness.next_ping().n
        for phase, step in pongs:
            liveness.take(Pong(n, phase, step))


def test_silence_through_thirty_pings_is_a_hang_and_one_answer_is_a_new_life() -> None:
    liveness = Liveness(TIMING)
    ping(liveness, 30)
    assert liveness.complaint() is None
    ping(liveness, 1, ("idle", 0))
    ping(liveness, 30)
    assert liveness.complaint() is None
    ping(liveness, 1)
    assert liveness.complaint() == "silent"


@pytest.mark.parametrize("phase", ["decode", "prefill"])
def test_a_step_that_stands_still_through_thirty_answers_is_a_hang(phase: str) -> None:
    liveness = Liveness(TIMING)
    ping(liveness, 30, (phase, 7))
    assert liveness.complaint() is None
    ping(liveness, 1, (phase, 7))
    assert liveness.complaint() == phase
    ping(liveness, 1, (phase, 8))
    assert liveness.complaint() is None


@pytest.mark.parametrize("phase", ["loading", "idle", "starting", "a phase of a later version"])
def test_other_phases_may_stand_still_for_hours(phase: str) -> None:
    liveness = Liveness(TIMING)
    ping(liveness, 5000, (phase, 0))
    assert liveness.complaint() is None


def test_a_change_of_phase_is_progress() -> None:
    liveness = Liveness(TIMING)
    for _ in range(20):
        ping(liveness, 20, ("decode", 1))
        ping(liveness, 20, ("prefill", 1))
    assert liveness.complaint() is None


def test_a_start_is_overdue_after_ninety_pings() -> None:
    liveness = Liveness(TIMING)
    ping(liveness, 90)
    assert not liveness.is_overdue()
    ping(liveness, 1)
    assert liveness.is_overdue()


def test_pings_are_numbered_from_one() -> None:
    liveness = Liveness(TIMING)
    assert [liveness.next_ping().n for _ in range(3)] == [1, 2, 3]
