from layadesk.engine.pace import (
    ALONE_BUDGET_S,
    FIRST_SLICE,
    MIN_SLICE,
    SHARED_BUDGET_S,
    TILE,
    TILE_BUDGET_S,
    StepPace,
)


def measured(base_s: float, per_token_s: float, *sizes: int) -> StepPace:
    pace = StepPace()
    for _ in range(5):
        for size in sizes:
            pace.measured(size, base_s + per_token_s * size)
    return pace


def test_the_first_slice_is_small_because_nothing_is_known() -> None:
    assert StepPace().n_slice(n_decoding=0, is_shared=False) == FIRST_SLICE


def test_a_shared_slice_fits_the_time_budget() -> None:
    n = measured(0.01, 0.004, 1, 32).n_slice(n_decoding=1, is_shared=True)
    assert 0.8 * SHARED_BUDGET_S < 0.01 + 0.004 * (n + 1) <= SHARED_BUDGET_S


def test_a_slice_alone_may_take_longer() -> None:
    n = measured(0.01, 0.004, 1, 64, 256).n_slice(n_decoding=0, is_shared=False)
    assert 0.8 * ALONE_BUDGET_S < 0.01 + 0.004 * n <= ALONE_BUDGET_S


def test_a_step_with_a_reader_is_whole_tiles_with_his_token_in_it() -> None:
    n = measured(0.01, 0.001, 64, 256).n_slice(n_decoding=3, is_shared=True)
    assert n + 3 == 3 * TILE


def test_one_whole_tile_may_take_a_little_longer_than_the_budget() -> None:
    per_token_s = 0.9 * TILE_BUDGET_S / TILE
    assert measured(0.0, per_token_s, 64, 256).n_slice(n_decoding=2, is_shared=True) + 2 == TILE


def test_where_a_tile_would_be_felt_a_slice_is_smaller() -> None:
    n = measured(0.0, 2 * TILE_BUDGET_S / TILE, 1, 16, 64).n_slice(n_decoding=1, is_shared=True)
    assert MIN_SLICE <= n < TILE // 2


def test_small_slices_do_not_make_the_next_ones_smaller() -> None:
    pace = measured(0.1, 0.003, 1)
    first = pace.n_slice(n_decoding=1, is_shared=True)
    for _ in range(20):
        n = pace.n_slice(n_decoding=1, is_shared=True)
        pace.measured(n + 1, 0.1 + 0.003 * (n + 1))
    assert pace.n_slice(n_decoding=1, is_shared=True) >= first
    assert pace.n_slice(n_decoding=1, is_shared=True) > 40


def test_a_model_slower_than_the_budget_still_gets_on_with_prompts() -> None:
    pace = measured(1.0, 0.01, 1, 32)
    n = pace.n_slice(n_decoding=1, is_shared=True)
    assert 80 <= n <= 110  # half of the time


def test_times_that_make_no_sense_never_give_less_than_one_token_a_slot() -> None:
    pace = StepPace()
    pace.measured(1, 0.5)
    pace.measured(64, 0.1)
    pace.measured(512, 0.0)
    assert pace.n_slice(n_decoding=4, is_shared=True) >= MIN_SLICE
