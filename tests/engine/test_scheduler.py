from hypothesis import given, settings
from hypothesis import strategies as st

from layadesk.engine.cell_pool import Clear, Fork
from layadesk.engine.fair_share import OWN_STINT_S, STINT_S
from layadesk.engine.scheduler import Plan, Scheduler
from layadesk.engine.sequence import SequenceState
from tests.fakes.engine_sequences import draw, facts, sequence
from tests.fakes.scheduler_lab import Lab


def shares(plan: Plan) -> dict[int, int]:
    return {share.sequence.order: share.n_tokens for share in plan.shares}


def admitted(scheduler: Scheduler) -> list[int]:
    return [one.order for one in scheduler.admit()]


def plan_of(scheduler: Scheduler, n_slice: int = 16) -> Plan:
    scheduler.admit()
    return scheduler.plan(n_slice)


def step(scheduler: Scheduler, n_slice: int = 16) -> Plan:
    """One step in which everything goes well and every sampled sequence goes on."""
    plan = plan_of(scheduler, n_slice)
    sampled = [share.sequence for share in plan.shares if share.is_sampled]
    scheduler.computed(plan)
    for one in sampled:
        draw(one)
    return plan


def test_a_decode_takes_one_token_before_any_prompt() -> None:
    scheduler = Scheduler(facts())
    scheduler.add(sequence(1, 3))
    step(scheduler)
    scheduler.add(sequence(2, 20))
    assert shares(step(scheduler, 8)) == {1: 1, 2: 8}


def test_a_slice_is_shared_equally_and_a_short_prompt_leaves_its_rest_to_the_long_one() -> None:
    scheduler = Scheduler(facts(n_ctx=256))
    scheduler.add(sequence(1, 3))
    scheduler.add(sequence(2, 20))
    scheduler.add(sequence(3, 20))
    plan = plan_of(scheduler, 15)
    assert shares(plan) == {1: 3, 2: 6, 3: 6}


def test_only_the_last_prompt_token_is_sampled() -> None:
    scheduler = Scheduler(facts())
    scheduler.add(sequence(1, 20))
    assert not plan_of(scheduler, 16).shares[0].is_sampled
    scheduler.computed(plan_of(scheduler, 16))
    plan = plan_of(scheduler, 16)
    assert shares(plan) == {1: 4}
    batch, rows = plan.batch()
    assert rows == [3]
    assert batch.wants_logits == [False, False, False, True]
    assert batch.positions == [16, 17, 18, 19]


def test_no_step_is_larger_than_the_batch() -> None:
    scheduler = Scheduler(facts(n_ctx=256, n_batch=8))
    scheduler.add(sequence(1, 2))
    step(scheduler)
    scheduler.add(sequence(2, 30))
    assert shares(step(scheduler, 1000)) == {1: 1, 2: 7}


def test_first_come_first_served_and_no_more_than_there_are_slots() -> None:
    scheduler = Scheduler(facts(n_seq_max=2))
    ones = [sequence(order, 4) for order in (1, 2, 3)]
    for one in reversed(ones):
        scheduler.add(one)
    assert admitted(scheduler) == [1, 2]
    assert [one.order for one in scheduler.waiting] == [3]
    assert not scheduler.has_free_slot
    step(scheduler)
    scheduler.remove(ones[0])
    assert admitted(scheduler) == [3]


def test_a_prompt_without_room_waits_until_there_is() -> None:
    scheduler = Scheduler(facts(n_ctx=64))
    first = sequence(1, 40)
    scheduler.add(first)
    step(scheduler, 64)
    scheduler.add(sequence(2, 30))
    assert admitted(scheduler) == []
    scheduler.remove(first)
    assert admitted(scheduler) == [2]


def test_a_short_newcomer_does_not_overtake_the_one_that_waits() -> None:
    scheduler = Scheduler(facts(n_ctx=64))
    scheduler.add(sequence(1, 40))
    step(scheduler, 64)
    scheduler.add(sequence(2, 40))
    scheduler.add(sequence(3, 2))
    assert admitted(scheduler) == []


def test_when_cells_run_out_the_youngest_waits_and_keeps_what_it_has_written() -> None:
    scheduler = Scheduler(facts(n_ctx=48))
    old, young = sequence(1, 8, n_ctx=48), sequence(2, 8, n_ctx=48)
    scheduler.add(old)
    scheduler.add(young)
    while young.state is SequenceState.RUNNING or young.n_decoded == 0:
        plan = step(scheduler)
    assert plan.preempted == [young]
    assert old.state is SequenceState.RUNNING
    assert young.n_decoded > 10
    assert len(young.tokens) == 8 + young.n_decoded
    assert (young.n_past, young.slot) == (0, None)
    assert Clear(1) in scheduler.pool.take_ops()
    scheduler.remove(old)
    n_before = young.n_decoded
    while young.n_decoded == n_before:
        step(scheduler)
    assert young.n_past == len(young.tokens) - 1


def test_a_sequence_alone_may_use_every_cell() -> None:
    scheduler = Scheduler(facts(n_ctx=32))
    lonely = sequence(1, 8, n_ctx=32)
    scheduler.add(lonely)
    while not lonely.is_full:
        assert step(scheduler).preempted == []
    assert len(lonely.tokens) == 32
    assert scheduler.pool.n_used == 31  # the last token needs no cell: nothing is drawn from it


def test_a_refused_step_with_several_sends_the_youngest_away() -> None:
    scheduler = Scheduler(facts())
    old, young = sequence(1, 8), sequence(2, 8)
    scheduler.add(old)
    scheduler.add(young)
    plan = plan_of(scheduler, 16)
    assert scheduler.refused(plan) is None
    assert young.state is SequenceState.WAITING
    assert shares(step(scheduler)) == {1: 8}


def test_a_refused_step_of_one_is_tried_with_fewer_tokens_and_ends_it_at_last() -> None:
    scheduler = Scheduler(facts())
    lonely = sequence(1, 32)
    scheduler.add(lonely)
    asked = []
    while True:
        plan = plan_of(scheduler, 32)
        asked.append(sum(share.n_tokens for share in plan.shares))
        if (end := scheduler.refused(plan)) is not None:
            break
    assert end is lonely
    assert asked == [32, 16, 8, 4, 2, 1]


def test_after_a_refusal_the_pool_counts_as_smaller_until_it_is_empty() -> None:
    scheduler = Scheduler(facts(n_ctx=64))
    old, young = sequence(1, 12), sequence(2, 8)
    scheduler.add(old)
    scheduler.add(young)
    step(scheduler, 20)
    scheduler.refused(plan_of(scheduler, 16))
    for _ in range(5):
        assert admitted(scheduler) == [], "or it would be computed again at every step, for nothing"
        step(scheduler)
    scheduler.remove(old)
    assert admitted(scheduler) == [2]
    scheduler.remove(young)
    again = [sequence(order, 8) for order in (3, 4)]
    for one in again:
        scheduler.add(one)
    assert admitted(scheduler) == [3, 4], "an empty pool is as large as ever"


def test_of_two_prompts_without_a_cell_left_the_younger_gives_way_at_once() -> None:
    scheduler = Scheduler(facts(n_ctx=64))
    old, young = sequence(1, 20), sequence(2, 8)
    scheduler.add(old)
    scheduler.add(young)
    scheduler.admit()
    old.tokens += range(40)
    young.tokens += range(10)
    assert old.row is not None
    assert young.row is not None
    scheduler.pool.grow(old.row, old.tokens[:57])
    scheduler.pool.grow(young.row, young.tokens[:7])
    plan = scheduler.plan(16)
    assert plan.preempted == [young]
    assert shares(plan) == {1: 3}


def test_a_second_turn_computes_only_what_is_new() -> None:
    scheduler = Scheduler(facts(n_ctx=256))
    first = sequence(1, 30, n_ctx=256)
    scheduler.add(first)
    for _ in range(5):
        step(scheduler)
    scheduler.remove(first, keeps_cells=True)
    second = sequence(2, 0, n_ctx=256, tokens=[*first.tokens, *range(500, 510)])
    scheduler.add(second)
    scheduler.admit()
    assert second.n_past == 33, "the prompt and what was generated; the last one drawn had not been computed"
    assert scheduler.pool.take_ops() == [], "in the very same cells"
    assert shares(step(scheduler)) == {2: 11}


def test_another_branch_shares_the_cells_of_the_beginning() -> None:
    scheduler = Scheduler(facts(n_ctx=256))
    first = sequence(1, 30, n_ctx=256)
    scheduler.add(first)
    for _ in range(3):
        step(scheduler)
    scheduler.remove(first, keeps_cells=True)
    n_before = scheduler.pool.n_used
    other = sequence(2, 0, n_ctx=256, tokens=[*first.tokens[:20], *range(500, 530)])
    scheduler.add(other)
    scheduler.admit()
    assert other.n_past == 20
    assert scheduler.pool.take_ops() == [Fork(0, 1, 20)]
    assert scheduler.pool.n_used == n_before, "what is shared is counted once"


def test_the_last_token_of_a_prompt_is_always_computed_because_its_logits_are_wanted() -> None:
    scheduler = Scheduler(facts(n_ctx=256))
    first = sequence(1, 30, n_ctx=256)
    scheduler.add(first)
    step(scheduler, 64)
    scheduler.remove(first, keeps_cells=True)
    again = sequence(2, 0, n_ctx=256, tokens=first.tokens[:30])
    scheduler.add(again)
    assert shares(step(scheduler)) == {2: 1}


def test_kept_cells_go_before_anyone_waits_the_least_recently_used_first() -> None:
    scheduler = Scheduler(facts(n_ctx=100))
    kept = [sequence(order, 30, n_ctx=100) for order in (1, 2)]
    for one in kept:
        scheduler.add(one)
        step(scheduler, 64)
        scheduler.remove(one, keeps_cells=True)
    scheduler.pool.take_ops()
    late = sequence(3, 60, n_ctx=100)
    scheduler.add(late)
    step(scheduler, 64)
    assert [op.slot for op in scheduler.pool.take_ops() if isinstance(op, Clear)] == [0]
    assert late.n_past == 32
    assert len(scheduler.pool.kept) == 1


def test_who_needs_the_same_beginning_waits_for_it_instead_of_computing_it_too() -> None:
    scheduler = Scheduler(facts(n_ctx=1000, n_batch=256))
    system = list(range(1, 151))
    ones = [sequence(order, 0, n_ctx=1000, tokens=[*system, order * 1000, order * 1001]) for order in (1, 2, 3)]
    for one in ones:
        scheduler.add(one)
    assert shares(step(scheduler, 200)) == {1: 152}
    plan = step(scheduler, 200)
    assert shares(plan) == {1: 1, 2: 2, 3: 2}
    assert scheduler.pool.n_used == 152 + 1 + 2 + 2


def test_a_client_with_many_requests_does_not_keep_another_waiting_for_all_of_them() -> None:
    scheduler = Scheduler(facts(n_ctx=1000, n_seq_max=1))
    flood = [sequence(order, 4, client="flood") for order in range(1, 7)]
    for one in flood:
        scheduler.add(one)
    assert admitted(scheduler) == [1]
    scheduler.add(sequence(7, 4, client="window"))
    step(scheduler)
    scheduler.remove(flood[0])
    assert admitted(scheduler) == [7]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 70), st.integers(1, 40), st.integers(0, 2)),
        st.tuples(st.just("cancel"), st.integers(0, 5), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("step"), st.integers(1, 64), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@settings(max_examples=300, deadline=None)
@given(
    actions,
    st.integers(16, 160),
    st.integers(1, 5),
    st.integers(0, 4),
    st.integers(8, 64),
    st.integers(0, 100),
    st.integers(1, 7),
    st.sampled_from([0.0, STINT_S / 8, STINT_S, OWN_STINT_S]),
)
def test_for_any_arrivals_cancels_and_pool_sizes_all_end_and_nothing_leaks(
    actions: list[tuple[str, int, int, int]],
    n_ctx: int,
    n_parallel: int,
    n_kept: int,
    n_batch: int,
    percent_missing: int,
    n_clients: int,
    seconds: float,
) -> None:
    n_missing = n_ctx * percent_missing // 400  # up to a quarter of the cells is not really there
    lab = Lab(n_ctx, n_parallel, n_kept, max(n_batch, n_parallel), n_ctx - n_missing)
    for order, (action, n, m, family) in enumerate(actions):
        if action == "arrive":
            lab.arrive(order, n, m, family, client=f"client {order % n_clients}")
        elif action == "cancel" and n < len(lab.alive):
            lab.end(lab.alive[n], keeps_cells=bool(m))
        elif action == "step":
            lab.step(n, seconds)
    oldest_moves = 0
    while lab.alive:
        before = [(one.order, len(one.tokens), one.n_past) for one in lab.alive]
        lab.step(16, seconds)
        after = [(one.order, len(one.tokens), one.n_past) for one in lab.alive]
        oldest_moves = oldest_moves + 1 if before and after and before[0] == after[0] else 0
        assert oldest_moves < (40 if seconds == 0.0 else 2000), "the oldest starves"
    assert lab.scheduler.is_idle
    while lab.scheduler.pool.drop_oldest():
        lab.obey()
    assert lab.cells == {}
    assert lab.scheduler.pool.n_used == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(2, 60), min_size=2, max_size=5), st.integers(5, 32))
def test_every_prompt_moves_in_every_step_as_long_as_there_is_room(sizes: list[int], n_slice: int) -> None:
    scheduler = Scheduler(facts(n_ctx=1000, n_seq_max=8, n_batch=64))
    ones = [sequence(order, size, n_ctx=1000) for order, size in enumerate(sizes)]
    for one in ones:
        scheduler.add(one)
    while any(one.n_decoded == 0 for one in ones):
        behind = {one.order for one in ones if one.n_decoded == 0}
        assert behind <= set(shares(step(scheduler, n_slice)))
