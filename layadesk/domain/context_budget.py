"""What of a conversation fits into the context, and what is visibly left out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import PromptMessage, Role

MAX_ANSWER_RESERVE = 1024
TURNS_PER_CUT = 4


@dataclass(frozen=True, slots=True)
class ContextCount:
    """What sending a message would put into the context of the expert that would read it.

    Of `n_whole` tokens, `n_prompt` would be sent, after the `n_dropped` oldest messages were left out. Not `is_exact`:
    estimated, because the expert is not in memory. Not `fits`: even the last message alone is too long.
    """

    expert: str
    n_whole: int
    n_prompt: int
    n_dropped: int
    n_ctx: int
    is_exact: bool
    fits: bool = True


def answer_reserve(n_ctx: int, max_tokens: int | None) -> int:
    """Cells kept free for the answer: what was asked for, but at most a quarter of the context or 1024.

    `max_tokens` is a ceiling, not a reservation, so a large one must not push the history out.
    """
    share = min(n_ctx // 4, MAX_ANSWER_RESERVE)
    return share if max_tokens is None else min(share, max_tokens)


def droppable(messages: Sequence[PromptMessage]) -> list[int]:
    """How many messages may be left out, smallest first: always whole turns from the oldest on.

    System messages at the front and everything from the last user message on are always kept.
    """
    first = 0
    while first < len(messages) and messages[first].role is Role.SYSTEM:
        first += 1
    last = max((i for i, m in enumerate(messages) if m.role is Role.USER), default=len(messages))
    return [i - first for i in range(first, last + 1) if i in (first, last) or messages[i].role is Role.USER]


def without_oldest(messages: Sequence[PromptMessage], n_dropped: int) -> list[PromptMessage]:
    """`messages` without the `n_dropped` oldest that are not leading system messages."""
    first = 0
    while first < len(messages) and messages[first].role is Role.SYSTEM:
        first += 1
    return [*messages[:first], *messages[first + n_dropped :]]


def fit_messages(
    messages: Sequence[PromptMessage],
    count_tokens: Callable[[Sequence[PromptMessage]], int],
    *,
    n_ctx: int,
    reserve: int,
) -> int:
    """How many of the oldest messages to leave out so that the prompt and `reserve` fit in `n_ctx` cells.

    No more than needed, but in a longer conversation whole cuts of TURNS_PER_CUT turns: the next few turns then begin
    with the same messages, and what was computed for them is not computed again.

    Where even the last message alone leaves no full reserve, one free cell is enough; less never is. Counts by
    bisection, because each count renders the template. Raises CONTEXT_LENGTH_EXCEEDED with `n_prompt` and `n_ctx`.
    """
    choices = droppable(messages)
    reserve = max(reserve, 1)
    if count_tokens(messages) + reserve <= n_ctx:
        return 0
    low, high = 1, len(choices) - 1
    while low < high:
        middle = (low + high) // 2
        if count_tokens(without_oldest(messages, choices[middle])) + reserve <= n_ctx:
            high = middle
        else:
            low = middle + 1
    n_dropped = choices[_whole_cut(min(low, len(choices) - 1), len(choices))]
    check_fits(count_tokens(without_oldest(messages, n_dropped)), n_ctx)
    return n_dropped


def check_fits(n_prompt: int, n_ctx: int) -> None:
    """Raise CONTEXT_LENGTH_EXCEEDED where a prompt leaves no cell for an answer."""
    if n_prompt + 1 > n_ctx:
        raise fail(ErrorCode.CONTEXT_LENGTH_EXCEEDED, n_prompt=n_prompt, n_ctx=n_ctx)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text is, before any model has counted: four ASCII characters each, others one each."""
    n_ascii = len(text.encode("ascii", "ignore"))
    return (n_ascii + 3) // 4 + len(text) - n_ascii + 4


def estimate_context(
    expert: str, messages: Sequence[PromptMessage], *, n_ctx: int, max_tokens: int | None
) -> ContextCount:
    """The same count before any model has counted; see `estimate_tokens`."""

    def count(kept: Sequence[PromptMessage]) -> int:
        return sum(estimate_tokens(message.text) for message in kept)

    n_whole = count(messages)
    try:
        n_dropped = fit_messages(messages, count, n_ctx=n_ctx, reserve=answer_reserve(n_ctx, max_tokens))
    except LayaDeskError as refusal:
        n_least = int(refusal.facts["n_prompt"] or 0)
        return ContextCount(expert, n_whole, n_least, 0, n_ctx, is_exact=False, fits=False)
    return ContextCount(expert, n_whole, count(without_oldest(messages, n_dropped)), n_dropped, n_ctx, is_exact=False)


def _whole_cut(least: int, n_choices: int) -> int:
    """The number of turns to leave out where at least `least` must go, and TURNS_PER_CUT are to be left."""
    whole = -(-least // TURNS_PER_CUT) * TURNS_PER_CUT
    return whole if whole + TURNS_PER_CUT < n_choices else least
