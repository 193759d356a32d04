"""What the bundled router sees of a request: pastes folded, politeness gone, both ends kept; any string."""

import base64
import random
import time

import numpy as np
import pytest

from layadesk.router.effort import asked_length, guess_effort
from layadesk.router.language import detect
from layadesk.router.pieces import MAX_SENTENCES, N_BUCKETS, cut
from layadesk.router.reading import HEAD_CHARS, MARKS, TAIL_CHARS, read

CODE = "def add(a, b):\n    return a + b\n\nprint(add(1, 2))\n"
LOG = "2024-01-02 10:11:12 ERROR disk\n2024-01-02 10:11:13 ERROR disk\n2024-01-02 10:11:14 WARN cpu\n"
TABLE = "name,age,city,zip\nAnn,3,Bonn,1\nBob,4,Rome,2\nCid,5,Oslo,3\n"


@pytest.mark.parametrize(
    ("text", "kind", "language"),
    [
        (f"what is wrong here?\n```python\n{CODE}```", "code", "python"),
        (f"```\n{CODE}```\nwhat is wrong here?", "code", ""),
        (f"what is wrong here?\n{CODE}", "code", ""),
        (f"what is wrong here?\n{LOG}", "log", ""),
        (f"how old is Bob?\n{TABLE}", "table", ""),
        ("> one line\n> and another\n> and a third\nsum this up", "quote", ""),
        ("decode this: " + base64.b64encode(bytes(range(200))).decode(), "blob", ""),
        ("what is on https://example.org/a/b?c=d", "link", ""),
    ],
)
def test_pastes_become_marks_that_keep_kind_and_size(text: str, kind: str, language: str) -> None:
    reading = read(text)
    fold = next(fold for fold in reading.folds if fold.kind == kind)
    assert fold.language == language
    assert fold.n_chars > 10
    assert MARKS[kind] in reading.text
    assert "return a + b" not in reading.text


def test_what_is_asked_stays_on_its_side_of_the_paste() -> None:
    after, before = read(f"explain\n```\n{CODE}```").text, read(f"```\n{CODE}```\nexplain").text
    assert after.index("explain") < after.index(MARKS["code"])
    assert before.index("explain") > before.index(MARKS["code"])


def test_a_fence_that_was_never_closed_does_not_swallow_the_request_below() -> None:
    reading = read(f"```\n{CODE}\nend of the excerpt\n\nwhat does this do?")
    assert reading.text.endswith("what does this do?")
    assert [fold.kind for fold in reading.folds] == ["code"]


@pytest.mark.parametrize(
    ("polite", "bare"),
    [
        ("Hi there! Could you please sort this list", "sort this list"),
        ("sort this list, thank you so much!", "sort this list"),
        ("你好，请帮我排序这个列表，谢谢", "帮我排序这个列表"),
        ("Ｓｏｒｔ ｔｈｉｓ ｌｉｓｔ", "sort this list"),
    ],
)
def test_greetings_politeness_and_width_do_not_change_what_is_read(polite: str, bare: str) -> None:
    assert read(polite).text == bare


@pytest.mark.parametrize("text", ["hi", "你好", "thanks!", "谢谢", "please"])
def test_a_message_that_is_only_polite_keeps_its_words(text: str) -> None:
    assert read(text).text


def test_of_a_long_text_both_ends_are_read() -> None:
    reading = read("first words " + "and so on " * 3000 + "last words")
    assert reading.text.startswith("first words")
    assert reading.text.endswith("last words")
    assert len(reading.text) <= HEAD_CHARS + TAIL_CHARS + 10
    assert reading.folds[-1].kind == "more"


HOSTILE = [
    "", " ", "😀", "\x00", "\x00a\x00", "\ud800", "a\udfffb", "a" * 1_000_000,
    base64.b64encode(bytes(225_000)).decode(), "\n" * 100_000, "```" * 50_000, "> " * 100_000, "\u202eabc",
    "مرحبا بالعالم", "“" * 50_000, "a," * 100_000, "(" * 200_000, "| " * 100_000, "=" * 100_000,
    "ａ" * 300_000, "x\n" * 200_000, "é" * 400_000, "\u0301" * 300_000, "﷽" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_string_is_read_in_bounded_time(text: str) -> None:
    start = time.process_time()
    reading = read(text)
    pieces = cut(reading)
    guess_effort(reading, {})
    detect(reading)
    assert time.process_time() - start < 1.0, "a bound against blow-ups, not a measurement"
    assert len(pieces.ids) < 6000
    assert 0 <= pieces.ids.min() <= pieces.ids.max() < N_BUCKETS


def test_noise_is_cut_into_sentences_that_are_never_empty() -> None:
    rng = random.Random(1)
    signs = "ab .。!？\n,你好\ue000😀éß\t0"
    for _ in range(400):
        pieces = cut(read("".join(rng.choice(signs) for _ in range(rng.randrange(200)))))
        assert 1 <= pieces.n_sentences <= MAX_SENTENCES
        assert (np.diff(pieces.starts) > 0).all()
        assert pieces.starts[-1] < len(pieces.ids)


def test_a_sentence_has_the_same_words_wherever_it_stands() -> None:
    alone = set(cut(read("translate this")).ids.tolist())
    pieces = cut(read("translate this\nthe weather was bad. nobody came"))
    first = set(pieces.ids[pieces.starts[0] : pieces.starts[1]].tolist())
    assert len(alone & first) > 0.7 * len(alone)
    assert pieces.n_sentences == 3


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("帮我看看这个 function 为什么 return None", "zh"),
        (f"请解释这段代码\n```python\n{CODE}```", "zh"),
        (f"explain\n{CODE}", "en"),
        ("What does 你好 mean?", "en"),
        ("Wie kann ich das mit Python machen?", "de"),
        ("Comment est-ce que je peux faire ça ?", "fr"),
        ("これは何ですか", "ja"),
        ("이게 뭐예요", "ko"),
        ("مرحبا بالعالم", "ar"),
        ("привет, как дела", "ru"),
        ("翻译一下：\n" + "This is a long English paragraph about nothing at all. " * 40, "zh"),
        ("很长的中文段落。" * 200 + "\nsum this up in two lines please", "en"),
        ("12345", None),
        ("😀", None),
    ],
)
def test_the_language_is_that_of_the_prose_that_asks(text: str, language: str | None) -> None:
    assert detect(read(text)) == language


@pytest.mark.parametrize(
    ("text", "n_words"),
    [
        ("a poem of 200 words", 200),
        ("写一篇800字的作文", 400),
        ("一千字左右", 500),
        ("two pages on bees", 800),
        ("hello", None),
        ("8 bit", None),
    ],
)
def test_an_asked_length_is_understood_in_both_languages(text: str, n_words: int | None) -> None:
    assert asked_length(text) == n_words


def test_effort_grows_with_length_parts_constraints_and_depth_and_says_why() -> None:
    light = guess_effort(read("what is the capital of Peru"), {"knowledge": 1.0})
    heavy = guess_effort(
        read(
            "Design a distributed queue. It must survive losing a node, must not reorder, should use at most 1 MB. "
            "1. prove it correct\n2. derive the latency step by step\n3. write 1500 words on the trade-offs"
        ),
        {"code": 0.6, "reasoning": 0.4},
    )
    assert light.complexity <= 2 < 4 <= heavy.complexity
    assert {"depth", "length 1500"} <= set(heavy.signs)
    raised = guess_effort(read("what is the capital of Peru"), {"knowledge": 1.0}, {"knowledge": 2.0})
    assert raised.complexity > light.complexity
    assert "learned" in raised.signs
