"""Thinking and answer as two streams: where a model's thoughts begin and end in what it writes."""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import ThinkingParams

# In the order of looking. The second of the last pair is what gpt-oss writes between its two channels.
_PAIRS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<|thinking|>", "<|/thinking|>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
)
_PLAIN_ANSWERS = ("<|channel|>final<|message|>",)  # an answer without thoughts that says so
_CHANNEL = "<|channel|>"
_ON_OFF = ("enable_thinking", "thinking")  # variables of chat templates
_EFFORT = "reasoning_effort"
_TAG = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
MAX_EFFORT_CHARS = 32
MAX_BUDGET = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer so far, that is to be gone on with: what was thought, and what was said."""

    text: str
    thought: str = ""

    @property
    def is_thinking(self) -> bool:
        """Whether it ended in the middle of its thoughts."""
        return bool(self.thought) and not self.text


@dataclass(frozen=True, slots=True)
class ThinkingMarks:
    """The texts around a model's thoughts. `by_token` are control tokens in them: those are not shown as text."""

    opening: str
    closing: str
    by_token: Mapping[int, bytes]

    @classmethod
    def of(cls, template: str, reserved: Mapping[str, int], control: Container[str]) -> "ThinkingMarks":
        """The marks of an expert: the first pair its template or its vocabulary knows, else the usual one.

        `reserved` are the texts of its control and added tokens, `control` the former.
        """
        pair = next((p for p in _PAIRS if _knows(p, template, reserved)), _PAIRS[0])
        marks = (*pair, *_PLAIN_ANSWERS)
        hidden = {token: text for text, token in reserved.items() if text in control and len(text) > 1}
        by_token = {token: text.encode() for token, text in hidden.items() if any(text in mark for mark in marks)}
        return cls(*pair, by_token)

    def is_opened_by(self, prompt: str) -> bool:
        """Whether the template itself has opened the thoughts, so that the model begins in the middle of them."""
        return prompt.rstrip().endswith(self.opening)

    def around(self, begun: "Begun", *, is_open: bool) -> tuple[str, str]:
        """What a model has written before its thoughts and between them and the answer, for an answer that is gone on
        with. `is_open`: the template has written the first of it.
        """
        by_channel = self.opening.startswith(_CHANNEL)
        gap = "" if by_channel else "\n"
        if begun.thought or is_open:
            return "" if is_open else self.opening + gap, "" if begun.is_thinking else f"{gap}{self.closing}{gap}{gap}"
        return "", _PLAIN_ANSWERS[0] if by_channel and begun.text else ""


def _knows(pair: tuple[str, str], template: str, reserved: Mapping[str, int]) -> bool:
    opening, closing = pair
    if _CHANNEL in opening:
        return _CHANNEL in reserved
    return opening in template or closing in template or opening in reserved


def switches_of(template: str) -> tuple[str, ...]:
    """Which of the usual variables a template looks at.

    Read off its tags without running it: a name that only occurs in the text between them, in quotes or as a part of
    another name does not count.
    """
    tags = "".join(_QUOTED.sub("", tag) for tag in _TAG.findall(template))
    return tuple(name for name in (*_ON_OFF, _EFFORT) if re.search(rf"(?<![\w.]){name}\b", tags))


def template_variables(thinking: ThinkingParams, switches: Container[str]) -> dict[str, bool | str]:
    """What the template is told: only what is asked for, and only where it looks."""
    told: dict[str, bool | str] = {}
    if thinking.enabled is not None:
        told |= dict.fromkeys(_ON_OFF, thinking.enabled)
    if thinking.effort is not None:
        told[_EFFORT] = thinking.effort
    return {name: value for name, value in told.items() if name in switches}


def budget_of(thinking: ThinkingParams) -> int | None:
    """How many tokens of thought there may be; None for as many as it takes. A model that is told not to gets none."""
    return 0 if thinking.enabled is False else thinking.max_tokens


def check_thinking(thinking: ThinkingParams) -> None:
    """Raise BAD_PARAMETER for what no template can be told."""
    if thinking.effort is not None and not 1 <= len(thinking.effort) <= MAX_EFFORT_CHARS:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="reasoning_effort", value=thinking.effort[:80])
    budget = thinking.max_tokens
    if budget is not None and not 0 <= budget <= MAX_BUDGET:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="thinking budget", value=budget, minimum=0, maximum=MAX_BUDGET)


class ThoughtSplitter:
    """Cuts text into thoughts and answer. The result does not depend on how the text is cut into pieces.

    Thoughts are only looked for at the beginning of an answer: one that speaks of `<think>` later means the word. The
    first closing mark ends them, whatever was opened inside. Space around a mark belongs to neither.
    """

    def __init__(self, marks: ThinkingMarks, *, is_open: bool = False, is_begun: bool = False) -> None:
        """`is_open`: it begins in thoughts; `is_begun`: it goes on in the middle of either, where space counts."""
        self._marks = marks
        self._held = ""
        self._state = "thinking" if is_open else "answering" if is_begun else "beginning"
        self._skips_space = is_open and not is_begun

    @property
    def is_thinking(self) -> bool:
        """Whether what comes next is thought."""
        return self._state == "thinking"

    def push(self, text: str) -> tuple[str, str]:
        """New text; returns what of it is thought and what is answer, as far as that is certain."""
        self._held += text
        thought, answer = "", ""
        if self._state == "beginning":
            self._look_for_opening()
        if self._state == "thinking":
            thought = self._take_thought()
        if self._state == "answering":
            answer = self._take_answer()
        return thought, answer

    def finish(self) -> tuple[str, str]:
        """The end: what was held back turned out to be no mark."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            return (held.lstrip() if self._skips_space else held), ""
        return "", (held.lstrip() if self._skips_space else held)

    def _look_for_opening(self) -> None:
        begin = self._held.lstrip()
        for mark, state in ((self._marks.opening, "thinking"), *((plain, "answering") for plain in _PLAIN_ANSWERS)):
            if begin.startswith(mark):
                self._state = state
                self._held = begin[len(mark) :]
                self._skips_space = True
                return
            if mark.startswith(begin):
                return  # it may still become the mark
        self._state = "answering"

    def _take_thought(self) -> str:
        self._skip_space()
        at = self._held.find(self._marks.closing)
        if at >= 0:
            thought, self._held = self._held[:at].rstrip(), self._held[at + len(self._marks.closing) :]
            self._state = "answering"
            self._skips_space = True
            return thought
        n_certain = len(self._held) - n_at_end(self._held, self._marks.closing)
        n_certain = len(self._held[:n_certain].rstrip())
        thought, self._held = self._held[:n_certain], self._held[n_certain:]
        return thought

    def _take_answer(self) -> str:
        self._skip_space()
        answer, self._held = self._held, ""
        return answer

    def _skip_space(self) -> None:
        if self._skips_space:
            self._held = self._held.lstrip()
            self._skips_space = not self._held


def n_at_end(text: str, mark: str) -> int:
    """How many characters at the end of `text` may still become `mark`."""
    for n in range(min(len(mark) - 1, len(text)), 0, -1):
        if text.endswith(mark[:n]):
            return n
    return 0
