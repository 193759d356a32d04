"""A request's messages to prompt tokens: template, control tokens, BOS, and what must be left out to fit."""

from collections.abc import Sequence
from dataclasses import dataclass

from layadesk.domain.context_budget import answer_reserve, fit_messages, without_oldest
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import PromptMessage, Role
from layadesk.engine.backend import Expert
from layadesk.engine.chat_template import CHATML, CHATML_STOPS, ChatTemplate
from layadesk.engine.literals import Literals


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ready to be computed. `n_dropped` of the oldest messages were left out, and that must be said."""

    tokens: list[int]
    n_dropped: int


class PromptBuilder:
    """Builds the prompts of one loaded expert. Prompt thread, but for `stops` and `template_name`."""

    def __init__(self, expert: Expert, *, time_limit_s: float | None = None) -> None:
        self._expert = expert
        facts = expert.facts
        source = facts.chat_template
        self.template_name = "chatml" if source is None else "gguf"
        # Without the control token, the end of a turn comes as text.
        self.stops: tuple[str, ...] = (
            CHATML_STOPS if source is None and CHATML_STOPS[0] not in facts.control_texts else ()
        )
        limit = {} if time_limit_s is None else {"time_limit_s": time_limit_s}
        self._template = ChatTemplate(source or CHATML, bos_text=facts.bos_text, eos_text=facts.eos_text, **limit)
        self._literals = Literals(facts, self._template.source)

    def build(self, messages: Sequence[PromptMessage], max_tokens: int | None) -> Prompt:
        """Tokens of as many of `messages` as fit.

        Raises EMPTY_PROMPT, TEMPLATE_FAILED, GGUF_NO_VOCABULARY, or CONTEXT_LENGTH_EXCEEDED where even the last
        message alone is too long.
        """
        if not any(one.role is Role.USER and one.text.strip() for one in messages):
            raise fail(ErrorCode.EMPTY_PROMPT)
        n_ctx = self._expert.facts.n_ctx_seq
        counted: dict[int, list[int]] = {}  # by the number of messages kept; the last count is the result

        def count(kept: Sequence[PromptMessage]) -> int:
            if len(kept) not in counted:
                counted[len(kept)] = self._tokens(kept)
            return len(counted[len(kept)])

        n_dropped = fit_messages(messages, count, n_ctx=n_ctx, reserve=answer_reserve(n_ctx, max_tokens))
        kept = without_oldest(messages, n_dropped)
        count(kept)
        tokens = counted[len(kept)]
        if not tokens:
            raise fail(ErrorCode.EMPTY_PROMPT)
        return Prompt(tokens, n_dropped)

    def _tokens(self, messages: Sequence[PromptMessage]) -> list[int]:
        marked, marks = self._literals.mark(messages)
        rendered = self._template.render(marked)
        tokens = self._literals.tokenize(rendered, marks, self._expert.tokenize)
        return self._with_one_bos(tokens)

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
