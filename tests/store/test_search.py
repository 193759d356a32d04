"""Finding last week's answer, in any language, whatever has happened to the message since."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.chat import Attachment, AttachmentKind, Correction, MessageStatus, Rating
from layadesk.domain.inference import Role
from layadesk.domain.search import excerpt, terms_of
from layadesk.store.store import Store
from tests.fakes.store import a_conversation, a_question, an_answer, opened, result_of

CHINESE = "昨天下午我们在成都的人民公园喝了一下午的茶然后去了宽窄巷子"


def told(store: Store, *texts: str) -> None:
    store.add_conversation(a_conversation(title="A talk"))
    for number, text in enumerate(texts):
        store.add_messages([a_question(f"m{number}", text=text, created_at=float(number))], leaf_id=f"m{number}")


def found(store: Store, query: str) -> list[str | None]:
    return [hit.message_id for hit in result_of(store.search(query))]


@pytest.mark.parametrize("query", ["人民公园", "公园", "茶", "一下午的茶然后", "宽窄巷子"])
def test_a_chinese_phrase_is_found_in_the_middle_of_a_sentence_without_spaces(tmp_path: Path, query: str) -> None:
    with opened(tmp_path) as store:
        told(store, CHINESE, "Something else entirely")
        assert found(store, query) == ["m0"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("quicksort", ["m1"]),
        ("QUICKSORT", ["m1"]),
        ("icksor", ["m1"]),
        ("pivot rust", ["m1"]),
        ("rust 7", ["m1"]),
        ('"the pivot"', ["m1"]),
        ('"pivot the"', []),
        ("100%", ["m2"]),
        ("a_b", ["m2"]),
        ("_", ["m2"]),
        ("%", ["m2"]),
        ("Über", ["m3"]),
        ("über", ["m3"]),
        ('"', []),
        ("", []),
        ("  ", []),
        ("NEAR(", []),
        ("' OR 1=1 --", []),
        ("C++", ["m3"]),
    ],
)
def test_words_are_found_wherever_they_stand(tmp_path: Path, query: str, expected: list[str]) -> None:
    with opened(tmp_path) as store:
        told(store, "hello", "Quicksort in Rust: the pivot is 7", "a_b is 100% \\ sure", "Über C++ und mehr")
        assert found(store, query) == expected


def test_the_newest_find_comes_first_and_titles_before_all(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        told(store, "apples", "more apples")
        store.add_conversation(a_conversation("c2", title="Apples of last week"))
        hits = result_of(store.search("apples"))
        assert [(hit.conversation_id, hit.message_id) for hit in hits] == [("c2", None), ("c1", "m1"), ("c1", "m0")]
        assert hits[0].role is None
        assert hits[1].role is Role.USER


def test_an_answer_is_found_when_it_is_finished_and_as_it_is_in_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_conversation(a_conversation())
        store.add_messages([an_answer("a1", text="", status=MessageStatus.STREAMING)], leaf_id="a1")
        result_of(store.save_progress("a1", "half a pear", 3, ""))
        assert found(store, "pear") == []
        result_of(store.finish_message(an_answer("a1", text="a whole orange", status=MessageStatus.COMPLETE)))
        assert found(store, "pear") == []
        assert found(store, "orange") == ["a1"]
        result_of(store.finish_message(an_answer("a1", text="a banana", status=MessageStatus.COMPLETE)))
        assert found(store, "orange") == []


def test_what_a_dead_program_left_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_conversation(a_conversation())
        store.add_messages([an_answer("a1", text="half a pear", status=MessageStatus.STREAMING)], leaf_id="a1")
    with opened(tmp_path) as store:
        store.mark_interrupted()
        assert found(store, "half a pear") == ["a1"]


def test_a_deleted_conversation_is_not_found_and_a_restored_one_is(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        told(store, "apples")
        result_of(store.delete("c1"))
        assert found(store, "apples") == []
        result_of(store.restore("c1"))
        assert found(store, "apples") == ["m0"]


def test_the_text_of_a_file_is_found(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        store.add_conversation(a_conversation())
        files = (Attachment("notes.txt", AttachmentKind.TEXT, 'the "secret" 食谱', 7),)
        store.add_messages([a_question(attachments=files)], leaf_id="q1")
        assert found(store, "食谱") == ["q1"]
        assert result_of(store.load_messages("c1"))["q1"].attachments == files


def test_what_belongs_to_a_conversation_and_a_correction_are_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        told(store, "apples")
        store.set_system_prompt("c1", "Be short.")
        store.set_preset("c1", "precise")
        store.set_pinned("c1", is_pinned=True)
        store.set_folder("c1", "食谱")
        store.save_correction("m0", Correction(Rating.WRONG, "coder", "code"))
    with opened(tmp_path) as store:
        kept = result_of(store.load_conversation("c1"))
        assert (kept.system_prompt, kept.preset, kept.is_pinned, kept.folder) == ("Be short.", "precise", True, "食谱")
        correction = result_of(store.load_messages("c1"))["m0"].correction
        assert correction == Correction(Rating.WRONG, "coder", "code")


def test_the_excerpt_shows_the_find_and_marks_it() -> None:
    text = "word " * 100 + "the needle is\nhere " + "word " * 100
    shown, spans = excerpt(text, terms_of("needle"))
    assert len(shown) <= 92
    assert "\n" not in shown
    assert [shown[at : at + n] for at, n in spans] == ["needle"]
    assert shown.startswith("…")
    assert shown.endswith("…")


@given(st.text(max_size=200), st.text(max_size=10))
def test_spans_always_lie_in_the_excerpt(text: str, query: str) -> None:
    shown, spans = excerpt(text, terms_of(query))
    assert all(at >= 0 and at + n <= len(shown) for at, n in spans)
