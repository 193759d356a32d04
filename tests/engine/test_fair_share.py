"""How long someone waits while others have all places, in steps; and what it costs them."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from layadesk.engine.fair_share import MAX_AGAIN_SHARE, OWN_STINT_S, STINT_S, AgainTime
from layadesk.engine.sequence import Sequence, SequenceState
from tests.fakes.scheduler_lab import Lab

N_STINT = 8  # steps
SECONDS = STINT_S / N_STINT
LONG = 100_000


def lab_of(n_parallel: int, *, n_kept: int = 12, n_ctx: int = 10_000) -> Lab:
    return Lab(n_ctx, n_parallel, n_kept, n_batch=64, n_real=n_ctx)


def steps_until(lab: Lab, one: Sequence, n_decoded: int, n_most: int = 1000) -> int:
    """How many steps it takes until `one` has so many tokens."""
    n_steps = 0
    while one.n_decoded < n_decoded:
        lab.step(16, SECONDS)
        n_steps += 1
        assert n_steps <= n_most, "it starves"
    return n_steps


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 40), st.integers(1, 30))
def test_a_newcomer_has_its_first_token_when_a_stint_is_over_at_the_latest(
    n_parallel: int, n_clients: int, n_before: int, n_prompt: int
) -> None:
    lab = lab_of(n_parallel)
    for order in range(n_parallel + 2):
        lab.arrive(order, 20, LONG, client=f"long {order % n_clients}")
    for _ in range(n_before):
        lab.step(64, SECONDS)
    newcomer = lab.arrive(99, n_prompt, LONG, client="window")
    n_rounds = 1 + -(-n_clients // n_parallel)  # others without a place came before
    assert steps_until(lab, newcomer, 1) <= n_rounds * (N_STINT + 1) + -(-n_prompt // 16) * n_parallel


def test_who_gave_up_its_place_goes_on_in_the_very_same_cells() -> None:
    lab = lab_of(2)
    first, second = lab.arrive(1, 20, LONG, client="long"), lab.arrive(2, 20, LONG, client="long")
    steps_until(lab, first, 30)
    newcomer = lab.arrive(3, 20, 5, client="window")
    steps_until(lab, newcomer, 1)
    assert [first.state, second.state].count(SequenceState.WAITING) == 1
    assert lab.scheduler.pool.n_used == sum(len(one.tokens) - 1 for one in (first, second, newcomer))
    while newcomer in lab.alive:
        lab.step(16, SECONDS)
    n_before = min(first.n_decoded, second.n_decoded)
    lab.step(16, SECONDS)
    assert min(first.n_decoded, second.n_decoded) == n_before + 1, "nothing had to be computed again"


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(1, 6))
def test_more_long_answers_than_places_take_turns_and_none_waits_for_long(n_parallel: int, n_more: int) -> None:
    lab = lab_of(n_parallel)
    ones = [lab.arrive(order, 20, LONG, client=f"client {order}") for order in range(n_parallel + n_more)]
    n_still: Counter[int] = Counter()
    longest = 0
    for _ in range(400):
        before = [one.n_decoded for one in ones]
        lab.step(64, SECONDS)
        for one, n_then in zip(ones, before, strict=True):
            n_still[one.order] = 0 if one.n_decoded > n_then else n_still[one.order] + 1
            longest = max(longest, n_still[one.order])
    n_rounds = -(-n_more // n_parallel)
    assert longest <= (n_rounds + 2) * N_STINT
    counts = [one.n_decoded for one in ones]
    assert min(counts) >= 0.7 * max(counts), "everyone has the same share"
    assert sum(counts) >= 0.95 * 400 * n_parallel, "and no place is empty meanwhile"


def test_within_a_client_turns_are_longer_and_the_newest_does_not_lose() -> None:
    lab = lab_of(2)
    ones = [lab.arrive(order, 20, LONG, client="one") for order in range(4)]
    n_own_stint = round(OWN_STINT_S / SECONDS)
    assert steps_until(lab, ones[2], 1) >= n_own_stint
    assert steps_until(lab, ones[3], 1) <= n_own_stint + 2
    n_then = ones[0].n_decoded
    assert steps_until(lab, ones[0], n_then + 1) <= n_own_stint + 2


def test_a_client_does_not_lose_cells_to_its_own_next_request() -> None:
    lab = lab_of(2, n_kept=1)
    ones = [lab.arrive(order, 20, LONG, client="one") for order in range(5)]
    for _ in range(round(8 * OWN_STINT_S / SECONDS)):
        lab.step(16, SECONDS)
    assert [one.n_decoded > 0 for one in ones] == [True, True, True, False, False], "three rows, and three take turns"


def test_a_request_that_needs_most_cells_gets_them_although_small_ones_come_all_the_time() -> None:
    lab = lab_of(4, n_ctx=400)
    for order in range(4):
        lab.arrive(order, 60, LONG, client=f"small {order}")
    for _ in range(N_STINT):
        lab.step(64, SECONDS)
    large = lab.arrive(50, 300, LONG, client="large")
    n_steps = 0
    while large.n_decoded == 0:
        lab.arrive(100 + n_steps, 30, 5, client=f"small {n_steps}")
        lab.step(64, SECONDS)
        n_steps += 1
        assert n_steps < 20 * N_STINT, "it starves"


@settings(max_examples=10, deadline=None)
@given(st.integers(2, 4), st.integers(1, 4), st.integers(0, 2))
def test_where_cells_are_too_few_for_all_most_of_the_time_goes_into_new_tokens(
    n_parallel: int, n_more: int, n_kept: int
) -> None:
    lab = lab_of(n_parallel, n_kept=n_kept, n_ctx=150 * n_parallel)
    ones = [lab.arrive(order, 100, LONG, client=f"client {order}") for order in range(n_parallel + n_more)]
    n_again = n_steps = 0
    while len(lab.alive) == len(ones):  # until the first has filled the context
        before = [one.n_reached for one in ones]
        lab.step(16, SECONDS)
        n_steps += 1
        n_again += all(one.n_reached == n_then for one, n_then in zip(ones, before, strict=True))
    n_once = 150 * n_parallel // 16  # steps to compute as much as there are cells
    assert n_again <= MAX_AGAIN_SHARE * n_steps + n_once
    assert all(one.n_decoded > 0 for one in ones), "someone was never let in"


def test_a_client_with_many_requests_begins_no_more_of_them_than_its_share() -> None:
    lab = lab_of(2, n_kept=1)
    floods = [lab.arrive(order, 20, LONG, client=f"flood {order % 2}") for order in range(20)]
    for order in range(2):
        lab.arrive(50 + order, 20, LONG, client=f"single {order}")
    for _ in range(20 * N_STINT):
        lab.step(64, SECONDS)
    assert sum(one.is_begun for one in floods) == 2, "or each would have cells of its own, and there are too few"


def test_time_lost_is_paid_by_time_well_spent() -> None:
    again = AgainTime()
    again.passed(1.0, is_again=True)
    again.passed(2.9, is_again=False)
    was_paid = again.is_paid
    again.passed(0.2, is_again=False)
    assert (was_paid, again.is_paid) == (False, True)
