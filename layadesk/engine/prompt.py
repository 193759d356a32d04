"""A request's messages to prompt tokens: template, control tokens, BOS, and what must be left out to fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from layadesk.domain.context_budget import answer_reserve, check_fits, droppable, fit_messages, without_oldest
from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import PromptMessage, Role, SamplingParams, ThinkingParams, ToolUse
from layadesk.engine.backend import Expert
from layadesk.engine.chat_template import CHATML, CHATML_STOPS, ChatTemplate
from layadesk.engine.json_grammar import checked_grammar
from layadesk.engine.literals import Literals
from layadesk.engine.template_sandbox import MAX_CHARS
from layadesk.engine.thinking import Begun, ThinkingMarks, budget_of, switches_of, template_variables
from layadesk.engine.tool_calls import by_token, knows_tools, schema_of, told_in_words
from layadesk.engine.turn_end import turn_end
from layadesk.protocol.commands import CountTokens
from layadesk.protocol.events import TokensCounted

MAX_TEXT_CHARS = MAX_CHARS // 2  # a template adds its own, and may hold a text twice


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ready to be computed. `n_dropped` of the oldest messages were left out, and that must be said.

    `is_thinking`: the template has opened the thoughts. `closing` are the tokens that end them when their budget is
    used up; empty without a budget. `grammar` binds the answer. `is_begun`: it ends in the middle of an answer, or of
    the thoughts before it.
    """

    tokens: list[int]
    n_dropped: int
    is_thinking: bool = False
    closing: tuple[int, ...] = ()
    grammar: str | None = None
    is_begun: bool = False


class PromptBuilder:
    """Builds the prompts of one loaded expert. Prompt thread, but for `shown`, `is_end` and what is no method.

    `stops` and `end_tokens` end an answer beside the tokens that the file itself names; both are known once a prompt
    has been built.
    """

    def __init__(self, expert: Expert, *, time_limit_s: float | None = None) -> None:
        self._expert = expert
        facts = expert.facts
        source = facts.chat_template
        self.template_name = "chatml" if source is None else "gguf"
        # Without the control token, the end of a turn comes as text.
        self.stops: tuple[str, ...] = (
            CHATML_STOPS if source is None and CHATML_STOPS[0] not in facts.control_texts else ()
        )
        self.end_tokens: frozenset[int] = frozenset()
        self._knows_turn_end = False
        limit = {} if time_limit_s is None else {"time_limit_s": time_limit_s}
        self._template = ChatTemplate(source or CHATML, bos_text=facts.bos_text, eos_text=facts.eos_text, **limit)
        self._literals = Literals(facts, self._template.source)
        reserved = {**facts.control_texts, **facts.added_texts}
        self.marks = ThinkingMarks.of(self._template.source, reserved, frozenset(facts.control_texts))
        self.switches = switches_of(self._template.source)
        self._knows_tools = knows_tools(self._template.source)
        self._tool_marks = by_token(facts.control_texts)

    def shown(self, token: int, *, has_tools: bool) -> bytes | None:
        """The text of a control token that is a mark, and therefore read; None for any other token."""
        piece = self.marks.by_token.get(token)
        return self._tool_marks.get(token) if piece is None and has_tools else piece

    def is_end(self, token: int, *, takes_marks: bool) -> bool:
        """Whether a token ends an answer; `takes_marks`: also one that only the template writes after answers."""
        return self._expert.is_eog(token) or (takes_marks and token in self.end_tokens)

    def build(
        self,
        messages: Sequence[PromptMessage],
        max_tokens: int | None,
        thinking: ThinkingParams = ThinkingParams(),  # noqa: B008  # frozen
        begun: Begun | None = None,
        *,
        keeps_all: bool = False,
        tools: ToolUse | None = None,
    ) -> Prompt:
        """Tokens of as many of `messages` as fit, or of all. `begun`: the last of them is an answer to go on with, so
        it follows the template's opening of an answer and no mark ends it.

        Raises EMPTY_PROMPT, TEMPLATE_FAILED, GGUF_NO_VOCABULARY, or CONTEXT_LENGTH_EXCEEDED where even the last
        message alone (with `keeps_all`: the whole) is too long.
        """
        if not any(one.role is Role.USER and one.text.strip() for one in messages):
            raise fail(ErrorCode.EMPTY_PROMPT)
        n_ctx = self._expert.facts.n_ctx_seq
        n_skipped = self._beyond_template(messages, keeps_all=keeps_all)
        messages = without_oldest(messages, n_skipped)
        variables = template_variables(thinking, self.switches)
        counted: dict[int, tuple[list[int], str]] = {}  # by the number of messages kept; the last count is the result

        def count(kept: Sequence[PromptMessage]) -> int:
            if len(kept) not in counted:
                counted[len(kept)] = self._tokens(kept, variables, begun, tools)
            return len(counted[len(kept)][0])

        if keeps_all:
            n_dropped = 0
            check_fits(count(messages), n_ctx)
        else:
            n_dropped = fit_messages(messages, count, n_ctx=n_ctx, reserve=answer_reserve(n_ctx, max_tokens))
        kept = without_oldest(messages, n_dropped)
        count(kept)
        tokens, rendered = counted[len(kept)]
        if not tokens:
            raise fail(ErrorCode.EMPTY_PROMPT)
        if not self._knows_turn_end:
            self._knows_turn_end = True
            self._learn_turn_end()
        opened = self.marks.is_opened_by(rendered)
        if begun is not None and (begun.text or begun.thought):
            return self._with_thinking(
                Prompt(tokens, n_skipped + n_dropped, begun.is_thinking, is_begun=True), thinking
            )
        return self._with_thinking(Prompt(tokens, n_skipped + n_dropped, opened), thinking)

    def count(self, command: CountTokens) -> TokensCounted:
        """What `build` would make of these messages. Raises as `build`, but for a last message that is too long."""
        n_ctx = self._expert.facts.n_ctx_seq
        within = without_oldest(command.messages, self._beyond_template(command.messages, keeps_all=False))
        tokens, _ = self._tokens(within, template_variables(command.thinking, self.switches), None)
        n_whole = len(tokens)
        if len(within) == len(command.messages) and n_whole + answer_reserve(n_ctx, command.max_tokens) <= n_ctx:
            return TokensCounted(command.count_id, n_whole, n_whole, 0, n_ctx)
        try:
            prompt = self.build(command.messages, command.max_tokens, command.thinking)
        except LayaDeskError as refusal:
            if refusal.code is not ErrorCode.CONTEXT_LENGTH_EXCEEDED:
                raise
            return TokensCounted(command.count_id, n_whole, int(refusal.facts["n_prompt"] or 0), 0, n_ctx)
        return TokensCounted(command.count_id, n_whole, len(prompt.tokens), prompt.n_dropped, n_ctx)

    def build_raw(self, text: str) -> Prompt:
        """Tokens of `text` as it stands, to be gone on with; control tokens in it count, as there is no template.

        Raises EMPTY_PROMPT, CONTEXT_LENGTH_EXCEEDED.
        """
        tokens = self._with_one_bos(self._expert.tokenize(text, parse_special=True))
        if not tokens:
            raise fail(ErrorCode.EMPTY_PROMPT)
        check_fits(len(tokens), self._expert.facts.n_ctx_seq)
        return Prompt(tokens, 0)

    def _learn_turn_end(self) -> None:
        """A mark of thoughts or of tool calls is none: it comes in the middle of an answer too."""
        mark = turn_end(self._template.render)
        facts = self._expert.facts
        token = facts.control_texts.get(mark, facts.added_texts.get(mark))
        if token is not None:
            self.end_tokens = frozenset({token}) - self.marks.by_token.keys() - self._tool_marks.keys()
        elif mark and mark not in self.stops and mark not in self.marks.opening + self.marks.closing:
            self.stops = (*self.stops, mark)

    def _beyond_template(self, messages: Sequence[PromptMessage], *, keeps_all: bool) -> int:
        """How many of the oldest messages are left out unread, because the sandbox would refuse so much text.

        Raises CONTEXT_LENGTH_EXCEEDED, with the text's own tokens, where the last question alone is as long as that.
        """
        choices = [0] if keeps_all else droppable(messages)
        for n_skipped in choices:
            if sum(len(one.text) for one in without_oldest(messages, n_skipped)) <= MAX_TEXT_CHARS:
                return n_skipped
        kept = without_oldest(messages, choices[-1])
        n_prompt = sum(len(self._expert.tokenize(one.text, parse_special=False)) for one in kept)
        raise fail(ErrorCode.CONTEXT_LENGTH_EXCEEDED, n_prompt=n_prompt, n_ctx=self._expert.facts.n_ctx_seq)

    def grammar(self, sampling: SamplingParams, tools: ToolUse | None = None) -> str | None:
        """What binds the answer: a call that must come, the request's grammar, or its schema's. Raises BAD_GRAMMAR."""
        if tools is not None and tools.forced:
            return self._expert.schema_grammar(schema_of(tools))
        if sampling.json_schema is not None:
            return self._expert.schema_grammar(sampling.json_schema)
        return None if sampling.grammar is None else checked_grammar(sampling.grammar)

    def _with_thinking(self, prompt: Prompt, thinking: ThinkingParams) -> Prompt:
        """The tokens that close the thoughts: at their budget, or at once where they are not wanted but open."""
        if budget_of(thinking) is None:
            return prompt
        closing = self._expert.tokenize(f"\n{self.marks.closing}\n\n", parse_special=True)
        if thinking.enabled is False and prompt.is_thinking:
            return replace(prompt, tokens=[*prompt.tokens, *closing], is_thinking=False)
        return replace(prompt, closing=tuple(closing))

    def _tokens(
        self,
        messages: Sequence[PromptMessage],
        variables: Mapping[str, Any],
        begun: Begun | None,
        tools: ToolUse | None = None,
    ) -> tuple[list[int], str]:
        if not self._knows_tools:
            messages, tools = told_in_words(messages, tools), None
        said = [] if begun is None else [PromptMessage(Role.ASSISTANT, text) for text in (begun.thought, begun.text)]
        asked = messages if begun is None else messages[:-1]
        offered = [] if tools is None else [PromptMessage(Role.USER, tools.tools)]
        marked, marks = self._literals.mark([*offered, *asked, *said])
        if tools is not None:
            tools, marked = replace(tools, tools=marked[0].text), marked[1:]
        rendered = self._template.render(marked[: len(asked)], variables, tools)
        if begun is not None:
            before, between = self.marks.around(begun, is_open=self.marks.is_opened_by(rendered))
            rendered += f"{before}{marked[-2].text}{between}{marked[-1].text}"
        tokens = self._literals.tokenize(rendered, marks, self._expert.tokenize)
        return self._with_one_bos(tokens), rendered

    def _with_one_bos(self, tokens: list[int]) -> list[int]:
        """Most templates write BOS themselves; twice is a different prompt from the one the model was trained on."""
        facts = self._expert.facts
        if facts.bos_token is None:
            return tokens
        n_bos = 0
        while n_bos < len(tokens) and tokens[n_bos] == facts.bos_token:
            n_bos += 1
        if n_bos == 0 and not facts.adds_bos:
            return tokens
        return [facts.bos_token, *tokens[n_bos:]]
