from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import FinishReason, PromptMessage, Role, ThinkingParams
from layadesk.engine.prompt import PromptBuilder
from layadesk.engine.scripted_backend import ScriptedBackend
from layadesk.engine.text_stream import TextStream
from layadesk.engine.thinking import (
    ThinkingMarks,
    ThoughtSplitter,
    check_thinking,
    switches_of,
    template_variables,
)
from layadesk.protocol.events import TextDelta, ThinkingDelta
from layadesk.protocol.scripted import ScriptedOptions
from tests.engine.test_prompt import scripted, text_of
from tests.engine.test_text_stream import cut, streams
from tests.fakes.engine_running import GREEDY, RunningEngine, expert

Start = Callable[..., RunningEngine]

USUAL = ThinkingMarks.of("", {}, ())
QWEN = "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
OPENING = "{% for m in messages %}{{ m.content }}{% endfor %}{{ '<think>\n' }}"

pieces = st.lists(st.sampled_from(["<think>", "</think>", "<th", "ink>", "</", "think", ">", "a", " ", "\n", "é"]))


def split(text: str, *, marks: ThinkingMarks = USUAL, is_open: bool = False) -> tuple[str, str]:
    return streams(TextStream(marks=marks, is_open=is_open), [text.encode()])


@given(pieces.map("".join), st.lists(st.integers(0, 200)), st.booleans())
@example("<think>Hm.</think>Yes.", [3, 10, 17, 21], False)  # G31: `<th` and `ink>` in two chunks
def test_any_cut_of_the_bytes_gives_the_same_thinking_and_the_same_answer(
    text: str, places: list[int], is_open: bool
) -> None:
    parts = cut(text.encode(), places)
    assert streams(TextStream(marks=USUAL, is_open=is_open), parts) == split(text, is_open=is_open)


@given(pieces.map("".join))
def test_nothing_but_marks_and_the_space_around_them_is_lost(text: str) -> None:
    thought, answer = split(text)
    kept = [c for c in thought + answer if not c.isspace()]
    n_marks = len([c for c in text if not c.isspace()]) - len(kept)
    assert n_marks in (0, len("<think>"), len("<think></think>"))


def test_thinking_and_answer_are_two_texts() -> None:
    assert split("<think>\nLet me see.\n</think>\n\nIt is 4.") == ("Let me see.", "It is 4.")


def test_an_answer_after_the_closing_mark_is_visible() -> None:  # G28
    assert split("2 + 2</think>4", is_open=True) == ("2 + 2", "4")


def test_thoughts_without_an_end_are_kept_as_thoughts_and_not_lost() -> None:  # G29
    assert split("<think>Hello! How are you?") == ("Hello! How are you?", "")


def test_the_first_closing_mark_ends_the_thoughts_whatever_was_opened_inside() -> None:  # G33
    assert split("<think>a <think>b</think> c</think> d") == ("a <think>b", "c</think> d")


def test_an_answer_that_speaks_of_thinking_marks_later_is_an_answer() -> None:
    assert split("Write <think> and </think>.") == ("", "Write <think> and </think>.")


def test_a_stop_string_means_nothing_in_thoughts_and_ends_the_answer() -> None:
    stream = TextStream(["###"], marks=USUAL)
    assert streams(stream, [b"<think>a ### b</think>c ### d"]) == ("a ### b", "c ")
    assert stream.is_stopped


def test_the_templates_own_end_of_turn_ends_thoughts_too() -> None:
    stream = TextStream(ends=["<|im_end|>"], marks=USUAL)
    assert streams(stream, [b"<think>never mind<|im_end|>x"]) == ("never mind", "")
    assert stream.is_stopped


def test_the_marks_are_those_of_the_template_or_the_vocabulary() -> None:
    assert ThinkingMarks.of("x [THINK] y", {}, ()).closing == "[/THINK]"
    assert ThinkingMarks.of("", {"<seed:think>": 7}, ()).opening == "<seed:think>"
    assert USUAL.opening == "<think>"


def test_control_tokens_of_two_channels_are_read_though_they_have_no_text() -> None:
    control = {"<|channel|>": 1, "<|message|>": 2, "<|end|>": 3, "<|start|>": 4, "<|return|>": 5}
    marks = ThinkingMarks.of("", control, frozenset(control))
    assert marks.by_token == {1: b"<|channel|>", 2: b"<|message|>", 3: b"<|end|>", 4: b"<|start|>"}
    said = "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>Four."
    assert split(said, marks=marks) == ("Easy.", "Four.")
    assert split("<|channel|>final<|message|>Four.", marks=marks) == ("", "Four.")


def test_whether_it_thinks_is_known_while_it_streams() -> None:
    splitter = ThoughtSplitter(USUAL)
    states = []
    for part in ("<thi", "nk>a", "b</thin", "k>", "c"):
        splitter.push(part)
        states.append(splitter.is_thinking)
    assert states == [False, True, True, False, False]


def test_only_variables_that_a_template_looks_at_are_switches() -> None:
    assert switches_of(QWEN) == ("enable_thinking",)
    assert switches_of("{{ '<|thinking|>' }}{{ message.thinking }} say enable_thinking {{ reasoning_effort_x }}") == ()
    assert switches_of("{%- if thinking -%}{% endif %}{{ reasoning_effort }}") == ("thinking", "reasoning_effort")


def test_a_template_is_told_only_what_was_asked_for() -> None:
    assert template_variables(ThinkingParams(), ("enable_thinking",)) == {}
    asked = ThinkingParams(enabled=False, effort="low")
    assert template_variables(asked, ("enable_thinking",)) == {"enable_thinking": False}
    assert template_variables(asked, ("thinking", "reasoning_effort")) == {"thinking": False, "reasoning_effort": "low"}


@pytest.mark.parametrize(
    "bad", [ThinkingParams(effort=""), ThinkingParams(effort="x" * 99), ThinkingParams(None, None, -1)]
)
def test_an_impossible_wish_is_a_bad_parameter(bad: ThinkingParams) -> None:
    with pytest.raises(LayaDeskError) as refusal:
        check_thinking(bad)
    assert refusal.value.code is ErrorCode.BAD_PARAMETER


def test_the_template_hears_the_switch(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, chat_template="{{ messages[0].content }}" + QWEN))
    asked = [PromptMessage(Role.USER, "hi")]
    assert "think" not in text_of(builder.build(asked, None).tokens)
    off = builder.build(asked, None, ThinkingParams(enabled=False))
    assert text_of(off.tokens) == "hi<think>\n\n</think>\n\n"
    assert not off.is_thinking


def test_a_template_that_opens_the_thoughts_is_noticed_and_can_be_answered(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, chat_template=OPENING))
    asked = [PromptMessage(Role.USER, "hi")]
    assert builder.build(asked, None).is_thinking
    off = builder.build(asked, None, ThinkingParams(enabled=False))
    assert not off.is_thinking
    assert text_of(off.tokens).endswith("<think>\n\n</think>\n\n")


def test_thinking_is_streamed_apart_and_counted(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(ScriptedOptions(text="<think>Hm.</think>\nYes.")), expert(any_file))
    request_id = engine.ask("hello")
    end = engine.finished(request_id)
    assert (end.thinking, end.text, end.finish_reason) == ("Hm.", "Yes.", FinishReason.STOP)
    assert "".join(e.text for e in engine.of(request_id) if isinstance(e, ThinkingDelta)) == "Hm."
    assert "".join(e.text for e in engine.of(request_id) if isinstance(e, TextDelta)) == "Yes."
    assert end.timings.n_thinking == len("Hm.</think>"), "a byte is a token here"
    assert end.timings.n_decoded == len("<think>Hm.</think>\nYes.")


def test_at_the_end_of_the_budget_the_thoughts_are_closed_and_the_answer_begins(
    start_engine: Start, any_file: str
) -> None:
    # The scripted backend objects when its cells hold anything but its script: here the closing is in both.
    script = "<think>ab" + "\n</think>\n\n" + "Yes."
    engine = start_engine(ScriptedBackend(ScriptedOptions(text=script)), expert(any_file))
    end = engine.finished(engine.ask("hello", thinking=ThinkingParams(max_tokens=2)))
    assert (end.thinking, end.text) == ("ab", "Yes.")
    assert end.timings.n_decoded == len(script)


def test_a_model_that_thinks_although_it_was_told_not_to_is_cut_short(start_engine: Start, any_file: str) -> None:
    script = "<think>" + "\n</think>\n\n" + "Yes."
    engine = start_engine(ScriptedBackend(ScriptedOptions(text=script)), expert(any_file))
    end = engine.finished(engine.ask("hello", thinking=ThinkingParams(enabled=False)))
    assert (end.thinking, end.text) == ("", "Yes.")


def test_an_impossible_budget_fails_its_request_alone(start_engine: Start, any_file: str) -> None:
    engine = start_engine(ScriptedBackend(), expert(any_file))
    bad = engine.ask("hello", sampling=GREEDY, thinking=ThinkingParams(max_tokens=-1))
    assert engine.failed(bad).error.code is ErrorCode.BAD_PARAMETER
    assert engine.finished(engine.ask("hello")).text
