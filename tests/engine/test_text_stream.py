from hypothesis import given
from hypothesis import strategies as st

from layadesk.engine.text_stream import TextStream

texts = st.text(alphabet=st.sampled_from("ab<|>\n é中🦊👨‍👩"), max_size=40)
stop_strings = st.lists(st.text(alphabet="ab<|>", min_size=1, max_size=5), max_size=4)


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({min(place, len(data)) for place in places} | {len(data)})
    begins = [0, *ends[:-1]]
    return [data[begin:end] for begin, end in zip(begins, ends, strict=True)]


def streams(stream: TextStream, pieces: list[bytes]) -> tuple[str, str]:
    """All thinking and all of the answer."""
    parts = [stream.push(piece) for piece in pieces]
    thoughts, answers = zip(*parts, stream.finish(), strict=True)
    return "".join(thoughts), "".join(answers)


def shown(stream: TextStream, pieces: list[bytes]) -> str:
    return streams(stream, pieces)[1]


def push(stream: TextStream, piece: bytes) -> str:
    return stream.push(piece)[1]


def first_stop(text: str, stops: list[str]) -> int | None:
    ends = [(text.find(stop) + len(stop), text.find(stop)) for stop in stops if stop in text]
    return min(ends)[1] if ends else None


@given(texts, st.lists(st.integers(0, 200)))
def test_any_cut_of_the_bytes_gives_the_same_text(text: str, places: list[int]) -> None:
    assert shown(TextStream(), cut(text.encode(), places)) == text


@given(texts, stop_strings, st.lists(st.integers(0, 200)))
def test_a_stop_string_is_never_shown_wherever_the_tokens_are_cut(
    text: str, stops: list[str], places: list[int]
) -> None:
    stream = TextStream(stops)
    place = first_stop(text, stops)
    assert shown(stream, cut(text.encode(), places)) == (text if place is None else text[:place])
    assert stream.is_stopped == (place is not None)
    assert stream.text == (text if place is None else text[:place])


@given(st.binary(max_size=60), st.lists(st.integers(0, 60)))
def test_bytes_that_are_no_text_become_replacement_signs_and_raise_nothing(data: bytes, places: list[int]) -> None:
    """Reported fault G36."""
    whole = shown(TextStream(), [data])
    assert shown(TextStream(), cut(data, places)) == whole
    assert data.decode("utf-8", "replace").startswith(whole)


def test_an_emoji_of_four_tokens_comes_as_one_character() -> None:  # G37
    stream = TextStream()
    assert [push(stream, bytes([byte])) for byte in "🦊".encode()] == ["", "", "", "🦊"]


def test_half_a_character_at_the_end_is_dropped() -> None:
    stream = TextStream()
    assert push(stream, b"ok \xf0\x9f") == "ok "
    assert stream.finish()[1] == ""
    assert stream.text == "ok "


def test_a_broken_byte_is_shown_as_one_replacement_sign() -> None:
    assert shown(TextStream(), [b"a\xf0", b"b"]) == "a\ufffdb"


def test_what_was_held_back_is_released_when_it_turns_out_to_be_no_stop() -> None:
    stream = TextStream(["###"])
    assert push(stream, b"a#") == "a"
    assert push(stream, b"#") == ""
    assert push(stream, b"b") == "##b"


def test_the_part_held_back_comes_with_the_end_of_the_answer() -> None:
    stream = TextStream(["</end>"])
    assert push(stream, b"x</en") == "x"
    assert stream.finish()[1] == "</en"
    assert stream.text == "x</en"


def test_nothing_is_shown_after_a_stop() -> None:
    stream = TextStream(["stop"])
    assert push(stream, b"go stop and more") == "go "
    assert push(stream, b"still more") == ""
    assert stream.finish()[1] == ""


def test_of_two_stops_the_one_that_is_complete_first_wins() -> None:
    assert shown(TextStream(["abcd", "bc"]), [b"abcd"]) == "a"
    assert shown(TextStream(["abcd", "bc"]), [b"a", b"b", b"c", b"d"]) == "a"
