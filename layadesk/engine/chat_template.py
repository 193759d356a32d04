"""Messages to one prompt text, in the words of the model: its own chat template, in the sandbox. Prompt thread only."""

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import jinja2
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail, from_report
from layadesk.domain.inference import PromptMessage, Role, ToolUse
from layadesk.engine.template_sandbox import MAX_CHARS, TemplateRaised, TemplateSandbox
from layadesk.engine.time_limit import TEMPLATE_FILE, TimeLimit, TimeLimitExceeded
from layadesk.engine.tool_calls import for_template

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
CHATML_STOPS = ("<|im_end|>", "<|im_start|>")
MAX_SOURCE_CHARS = 256 * 1024
TIME_LIMIT_S = 3.0  # a real template takes a few milliseconds, and 0.2 ms a message
MORE_TIME_PER_MESSAGE_S = 0.005
MAX_DETAIL_CHARS = 300

_NO_VARIABLES: Mapping[str, Any] = {}
_SYSTEM_PROBE = "probe-of-the-system-role"
_USER_PROBE = "probe-of-the-user-role"

ResultT = TypeVar("ResultT")


class _NoEnd(Exception):
    """Apart from the other failures because it may pass: the machine may have been busy."""

    def __init__(self, line: int | None) -> None:
        self.line = line
        super().__init__()


class ChatTemplate:
    """One template, compiled at its first use. Every failure is TEMPLATE_FAILED with `detail` and, if known, `line`.

    Some templates refuse or ignore a system message, or refuse two messages of one role in a row. That is found out
    once, with made-up messages; then system text goes in front of the first user message, and neighbours are joined.
    """

    def __init__(
        self, source: str, *, bos_text: str = "", eos_text: str = "", time_limit_s: float = TIME_LIMIT_S
    ) -> None:
        self.source = source
        self._bos_text = bos_text
        self._eos_text = eos_text
        self._time_limit_s = time_limit_s
        self._sandbox = TemplateSandbox()
        self._template: jinja2.Template | None = None
        self._is_probed = False
        self._failure: ErrorReport | None = None
        self._globals: dict[str, Any] = {}
        self._folds_system = False
        self._joins_neighbours = False

    def render(
        self,
        messages: Sequence[PromptMessage],
        variables: Mapping[str, Any] = _NO_VARIABLES,
        tools: ToolUse | None = None,
    ) -> str:
        """The prompt text up to where the answer begins. `variables` are the template's own switches."""
        try:
            self._prepare()
            shaped = fold_system(messages) if self._folds_system else list(messages)
            if self._joins_neighbours:
                shaped = join_neighbours(shaped)
            offered = {} if tools is None else {"tools": json.loads(tools.tools)}
            return self._render(for_template(shaped), {**variables, **offered})
        except _NoEnd as error:
            detail = f"no end after {self._time_limit_s:g} s"
            raise fail(ErrorCode.TEMPLATE_FAILED, detail=detail, line=error.line) from None

    def _prepare(self) -> None:
        if self._failure is not None:
            raise from_report(self._failure)
        if self._is_probed:
            return
        try:
            self._template = self._compile()
            self._probe()
        except LayaDeskError as failure:
            self._failure = failure.report
            raise
        self._is_probed = True

    def _compile(self) -> jinja2.Template:
        if len(self.source) > MAX_SOURCE_CHARS:
            raise fail(ErrorCode.TEMPLATE_FAILED, detail="template too long", line=None)
        return _guarded(lambda: self._sandbox.from_string(self.source), self._time_limit_s)

    def _probe(self) -> None:
        user = {"role": "user", "content": _USER_PROBE}
        system = {"role": "system", "content": _SYSTEM_PROBE}
        if "strftime_now" in self.source and self._refuses([user], because_of="strftime_now"):
            # Only a template that cannot do without gets a date, and one of day length, fixed while the expert is
            # loaded: a clock in the system prompt would make every turn's prompt new from its first line on.
            today = datetime.date.today()  # the user's own day
            self._globals["strftime_now"] = today.strftime
        try:
            self._folds_system = _SYSTEM_PROBE not in self._render([system, user])
        except LayaDeskError:
            self._folds_system = True
        self._joins_neighbours = self._refuses([user, user])

    def _refuses(self, messages: Sequence[Mapping[str, Any]], *, because_of: str = "") -> bool:
        try:
            self._render(messages)
        except LayaDeskError as refusal:
            return because_of in str(refusal.facts.get("detail"))
        return False

    def _render(self, messages: Sequence[Mapping[str, Any]], variables: Mapping[str, Any] = _NO_VARIABLES) -> str:
        template = self._template
        assert template is not None
        values = {
            "tools": None,
            **variables,
            "messages": [dict(one) for one in messages],
            "add_generation_prompt": True,
            "bos_token": self._bos_text,
            "eos_token": self._eos_text,
            "raise_exception": _raise_exception,
            **self._globals,
        }

        def collect() -> str:
            self._sandbox.begin()
            pieces: list[str] = []
            n_chars = 0
            for piece in template.generate(values):
                pieces.append(piece)
                n_chars += len(piece)
                if n_chars > MAX_CHARS:
                    raise SecurityError("output too long")
            return "".join(pieces)

        return _guarded(collect, self._time_limit_s + MORE_TIME_PER_MESSAGE_S * len(messages))


def fold_system(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """`messages` with all system texts in front of the first user message, which is made if there is none."""
    system = "\n\n".join(one.text for one in messages if one.role is Role.SYSTEM)
    others = [one for one in messages if one.role is not Role.SYSTEM]
    if not system:
        return others
    for i, one in enumerate(others):
        if one.role is Role.USER:
            others[i] = replace(one, text=f"{system}\n\n{one.text}")
            return others
    return [PromptMessage(Role.USER, system), *others]


def join_neighbours(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """`messages` with those of one role in a row made one."""
    joined: list[PromptMessage] = []
    for one in messages:
        is_same = bool(joined) and joined[-1].role is one.role is not Role.TOOL
        if is_same and not (joined[-1].tool_calls or one.tool_calls):
            joined[-1] = PromptMessage(one.role, f"{joined[-1].text}\n\n{one.text}")
        else:
            joined.append(one)
    return joined


def _raise_exception(message: str) -> None:
    raise TemplateRaised(message)


def _guarded(work: Callable[[], ResultT], time_limit_s: float) -> ResultT:
    """Run template code; whatever it does becomes a result, TEMPLATE_FAILED or _NoEnd."""
    try:
        with TimeLimit(time_limit_s):
            return work()
    except TimeLimitExceeded as error:
        raise _NoEnd(_line_of(error)) from None
    except TemplateSyntaxError as error:
        raise fail(ErrorCode.TEMPLATE_FAILED, detail=_shorten(error.message or ""), line=error.lineno) from error
    except Exception as error:  # a template may raise anything at all, and must not end the engine
        detail = str(error) if isinstance(error, (TemplateRaised, UndefinedError, SecurityError)) else repr(error)
        raise fail(ErrorCode.TEMPLATE_FAILED, detail=_shorten(detail), line=_line_of(error)) from error


def _line_of(error: BaseException) -> int | None:
    """The innermost line of the template in a traceback. Where Jinja saw the error, it has put its own lines there."""
    line: int | None = None
    where = error.__traceback__
    while where is not None:
        if where.tb_frame.f_code.co_filename == TEMPLATE_FILE:
            compiled = where.tb_frame.f_globals.get("__jinja_template__")
            line = where.tb_lineno if compiled is None else compiled.get_corresponding_lineno(where.tb_lineno)
        where = where.tb_next
    return line


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_DETAIL_CHARS else text[: MAX_DETAIL_CHARS - 1] + "…"
