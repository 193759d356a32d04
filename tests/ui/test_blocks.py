"""The two state machines under the transcript: what is thinking, and where prose and code begin and end."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layadesk.ui.markup.blocks import (
    LINE_CHARS,
    PART_CHARS,
    BlockSplitter,
    CodeEnd,
    CodeStart,
    CodeText,
    Prose,
    Step,
)
from layadesk.ui.markup.thinking import AllWasThinking, ThinkingSplitter

LONG = """# Head

Some text that goes
over two lines

1. first
   ```python
   def f():
       return 1
   ```
   and on

   2) loose

2. second
   - nested

| a | b |
|---|---|
""" + "".join(f"| {i} | x |\n" for i in range(80))
LONG += """
$$
x = 1

- 2
$$
~~~~
~~~
```
~~~~
"""
LONG += "".join(f"- item {i} with some words in it\n" for i in range(200)) + "word " * 2000 + "\n"
LONG += "a line of many words\n" * 300 + "```js\nlet half"

Block = tuple[str, ...]


def final(steps: list[Step]) -> list[Block]:
    """What stays, without the states in between."""
    blocks: list[Block] = []
    code: list[str] | None = None
    for step in steps:
        match step:
            case Prose(is_open=False):
                blocks.append(("prose", step.source, str(step.indent), str(step.hides_header), str(step.n_cropped)))
            case CodeStart(language=language):
                code = [language]
            case CodeText(text=text, rest=rest):
                assert code is not None
                code.append(text + rest)
            case CodeEnd():
                assert code is not None
                blocks.append(("code", code[0], "".join(code[1:])))
                code = None
            case _:
                pass
    assert code is None
    return blocks


def split(text: str, cuts: list[int]) -> list[str]:
    at, pieces = 0, []
    for cut in cuts:
        pieces.append(text[at : at + cut])
        at += cut
    return [*pieces, text[at:]]


def blocks_of(pieces: list[str]) -> list[Block]:
    splitter = BlockSplitter()
    steps = [step for piece in pieces for step in splitter.feed(piece)]
    return final(steps + splitter.finish())


def sources(text: str) -> list[str]:
    return [block[1] if block[0] == "prose" else f"<{block[1]}>{block[2]}" for block in blocks_of([text])]


@given(st.lists(st.integers(1, 40), max_size=400))
@settings(deadline=None, max_examples=60)
def test_however_a_text_is_cut_its_blocks_are_the_same(cuts: list[int]) -> None:
    assert blocks_of(split(LONG, cuts)) == blocks_of([LONG])


@given(st.text(alphabet="`~\n -1.ab|$\\[ \t", max_size=80), st.lists(st.integers(1, 4), max_size=60))
@settings(deadline=None, max_examples=400)
def test_odd_texts_too(text: str, cuts: list[int]) -> None:
    assert blocks_of(split(text, cuts)) == blocks_of([text])


@given(st.text(alphabet="`~\n -1.ab|", max_size=120))
@settings(deadline=None, max_examples=300)
def test_no_word_is_lost(text: str) -> None:
    shown = "".join(part for block in blocks_of([text]) for part in block[1:3])
    assert sorted(c for c in text if c in "ab") == sorted(c for c in shown if c in "ab" and c)


def test_no_open_piece_grows_without_bound() -> None:
    splitter = BlockSplitter()
    longest = 0
    for piece in split(LONG, [17] * (len(LONG) // 17)):
        for step in splitter.feed(piece):
            if isinstance(step, Prose):
                longest = max(longest, len(step.source))
    assert longest <= 2 * PART_CHARS + LINE_CHARS


def test_a_fence_that_is_half_there_is_not_shown_as_text() -> None:
    splitter = BlockSplitter()
    shown = [
        step for piece in ("a\n", "`", "``", "py", "\nx = 1", "\n", "``", "`", "\nb") for step in splitter.feed(piece)
    ]
    assert all("`" not in step.source for step in shown if isinstance(step, Prose))
    assert all("`" not in step.text for step in shown if isinstance(step, CodeText))
    assert final(shown + splitter.finish()) == [
        ("prose", "a", "0", "False", "0"),
        ("code", "py", "x = 1\n"),
        ("prose", "b", "0", "False", "0"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n", ["<>a\n"]),
        ("````\n```\n````\n", ["<>```\n"]),
        ("~~~ rust ignore\nx\n~~~", ["<rust>x\n"]),
        ("1. a\n    ```\n    x\n      y\n    ```\n2. b", ["1. a", "<>x\n  y\n", "2. b"]),
        ("    ```\nnot code", ["    ```\nnot code"]),
        ("> ```\n> x\n> ```", ["> ```\n> x\n> ```"]),
        ("$$\na\n```\nb\n$$", ["$$\na\n```\nb\n$$"]),
        ("a\r\n```\r\nx\r\n```\r\n", ["a", "<>x\n"]),
        ("", []),
        ("\n\n \n", []),
    ],
)
def test_blocks_begin_and_end_where_a_reader_would_say(text: str, expected: list[str]) -> None:
    assert sources(text) == expected


def test_a_line_of_a_megabyte_is_cropped_and_counted() -> None:
    (block,) = blocks_of(["x" * 1_000_000])
    assert block == ("prose", "x" * LINE_CHARS, "0", "False", str(1_000_000 - LINE_CHARS))
    (code,) = blocks_of(["```\n" + "x" * 1_000_000])
    assert code == ("code", "", "x" * 1_000_000 + "\n")


def test_a_long_table_goes_on_under_the_same_head() -> None:
    tables = [block for block in blocks_of([LONG]) if block[1].startswith("| a | b |")]
    assert [block[3] for block in tables] == ["False", "True", "True"]


def parts(pieces: list[str]) -> tuple[str, str]:
    """Thinking and answer."""
    splitter = ThinkingSplitter()
    thinking, answer = "", ""
    for one in [one for piece in pieces for one in splitter.feed(piece)] + splitter.finish():
        if isinstance(one, AllWasThinking):
            thinking, answer = answer, ""
        elif one.is_thinking:
            thinking += one.text
        else:
            answer += one.text
    return thinking, answer


@pytest.mark.parametrize(
    ("text", "thinking", "answer"),
    [
        ("<think>a</think>b", "a", "b"),
        ("  <think>a</think>b", "a", "  b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("<think>Hello! How are you?", "Hello! How are you?", ""),
        ("a\n</think>\nb", "a\n", "\nb"),
        ("<think>a</think>b</think>c", "a", "bc"),
        ("<think>a<think>b</think>c</think>d", "ab", "cd"),
        ("the tag <think> opens it", "", "the tag <think> opens it"),
        ("`<think>`", "", "`<think>`"),
        ("```\n<think>\n```\nx", "", "```\n<think>\n```\nx"),
        ("<think>say `</think>` here</think>b", "say `</think>` here", "b"),
        ("<think>```\nx\n</think>\nb", "```\nx\n", "\nb"),
        ("a < b and <thin", "", "a < b and <thin"),
        ("text\n<think>a</think>b", "a", "text\nb"),
    ],
)
def test_thinking_is_told_from_the_answer(text: str, thinking: str, answer: str) -> None:
    """Reported faults G28, G29, G31, G33."""
    assert parts([text]) == (thinking, answer)
    assert parts(list(text)) == (thinking, answer)
