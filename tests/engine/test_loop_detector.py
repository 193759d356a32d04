"""A loop is ended, a list, a table or code is not (reported fault G23). The cases are text, one byte a token: harder
than with real tokens, of which a line has a quarter as many."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.engine.loop_detector import WINDOW, LoopDetector, repeats_at_end


def first_alarm(tokens: list[int]) -> int | None:
    detector = LoopDetector()
    return next((n for n, token in enumerate(tokens, 1) if detector.push(token)), None)


def words(text: str) -> list[int]:
    """About what a tokenizer makes of it: pieces of up to four letters."""
    return [hash(text[i : i + 4]) for i in range(0, len(text), 4)]


NUMBERED = "\n".join(f"{i}. Step number {i} of the long recipe." for i in range(400))
TABLE = "\n".join(f"| {i} | {i * i} | yes | no | - | - |" for i in range(300))
CODE = "\n".join(f"    assert add({i}, {i + 1}) == {2 * i + 1}  # as before" for i in range(300))
JSON = "\n".join(f'  {{"id": {i}, "name": "item", "tags": [], "parent": null, "visible": true}},' for i in range(300))
MATRIX = "\n".join(" ".join("1" if i == j else "0" for j in range(16)) for i in range(16))
SONG = ("We all live in a yellow submarine, yellow submarine, yellow submarine.\n" * 2 + "Other words come here.\n") * 3
RULE = "-" * 240 + "\n"
BRACES = "}" * 100


@pytest.mark.parametrize("text", [NUMBERED, TABLE, CODE, JSON, MATRIX, SONG, RULE, BRACES], ids=lambda text: text[:12])
def test_lists_tables_code_and_songs_are_no_loops(text: str) -> None:  # G23
    assert first_alarm(list(text.encode())) is None
    assert first_alarm(words(text)) is None


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "\n",
        "ab",
        "the ",
        "I am sorry, but ",
        "Yes, it is. No, it is not.\n",
        "This is one whole line of words.\n" * 2,
    ],
)
def test_a_token_a_phrase_and_a_line_over_and_over_are_loops(unit: str) -> None:  # G21, G22, G23
    head = "A reasonable beginning of an answer that then goes wrong: "
    alarm = first_alarm(list((head + unit * 2000).encode()))
    assert alarm is not None
    assert alarm <= len(head) + max(340, 9 * len(unit) + 16)


def test_a_loop_that_begins_late_is_seen_too() -> None:
    rng = random.Random(5)
    begin = [rng.randrange(1000) for _ in range(5 * WINDOW)]
    alarm = first_alarm([*begin, *[1, 2, 3, 4, 5, 6, 7] * 200])
    assert alarm is not None
    assert alarm > len(begin)


def test_an_answer_that_leaves_a_repetition_in_time_goes_on() -> None:
    assert first_alarm([*[7] * 200, *range(100), *[7] * 200, *range(100)]) is None


@given(st.lists(st.integers(0, 5), min_size=1, max_size=100), st.integers(0, 50))
def test_any_unit_that_fills_the_window_is_a_loop(unit: list[int], offset: int) -> None:
    endless = unit * (WINDOW // len(unit) + 2)
    assert repeats_at_end(endless[offset : offset + WINDOW])


@given(st.integers(0, 2**32))
def test_random_tokens_are_no_loop(seed: int) -> None:
    rng = random.Random(seed)
    assert not repeats_at_end([rng.randrange(50) for _ in range(WINDOW)])
