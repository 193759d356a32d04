"""What a damaged, older or newer program may have written into a row, and what is shown of it."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.inference import Role
from layadesk.store.rows import (
    CONVERSATION_FIELDS,
    MESSAGE_FIELDS,
    as_json,
    conversation_from,
    message_from,
    message_row,
    storable,
)
from tests.fakes.store import NOW, a_question, an_answer, database, fill, opened, result_of

ANY_VALUE = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(), st.binary())


@pytest.mark.parametrize(
    ("column", "stored", "field", "shown"),
    [
        ("role", "narrator", "role", Role.ASSISTANT),
        ("status", "paused", "status", MessageStatus.COMPLETE),
        ("finish_reason", "tool_calls", "finish_reason", None),
        ("route", '{"expert": "a", "reason": "because"}', "route", None),
        ("route", "{not json", "route", None),
        ("route", "[]", "route", None),
        ("route", '{"reason": "pinned"}', "route", None),
        ("route", "[" * 100_000, "route", None),
        ("timings", '{"ttft_ms": "fast"}', "timings", None),
        ("memory", '{"kv_bytes": -0.5}', "memory", None),
        ("error", '{"code": "not_known_yet"}', "error", None),
        ("n_dropped", "many", "n_dropped", 0),
        ("text", b"caf\xe9", "text", "caf\ufffd"),
        ("text", 12, "text", "12"),
        ("created_at", "yesterday", "created_at", 0.0),
        ("parent_id", "", "parent_id", None),
    ],
)
def test_a_field_that_makes_no_sense_is_left_out_and_the_message_is_shown(
    tmp_path: Path, column: str, stored: Any, field: str, shown: Any
) -> None:
    # E03: an enum of another version must not hide or crash a chat
    with opened(tmp_path) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(f"UPDATE message SET {column} = ? WHERE message_id = 'q1'", (stored,))
    with opened(tmp_path) as store:
        for _ in range(2):  # reading again does not count again
            messages = result_of(store.load_messages("c1"))
            assert set(messages) == {"q1", "a1"}
            assert getattr(messages["q1"], field) == shown
            if field != "text":
                assert messages["q1"].text == "Sort this"
            assert store.status.n_unreadable == (0 if stored == 12 else 1)  # the column makes '12' of 12


def test_letters_that_are_no_utf8_on_disk_do_not_hide_a_conversation(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        connection.execute("UPDATE message SET text = CAST(x'636166e9' AS TEXT) WHERE message_id = 'q1'")
        connection.execute("UPDATE conversation SET title = CAST(x'ff' AS TEXT)")
    with opened(tmp_path) as store:
        assert [one.title for one in result_of(store.list_conversations())] == ["\ufffd"]
        assert result_of(store.load_messages("c1"))["q1"].text == "caf\ufffd"


def test_unknown_fields_of_a_newer_program_are_ignored_and_stay_on_the_disk(tmp_path: Path) -> None:
    # E03: unknown field kept
    newer = '{"expert":"coder","reason":"pinned","mood":"sunny"}'
    with opened(tmp_path) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        connection.execute("UPDATE message SET route = ? WHERE message_id = 'a1'", (newer,))
    with opened(tmp_path) as store:
        route = result_of(store.load_messages("c1"))["a1"].route
        assert route is not None
        assert route.expert == "coder"
        result_of(store.save_progress("a1", "Use", 1))
        assert store.status.n_unreadable == 0
    with closing(database(tmp_path)) as connection:
        assert connection.execute("SELECT route FROM message WHERE message_id = 'a1'").fetchone() == (newer,)


def test_a_row_without_an_id_is_left_out_and_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store)
    with closing(database(tmp_path)) as connection:
        connection.execute("UPDATE message SET message_id = '' WHERE message_id = 'q1'")
        connection.execute(
            "INSERT INTO conversation (conversation_id, title, created_at, updated_at) VALUES ('', 'lost', 0, 0)"
        )
    with opened(tmp_path) as store:
        assert result_of(store.load_messages("c1")).keys() == {"a1"}
        assert [one.conversation_id for one in result_of(store.list_conversations())] == ["c1"]
        assert store.status.n_unreadable == 2


@given(st.lists(ANY_VALUE, min_size=len(MESSAGE_FIELDS), max_size=len(MESSAGE_FIELDS)))
def test_no_row_whatever_is_in_it_breaks_reading(row: list[Any]) -> None:
    message, is_whole = message_from(tuple(row))
    assert isinstance(message, Message) or not is_whole
    conversation, is_whole = conversation_from(tuple(row[: len(CONVERSATION_FIELDS)]))
    assert conversation is not None or not is_whole


@given(st.text(st.characters()), st.floats(0, 1e12), st.sampled_from(Role), st.sampled_from(MessageStatus))
def test_a_message_comes_back_as_it_was(text: str, created_at: float, role: Role, status: MessageStatus) -> None:
    message = Message("m", "c", None, role, storable(text), created_at, status)
    assert message_from(message_row(message)) == (message, True)


@given(st.text())
def test_text_that_utf8_can_hold_is_stored_unchanged(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    assert storable(text) is text


def test_nothing_is_stored_for_what_is_unknown() -> None:
    assert as_json(None) is None
    assert as_json(an_answer().route) is None
    assert message_row(a_question())[MESSAGE_FIELDS.index("created_at")] == NOW + 1
