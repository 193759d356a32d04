"""Conversations as trees: branches, siblings, and titles."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.chat import (
    Message,
    branch_to,
    newest_leaf_below,
    siblings_of,
    title_from,
)
from layadesk.domain.inference import Role


def message(message_id: str, parent_id: str | None = None, created_at: float = 0.0) -> Message:
    return Message(message_id, "c", parent_id, Role.USER, "text", created_at)


def by_id(messages: Sequence[Message]) -> dict[str, Message]:
    return {one.message_id: one for one in messages}


@st.composite
def trees(draw: st.DrawFn) -> list[Message]:
    """Trees with one or several roots: message number n has an older parent, or none."""
    times = draw(st.lists(st.integers(0, 5), min_size=1, max_size=15))
    parents = [draw(st.none() | st.integers(0, n - 1)) if n else None for n in range(len(times))]
    return [
        message(str(n), None if parent is None else str(parent), float(time))
        for n, (parent, time) in enumerate(zip(parents, times, strict=True))
    ]


@st.composite
def tangles(draw: st.DrawFn) -> list[Message]:
    """What a damaged database may hold: any parent, also missing ones and circles."""
    ids = [str(n) for n in range(draw(st.integers(1, 8)))]
    return [message(one, draw(st.none() | st.sampled_from([*ids, "gone"])), draw(st.floats(0, 3))) for one in ids]


QUESTION, ANSWER, AGAIN = message("q"), message("a", "q", 1), message("b", "q", 2)
FOLLOW_UP, EDIT = message("f", "a", 3), message("e", None, 4)
TREE = by_id([QUESTION, ANSWER, AGAIN, FOLLOW_UP, EDIT])


def test_a_branch_is_read_from_the_first_message_to_the_leaf() -> None:
    assert branch_to(TREE, "f") == (QUESTION, ANSWER, FOLLOW_UP)
    assert branch_to(TREE, "b") == (QUESTION, AGAIN)


def test_no_leaf_or_an_unknown_one_is_an_empty_branch() -> None:
    assert branch_to(TREE, None) == ()
    assert branch_to(TREE, "gone") == ()


def test_a_broken_chain_ends_at_the_break() -> None:
    without_answer = {key: one for key, one in TREE.items() if key != "a"}
    assert branch_to(without_answer, "f") == (FOLLOW_UP,)


def test_siblings_are_told_oldest_first_also_of_first_messages_and_not_of_only_children() -> None:
    assert siblings_of(TREE.values(), branch_to(TREE, "f")) == {"q": ("q", "e"), "a": ("a", "b")}


def test_siblings_of_one_moment_have_a_fixed_order() -> None:
    twins = [message("b", "q"), message("a", "q"), QUESTION]
    assert siblings_of(twins, twins[:1]) == {"b": ("a", "b")}
    assert siblings_of(twins[::-1], twins[:1]) == {"b": ("a", "b")}


def test_switching_to_a_message_shows_its_newest_descendants() -> None:
    newer = message("newer", "a", 9)
    assert newest_leaf_below([*TREE.values(), newer], "q") == "b"  # the newest child first, not the newest leaf
    assert newest_leaf_below([*TREE.values(), newer], "a") == "newer"
    assert newest_leaf_below(TREE.values(), "e") == "e"
    assert newest_leaf_below([], "gone") == "gone"


@given(trees(), st.data())
def test_a_branch_links_each_message_to_the_one_before_it(messages: list[Message], data: st.DataObject) -> None:
    leaf = data.draw(st.sampled_from(messages))
    branch = branch_to(by_id(messages), leaf.message_id)
    assert branch[0].parent_id is None
    assert branch[-1] == leaf
    assert [one.parent_id for one in branch[1:]] == [one.message_id for one in branch[:-1]]


@given(trees(), st.data())
def test_siblings_are_all_children_of_one_parent_by_age(messages: list[Message], data: st.DataObject) -> None:
    all_of = by_id(messages)
    branch = branch_to(all_of, data.draw(st.sampled_from(messages)).message_id)
    siblings = siblings_of(messages, branch)
    for one in branch:
        same_parent = [other.message_id for other in messages if other.parent_id == one.parent_id]
        group = siblings.get(one.message_id, (one.message_id,))
        assert sorted(group) == sorted(same_parent)
        assert list(group) == sorted(group, key=lambda name: (all_of[name].created_at, name))
    assert all(len(group) > 1 for group in siblings.values())
    assert set(siblings) <= {one.message_id for one in branch}


@given(trees(), st.data())
def test_switching_to_any_message_shows_a_branch_with_it_that_ends_at_a_leaf(
    messages: list[Message], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(messages))
    leaf = newest_leaf_below(messages, chosen.message_id)
    assert chosen in branch_to(by_id(messages), leaf)
    assert leaf not in {one.parent_id for one in messages}


@given(tangles(), st.data())
def test_no_tangle_of_a_damaged_database_hangs_or_doubles_a_message(
    messages: list[Message], data: st.DataObject
) -> None:
    chosen = data.draw(st.sampled_from(messages))
    branch = branch_to(by_id(messages), chosen.message_id)
    assert branch[-1] == chosen
    assert len({one.message_id for one in branch}) == len(branch)
    assert newest_leaf_below(messages, chosen.message_id) in by_id(messages)
    assert set(siblings_of(messages, branch)) <= {one.message_id for one in branch}


def test_a_message_can_change_only_by_a_copy() -> None:
    with pytest.raises(AttributeError):
        QUESTION.text = "other"  # type: ignore[misc]  # that is the point
    assert replace(QUESTION, text="other").text == "other"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Write quicksort in Rust", "Write quicksort in Rust"),
        ("\n\n  Write   quicksort\tin Rust \nand explain it", "Write quicksort in Rust"),
        ("## Write quicksort", "Write quicksort"),
        ("- * > Write quicksort", "Write quicksort"),
        ("-----\n***\n===\nWrite", "Write"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("How do I learn C#", "How do I learn C#"),
        ("-5 + 3 * 2", "-5 + 3 * 2"),
        ("#include <stdio.h>", "#include <stdio.h>"),
        ("__init__ in Python", "__init__ in Python"),
        ("旅行计划", "旅行计划"),
        ("👨‍👩‍👧 our family", "👨‍👩‍👧 our family"),
        ("safe \u202etxt.exe\u202c\u200b\x00\x1b[31m", "safe txt.exe[31m"),
        ("\u200d\u200c\nWrite", "Write"),
        ("", ""),
        (" \n\t\n---\n```\n", ""),
    ],
)
def test_a_title_is_the_first_line_with_words_in_it(text: str, title: str) -> None:
    assert title_from(text) == title


def test_a_long_title_is_cut_at_a_word_or_where_there_are_none_at_its_limit() -> None:
    assert title_from("one two three four", limit=12) == "one two…"
    assert title_from("one two, three", limit=10) == "one two…"
    assert title_from("请把这段代码翻译成中文并且解释每一行", limit=8) == "请把这段代码翻译…"
    assert title_from("a verylongwordwithoutanyspaces", limit=12) == "a verylongwo…"
    assert title_from("exactly ten", limit=11) == "exactly ten"


@given(st.text(st.characters()), st.integers(2, 60))
def test_any_text_gives_a_title_of_one_short_line_without_control_signs(text: str, limit: int) -> None:
    title = title_from(text, limit=limit)
    assert len(title) <= limit + 1
    assert title == title.strip()
    assert title.splitlines() in ([], [title])
    assert not [c for c in title if unicodedata.category(c) in ("Cc", "Cs")]
