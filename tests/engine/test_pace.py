"""Which slices of prompts a step takes. `Machine` takes as long as SmolLM2 did on two cores, or as it is told."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle

import pytest

from layadesk.engine.pace import (
    ALONE_BUDGET_S,
    FIRST_SLICE,
    MIN_SLICE,
    SHARED_BUDGET_S,
    SLOW_TILE_BUDGET_S,
    TILE,
    TILE_BUDGET_S,
    StepPace,
)


@dataclass
class Machine:
    """Steps of a model, told to a pace. `moods` are factors of the time, one after the other."""

    pace: StepPace = field(default_factory=StepPace)
    base_s: float = 0.012
    per_token_s: float = 0.0034
    small_pair_s: float = 3.0e-6
    tiled_pair_s: float = 0.8e-6
    moods: Iterator[float] = field(default_factory=lambda: cycle([1.0]))

    def seconds(self, n_tokens: int, position: float) -> float:
        per_pair_s = self.small_pair_s if n_tokens < TILE else self.tiled_pair_s
        pairs = n_tokens * (position + n_tokens / 2)
        return self.base_s + self.per_token_s * n_tokens + per_pair_s * pairs

    def decode(self, n: int, times: int = 5) -> None:
        for _ in range(times):
            self.pace.measured(n, next(self.moods) * self.seconds(n, 0), n_decoding=n)

    def prompt(self, n_prompt: int, n_readers: int = 0) -> list[tuple[int, float]]:
        """Compute a prompt; the size of each step in tokens, and its seconds."""
        steps: list[tuple[int, float]] = []
        position = 0
        while position < n_prompt:
            n_left = n_prompt - position
            n = self.pace.n_slice(n_decoding=n_readers, is_shared=n_readers > 0, position=position, n_left=n_left)
            n = min(n, n_left)
            seconds = next(self.moods) * self.seconds(n + n_readers, position)
            n_pairs = n * (position + n / 2)
            self.pace.measured(n + n_readers, seconds, n_decoding=n_readers, n_pairs=n_pairs)
            steps.append((n + n_readers, seconds))
            position += n
        return steps


def used(machine: Machine) -> Machine:
    """After a few prompts and answers."""
    machine.prompt(60)
    machine.decode(3)
    machine.prompt(1000)
    return machine


def total(steps: list[tuple[int, float]]) -> float:
    return sum(seconds for _, seconds in steps)


def test_the_first_slice_is_small_because_nothing_is_known() -> None:
    assert StepPace().n_slice(n_decoding=0, is_shared=False) == FIRST_SLICE


def test_the_first_slice_beside_a_reader_takes_no_longer_than_as_many_single_tokens() -> None:
    slow, quick = Machine(base_s=0.010), Machine(base_s=0.002, per_token_s=0.0001)
    slow.decode(1)
    quick.decode(1)
    assert slow.pace.n_slice(n_decoding=1, is_shared=True) == pytest.approx(SHARED_BUDGET_S / 0.0134, abs=1)
    assert quick.pace.n_slice(n_decoding=1, is_shared=True) == FIRST_SLICE


def test_a_prompt_of_3000_tokens_is_hardly_felt_by_readers_and_hardly_slower_for_them() -> None:
    machine = used(Machine())
    alone, shared = machine.prompt(3000), machine.prompt(3000, n_readers=3)
    assert max(seconds for _, seconds in shared) <= 0.5
    assert total(shared) <= 1.3 * total(alone)
    assert max(seconds for _, seconds in alone) <= 1.3 * ALONE_BUDGET_S


def test_slices_get_smaller_with_what_is_before_them_and_not_the_steps_longer() -> None:
    sizes = [n for n, _ in used(Machine(tiled_pair_s=3.0e-6)).prompt(6000, n_readers=1)]
    assert max(sizes[-10:]) < TILE <= max(sizes[:5])


def test_steps_beside_readers_are_whole_tiles_while_they_fit() -> None:
    machine = used(Machine(per_token_s=0.001))
    assert all(n % TILE == 0 for n, _ in machine.prompt(800, n_readers=3)[:-1])


def test_the_last_tokens_which_are_no_tile_are_cut_smaller_where_they_would_be_felt() -> None:
    machine = used(Machine())
    n = machine.pace.n_slice(n_decoding=3, is_shared=True, position=3000, n_left=50)
    assert MIN_SLICE <= n < 30
    assert machine.seconds(n + 3, 3000) <= 1.2 * SHARED_BUDGET_S


def test_one_whole_tile_may_take_a_little_longer_than_the_budget() -> None:
    machine = used(Machine(base_s=0.0, per_token_s=0.9 * TILE_BUDGET_S / TILE, small_pair_s=0.0, tiled_pair_s=0.0))
    assert machine.pace.n_slice(n_decoding=2, is_shared=True) + 2 == TILE


def test_where_a_tile_would_be_felt_a_slice_is_smaller_but_not_where_every_slice_is() -> None:
    machine = used(Machine(base_s=0.0, per_token_s=1.5 * TILE_BUDGET_S / TILE, small_pair_s=0.0, tiled_pair_s=0.0))
    n = machine.pace.n_slice(n_decoding=1, is_shared=True)
    assert MIN_SLICE <= n < TILE // 2
    hopeless = used(Machine(base_s=0.1, small_pair_s=1e-5, per_token_s=0.8 * SLOW_TILE_BUDGET_S / TILE))
    assert hopeless.pace.n_slice(n_decoding=1, is_shared=True) + 1 == TILE


def test_small_slices_do_not_make_the_next_ones_smaller() -> None:
    machine = used(Machine(base_s=0.1, per_token_s=0.006, small_pair_s=0.0, tiled_pair_s=0.0))
    sizes = [n for n, _ in machine.prompt(2000, n_readers=1)]
    assert sizes[-20:-1] == pytest.approx([25] * 19, abs=2)  # (0.25 s - base) / per token


def test_what_was_slow_beside_another_program_is_tried_again_when_that_has_gone() -> None:
    machine = used(Machine())
    machine.moods = cycle([2.0, 4.0, 3.0])
    busy = machine.prompt(3000, n_readers=3)
    assert min(n for n, _ in busy) < TILE
    machine.decode(4, times=20)
    machine.moods = cycle([1.0])
    sizes = [n for n, _ in machine.prompt(3000, n_readers=3)]
    assert all(n == TILE for n in sizes[8:-4])


def test_when_another_program_begins_slices_are_short_enough_again_after_two() -> None:
    machine = used(Machine(base_s=0.004, per_token_s=0.0005, small_pair_s=1e-7, tiled_pair_s=1e-7))
    machine.moods = cycle([2.5])
    assert all(seconds <= 1.25 * SHARED_BUDGET_S for _, seconds in machine.prompt(3000, n_readers=1)[2:])


def test_one_hiccup_does_not_change_the_pace_for_long() -> None:
    machine = used(Machine())
    machine.moods = iter([1.0, 1.0, 4.0, *[1.0] * 100])
    sizes = [n for n, _ in machine.prompt(1000, n_readers=3)]
    assert sum(n < TILE for n in sizes) <= 6


def test_a_model_slower_than_the_budget_still_gets_on_with_prompts() -> None:
    machine = Machine(base_s=1.0, per_token_s=0.01, small_pair_s=0.0, tiled_pair_s=0.0)
    machine.decode(1)
    machine.prompt(200, n_readers=1)
    assert machine.pace.n_slice(n_decoding=1, is_shared=True) + 1 == TILE  # half of the time, in whole tiles


def test_times_that_make_no_sense_never_give_less_than_one_token_a_slot() -> None:
    pace = StepPace()
    pace.measured(1, 0.5, n_decoding=1)
    pace.measured(64, 0.1, n_pairs=1e9)
    pace.measured(512, 0.0)
    pace.measured(20, 1e9)
    assert pace.n_slice(n_decoding=4, is_shared=True, position=10**6) >= MIN_SLICE
