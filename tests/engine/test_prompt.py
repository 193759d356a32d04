from collections.abc import Sequence
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.inference import LoadParams, PromptMessage, Role
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Expert, ExpertFacts
from layadesk.engine.prompt import MAX_TEXT_CHARS, PromptBuilder
from layadesk.engine.scripted_backend import TEMPLATE, ScriptedBackend, ScriptedExpert
from layadesk.engine.scripted_cells import BOS, END, TURN
from layadesk.engine.thinking import Begun


class Retold:
    """A scripted expert with other facts."""

    def __init__(self, expert: ScriptedExpert, facts: ExpertFacts) -> None:
        self._expert = expert
        self.facts = facts

    def tokenize(self, text: str, *, parse_special: bool) -> list[int]:
        return self._expert.tokenize(text, parse_special=parse_special)

    def __getattr__(self, name: str) -> object:
        return getattr(self._expert, name)


def scripted(tmp_path: Path, n_ctx: int = 512, **changes: object) -> Expert:
    path = tmp_path / "any.gguf"
    path.touch()
    expert = ScriptedBackend().load(ExpertSpec("e", str(path), LoadParams(n_ctx=n_ctx)), lambda _f: True)
    values = {name: getattr(expert.facts, name) for name in ExpertFacts.__slots__}
    return Retold(expert, ExpertFacts(**{**values, **changes}))  # type: ignore[return-value]  # by __getattr__


def conversation(n_turns: int, length: int = 20) -> list[PromptMessage]:
    messages = [PromptMessage(Role.SYSTEM, "Be kind.")]
    for i in range(n_turns):
        messages += [PromptMessage(Role.USER, f"{i}:" + "u" * length), PromptMessage(Role.ASSISTANT, "a" * length)]
    return [*messages, PromptMessage(Role.USER, "last question")]


def text_of(tokens: Sequence[int]) -> str:
    return bytes(token for token in tokens if token < 256).decode()


def refused(builder: PromptBuilder, *messages: PromptMessage) -> LayaDeskError:
    with pytest.raises(LayaDeskError) as refusal:
        builder.build(messages, None)
    return refusal.value


def test_bos_is_there_once_when_the_template_writes_it(tmp_path: Path) -> None:
    tokens = PromptBuilder(scripted(tmp_path)).build(conversation(0), None).tokens
    assert tokens[0] == BOS
    assert tokens.count(BOS) == 1


def test_bos_is_there_once_when_the_template_writes_it_twice(tmp_path: Path) -> None:
    template = "{{ bos_token }}{{ bos_token }}{{ messages[0].content }}"
    tokens = PromptBuilder(scripted(tmp_path, chat_template=template)).build(conversation(0), None).tokens
    assert tokens.count(BOS) == 1


def test_bos_is_added_when_only_the_vocabulary_asks_for_it(tmp_path: Path) -> None:
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    wanted = PromptBuilder(scripted(tmp_path, chat_template=template)).build(conversation(0), None).tokens
    assert wanted[0] == BOS
    unwanted = scripted(tmp_path, chat_template=template, adds_bos=False)
    assert BOS not in PromptBuilder(unwanted).build(conversation(0), None).tokens


def test_what_fits_is_sent_whole(tmp_path: Path) -> None:
    prompt = PromptBuilder(scripted(tmp_path, n_ctx=4096)).build(conversation(5), None)
    assert prompt.n_dropped == 0
    assert "0:uuu" in text_of(prompt.tokens)


def test_what_does_not_fit_is_left_out_from_the_oldest_turn_on_and_counted(tmp_path: Path) -> None:
    prompt = PromptBuilder(scripted(tmp_path, n_ctx=512)).build(conversation(20), None)
    text = text_of(prompt.tokens)
    assert prompt.n_dropped > 0
    assert prompt.n_dropped % 2 == 0, "whole turns"
    assert f"{prompt.n_dropped // 2}:uuu" in text
    assert f"{prompt.n_dropped // 2 - 1}:uuu" not in text
    assert "Be kind." in text
    assert "last question" in text
    assert len(prompt.tokens) + 128 <= 512, "a quarter is kept for the answer"


def test_a_last_message_that_is_too_long_is_refused_with_both_numbers(tmp_path: Path) -> None:
    error = refused(PromptBuilder(scripted(tmp_path, n_ctx=512)), PromptMessage(Role.USER, "x" * 600))
    assert error.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED
    assert error.facts["n_ctx"] == 512
    assert int(str(error.facts["n_prompt"])) > 600


def test_more_text_than_any_template_may_write_is_too_long_and_does_not_spoil_what_comes_after(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path))
    huge = PromptMessage(Role.USER, "x" * (MAX_TEXT_CHARS + 1))
    refusal = refused(builder, huge)
    assert refusal.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED
    assert refusal.facts == {"n_prompt": MAX_TEXT_CHARS + 1, "n_ctx": 512}
    after = [huge, PromptMessage(Role.ASSISTANT, ""), PromptMessage(Role.USER, "still there?")]
    assert builder.build(after, 16).n_dropped == 2


def test_a_last_message_that_leaves_one_cell_is_answered_with_one_token(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, n_ctx=512))
    frame = len(builder.build([PromptMessage(Role.USER, "x")], None).tokens) - 1
    assert len(builder.build([PromptMessage(Role.USER, "x" * (511 - frame))], None).tokens) == 511
    assert refused(builder, PromptMessage(Role.USER, "x" * (512 - frame))).code is ErrorCode.CONTEXT_LENGTH_EXCEEDED


@pytest.mark.parametrize(
    "messages",
    [(), (PromptMessage(Role.SYSTEM, "Be kind."),), (PromptMessage(Role.USER, " \n\t "),)],
)
def test_nothing_said_is_nothing_to_answer(tmp_path: Path, messages: tuple[PromptMessage, ...]) -> None:
    assert refused(PromptBuilder(scripted(tmp_path)), *messages).code is ErrorCode.EMPTY_PROMPT


def test_a_template_that_says_nothing_is_an_empty_prompt(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, chat_template="{# nothing #}", adds_bos=False))
    assert refused(builder, PromptMessage(Role.USER, "hello")).code is ErrorCode.EMPTY_PROMPT


def test_a_file_without_a_template_is_asked_in_chatml_and_says_so(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, chat_template=None))
    assert builder.template_name == "chatml"
    assert "<|im_start|>user\nlast question<|im_end|>" in text_of(builder.build(conversation(0), None).tokens)
    assert "<|im_end|>" in builder.stops, "no token says that the turn is over, so its text must"
    assert PromptBuilder(scripted(tmp_path)).template_name == "gguf"
    assert PromptBuilder(scripted(tmp_path)).stops == ()


def test_a_model_that_knows_chatml_needs_no_stop_strings(tmp_path: Path) -> None:
    assert PromptBuilder(scripted(tmp_path, chat_template=None, control_texts={"<|im_end|>": 259})).stops == ()


CHANNELS = "<|start|>{{ m.role }}<|channel|>final<|message|>{{ m.content }}<|end|>"


@pytest.mark.parametrize(
    ("each", "control_texts", "end_tokens", "stops"),
    [
        ("<|turn|>{{ m.role }}\n{{ m.content }}<|end|>", {"<|turn|>": TURN, "<|end|>": END}, {END}, ()),
        ("[{{ m.role }}]{{ m.content }} </s>\n", {"</s>": 250}, {250}, ()),
        ("<|{{ m.role }}|>{{ m.content }}", {"<|user|>": 250, "<|assistant|>": 251}, {250}, ()),
        ("<start>{{ m.role }}\n{{ m.content }}<stop>\n", {}, set(), ("<stop>",)),
        ("{{ m.role }}: {{ m.content }}\n", {}, set(), ()),
        (CHANNELS, {"<|end|>": 250, "<|channel|>": 251, "<|start|>": 252, "<|message|>": 253}, set(), ()),
        ("{% if loop.index == 3 %}{{ raise_exception('no') }}{% endif %}{{ m.content }}<stop>", {}, set(), ()),
    ],
)
def test_what_a_template_writes_after_an_answer_ends_one_though_the_file_does_not_say_so(
    tmp_path: Path, each: str, control_texts: dict[str, int], end_tokens: set[int], stops: tuple[str, ...]
) -> None:
    """Reported fault G21: `</s>` was no end to the library, and an answer took 20,000 tokens and 46 minutes."""
    template = "{% for m in messages %}" + each + "{% endfor %}"
    builder = PromptBuilder(scripted(tmp_path, chat_template=template, control_texts=control_texts))
    builder.build([PromptMessage(Role.USER, "hello")], None)
    assert (set(builder.end_tokens), builder.stops) == (end_tokens, stops)


def test_an_answer_that_is_gone_on_with_follows_the_opening_of_an_answer_and_no_mark_ends_it(tmp_path: Path) -> None:
    expert = scripted(tmp_path)
    asked = [PromptMessage(Role.USER, "Count."), PromptMessage(Role.ASSISTANT, "one <|end|> two")]
    prompt = PromptBuilder(expert).build(asked, None, begun=Begun("one <|end|> two"))
    before = PromptBuilder(expert).build(asked[:1], None).tokens
    assert prompt.tokens == [*before, *b"one <|end|> two"], "a mark in it is text, as the model wrote it"
    assert prompt.is_begun


def test_an_answer_that_was_cut_off_in_its_thoughts_is_gone_on_with_in_them(tmp_path: Path) -> None:
    expert = scripted(tmp_path, chat_template=f"{TEMPLATE}{{# <think> </think> #}}")
    builder = PromptBuilder(expert)
    asked = [PromptMessage(Role.USER, "Why?"), PromptMessage(Role.ASSISTANT, "")]
    cut = builder.build(asked, None, begun=Begun("", "Hm, so"))
    assert text_of(cut.tokens).endswith("assistant\n<think>\nHm, so")
    assert cut.is_thinking
    asked[-1] = PromptMessage(Role.ASSISTANT, "Because")
    said = builder.build(asked, None, begun=Begun("Because", "Hm, so."))
    assert text_of(said.tokens).endswith("<think>\nHm, so.\n</think>\n\nBecause")
    assert not said.is_thinking


def test_thoughts_that_the_template_opens_are_not_opened_twice(tmp_path: Path) -> None:
    opening = TEMPLATE.replace("assistant\n", "assistant\n<think>\n")
    builder = PromptBuilder(scripted(tmp_path, chat_template=opening))
    asked = [PromptMessage(Role.USER, "Why?"), PromptMessage(Role.ASSISTANT, "Because")]
    for thought, expected in (("Hm.", "<think>\nHm.\n</think>\n\nBecause"), ("", "<think>\n\n</think>\n\nBecause")):
        text = text_of(builder.build(asked, None, begun=Begun("Because", thought)).tokens)
        assert text.endswith(f"assistant\n{expected}")


@pytest.mark.parametrize(
    ("begun", "expected"),
    [
        (Begun("Yes", "Hm"), "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final<|message|>Yes"),
        (Begun("", "Hm"), "<|channel|>analysis<|message|>Hm"),
        (Begun("Yes"), "<|channel|>final<|message|>Yes"),
    ],
)
def test_channels_are_opened_as_the_model_opened_them(tmp_path: Path, begun: Begun, expected: str) -> None:
    expert = scripted(tmp_path, control_texts={"<|channel|>": 300, "<|end|>": 259})
    asked = [PromptMessage(Role.USER, "Why?"), PromptMessage(Role.ASSISTANT, begun.text)]
    builder = PromptBuilder(expert)
    tokens = builder.build(asked, None, begun=begun).tokens
    plain = expert.tokenize(expected, parse_special=True)
    assert tokens[-len(plain) :] == plain


def test_for_a_long_answer_older_turns_are_left_out_and_the_answer_never(tmp_path: Path) -> None:
    said = "a" * 250
    messages = [*conversation(20), PromptMessage(Role.ASSISTANT, said)]
    prompt = PromptBuilder(scripted(tmp_path, n_ctx=512)).build(messages, None, begun=Begun(said))
    assert prompt.n_dropped > 0
    assert text_of(prompt.tokens).endswith(f"last question{text_of([])}assistant\n{said}")


def test_a_request_that_keeps_all_is_refused_where_another_would_lose_its_oldest_turns(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, n_ctx=512))
    assert builder.build(conversation(20), None).n_dropped > 0
    with pytest.raises(LayaDeskError) as refusal:
        builder.build(conversation(20), None, keeps_all=True)
    assert refusal.value.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED
    assert refusal.value.facts["n_ctx"] == 512
    assert int(refusal.value.facts["n_prompt"] or 0) > 512
    assert builder.build(conversation(2), None, keeps_all=True).n_dropped == 0


def test_a_raw_text_is_gone_on_with_as_it_stands(tmp_path: Path) -> None:
    builder = PromptBuilder(scripted(tmp_path, n_ctx=512))
    assert builder.build_raw("once").tokens == [BOS, *b"once"]
    for text, code in (("", ErrorCode.EMPTY_PROMPT), ("x" * 512, ErrorCode.CONTEXT_LENGTH_EXCEEDED)):
        with pytest.raises(LayaDeskError) as refusal:
            PromptBuilder(scripted(tmp_path, n_ctx=512, bos_token=None)).build_raw(text)
        assert refusal.value.code is code
