"""Where two token lists say the same: what need not be computed twice.

The tokens a model has written are kept as they were. The text of an answer, tokenised again in the next turn's prompt,
may come out in other tokens ("Hel" + "lo" for "Hello"), and every cell from there on would be computed anew.
"""

from collections.abc import Callable, Sequence

MAX_DETOUR = 64  # tokens; two ways to write the same text meet again within a word


def common_length(one: Sequence[int], other: Sequence[int], start: int = 0) -> int:
    """How many tokens two lists share from their beginning; the first `start` are known to be equal.

    By doubling and halving, since comparing slices is native code and a loop is not.
    """
    limit = min(len(one), len(other))
    low, step = start, 64
    while low < limit:
        high = min(limit, low + step)
        if one[low:high] != other[low:high]:
            break
        low, step = high, step * 2
    else:
        return limit
    while low < high:  # equal up to `low`, different before `high`
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def adopt(
    prompt: list[int], kept: Sequence[int], piece: Callable[[int], bytes], is_text: Callable[[int], bool]
) -> tuple[list[int], int]:
    """`prompt` with the tokens of `kept` wherever both write the same text, and how many of `kept` it now begins with.

    Only tokens with text may differ; control tokens must be the same ones, whatever a user has typed.
    """
    adopted = prompt
    at = 0
    while True:
        at = common_length(adopted, kept, at)
        met = _meet_again(adopted[at : at + MAX_DETOUR], kept[at : at + MAX_DETOUR], piece, is_text)
        if met is None:
            return adopted, at
        n_prompt, n_kept = met
        adopted = [*kept[: at + n_kept], *adopted[at + n_prompt :]]
        at += n_kept


def _meet_again(
    one: Sequence[int], other: Sequence[int], piece: Callable[[int], bytes], is_text: Callable[[int], bool]
) -> tuple[int, int] | None:
    """After how many tokens each of two lists has written the same bytes; None where they differ or never meet."""
    n_one = n_other = 0
    behind_one, behind_other = b"", b""
    while True:
        take_one = len(behind_one) <= len(behind_other)
        tokens, n = (one, n_one) if take_one else (other, n_other)
        if n >= len(tokens) or not is_text(tokens[n]):
            return None
        if take_one:
            behind_one += piece(tokens[n])
            n_one += 1
        else:
            behind_other += piece(tokens[n])
            n_other += 1
        shared = min(len(behind_one), len(behind_other))
        if behind_one[:shared] != behind_other[:shared]:
            return None
        behind_one, behind_other = behind_one[shared:], behind_other[shared:]
        if not behind_one and not behind_other and n_one and n_other:
            return n_one, n_other
