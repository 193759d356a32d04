"""What of a conversation fits into the context, and what is left out."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from layadesk.domain.context_budget import (
    MAX_ANSWER_RESERVE,
    TURNS_PER_CUT,
    answer_reserve,
    droppable,
    fit_messages,
    without_oldest,
)
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import PromptMessage, Role

S, U, A = Role.SYSTEM, Role.USER, Role.ASSISTANT


def prompt(*roles: Role, size: int = 10) -> list[PromptMessage]:
    return [PromptMessage(role, "x" * size) for role in roles]


def count(messages: Sequence[PromptMessage]) -> int:
    """Three tokens for the frame of a prompt, two for that of a message, one a letter."""
    return 3 + sum(2 + len(one.text) for one in messages)


PROMPTS = st.lists(st.builds(PromptMessage, st.sampled_from([S, U, A]), st.text("x", max_size=30)), max_size=14)
CHATS = st.builds(
    lambda systems, turns, last: [*systems, *(one for turn in turns for one in turn), last],
    st.lists(st.builds(PromptMessage, st.just(S), st.text("x", max_size=20)), max_size=2),
    st.lists(
        st.tuples(
            st.builds(PromptMessage, st.just(U), st.text("x", max_size=30)),
            st.builds(PromptMessage, st.just(A), st.text("x", max_size=30)),
        ),
        max_size=8,
    ),
    st.builds(PromptMessage, st.just(U), st.text("x", max_size=30)),
)


@pytest.mark.parametrize(
    ("n_ctx", "max_tokens", "reserve"),
    [(8192, None, 1024), (2048, None, 512), (8192, 100, 100), (8192, 10**9, 1024), (3, None, 0), (8192, 0, 0)],
)
def test_the_answer_gets_what_was_asked_for_but_never_much_of_the_context(
    n_ctx: int, max_tokens: int | None, reserve: int
) -> None:
    assert answer_reserve(n_ctx, max_tokens) == reserve


@given(st.integers(0, 2**20), st.none() | st.integers(0, 2**31))
def test_the_reserve_is_within_all_its_limits(n_ctx: int, max_tokens: int | None) -> None:
    reserve = answer_reserve(n_ctx, max_tokens)
    assert 0 <= reserve <= min(n_ctx // 4, MAX_ANSWER_RESERVE)
    assert max_tokens is None or reserve <= max_tokens


@pytest.mark.parametrize(
    ("roles", "choices"),
    [
        ((U,), [0]),
        ((S, U), [0]),
        ((U, A, U), [0, 2]),
        ((S, U, A, U, A, U), [0, 2, 4]),
        ((S, S, A, U, A, U), [0, 1, 3]),  # an answer without its question goes first
        ((U, A, U, A), [0, 2]),  # to be continued: the last question stays with its answer
        ((U, U, A, A, U), [0, 1, 4]),
        ((S,), [0]),
        ((), [0]),
    ],
)
def test_whole_turns_are_left_out_from_the_oldest_on(roles: tuple[Role, ...], choices: list[int]) -> None:
    assert droppable(prompt(*roles)) == choices


@given(PROMPTS)
def test_leading_system_messages_and_all_from_the_last_question_on_are_always_kept(
    messages: list[PromptMessage],
) -> None:
    choices = droppable(messages)
    assert choices[0] == 0
    assert choices == sorted(set(choices))
    n_system = next((i for i, one in enumerate(messages) if one.role is not S), len(messages))
    assume(any(one.role is U for one in messages))
    last = max(i for i, one in enumerate(messages) if one.role is U)
    for n_dropped in choices:
        kept = without_oldest(messages, n_dropped)
        assert kept[:n_system] == messages[:n_system]
        assert kept[-(len(messages) - last) :] == messages[last:]
        assert len(kept) == len(messages) - n_dropped
        assert n_dropped == 0 or kept[n_system].role is U


def test_what_fits_is_left_whole_and_what_does_not_loses_its_oldest_turns() -> None:
    messages = prompt(S, U, A, U, A, U)
    assert count(messages) == 75
    assert fit_messages(messages, count, n_ctx=85, reserve=10) == 0
    assert fit_messages(messages, count, n_ctx=84, reserve=10) == 2
    assert fit_messages(messages, count, n_ctx=60, reserve=10) == 4
    assert fit_messages(messages, count, n_ctx=28, reserve=10) == 4  # no full reserve, but a cell


def test_a_question_that_does_not_fit_alone_is_refused_with_its_size() -> None:
    with pytest.raises(LayaDeskError) as caught:
        fit_messages(prompt(S, U, A, U), count, n_ctx=27, reserve=5)
    assert caught.value.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED
    assert caught.value.facts == {"n_prompt": 27, "n_ctx": 27}


@given(CHATS, st.integers(0, 300), st.integers(0, 80))
def test_little_more_than_needed_is_left_out_and_there_is_always_room_for_an_answer(
    messages: list[PromptMessage], n_ctx: int, reserve: int
) -> None:
    choices = droppable(messages)
    sizes = {n: count(without_oldest(messages, n)) for n in choices}
    try:
        n_dropped = fit_messages(messages, count, n_ctx=n_ctx, reserve=reserve)
    except LayaDeskError:
        assert sizes[choices[-1]] + 1 > n_ctx
        return
    assert n_dropped in choices
    assert sizes[n_dropped] + 1 <= n_ctx
    needed = max(reserve, 1)  # an answer has at least one cell
    least = next((i for i, n in enumerate(choices) if sizes[n] + needed <= n_ctx), len(choices) - 1)
    at = choices.index(n_dropped)
    assert least <= at < least + TURNS_PER_CUT
    assert at == least or len(choices) - 1 - at >= TURNS_PER_CUT, "a short conversation loses no more than it must"
    assert sizes[n_dropped] + needed <= n_ctx or n_dropped == choices[-1]


def test_a_growing_conversation_begins_with_the_same_messages_for_several_turns() -> None:
    messages = prompt(S, U)
    cuts = []
    for _ in range(40):
        cuts.append(fit_messages(messages, count, n_ctx=400, reserve=20))
        messages += prompt(A, U)
    assert cuts[0] == 0
    assert cuts[-1] > 20
    n_changes = sum(old != new for old, new in pairwise(cuts))
    assert n_changes <= 40 / TURNS_PER_CUT + 1, "or each turn would be computed from its beginning"


@given(CHATS, st.integers(0, 300))
def test_templates_are_rendered_few_times(messages: list[PromptMessage], n_ctx: int) -> None:
    calls = 0

    def counted(some: Sequence[PromptMessage]) -> int:
        nonlocal calls
        calls += 1
        return count(some)

    with suppress(LayaDeskError):
        fit_messages(messages, counted, n_ctx=n_ctx, reserve=10)
    assert calls <= 2 + len(droppable(messages)).bit_length()
