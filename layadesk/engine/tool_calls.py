"""Tool calls in what a model writes, in whichever of the usual formats, and what a model without one is told.

Qwen, Hermes and their kin write `<tool_call>{json}</tool_call>`, Mistral `[TOOL_CALLS][{json}]` or
`[TOOL_CALLS]name[ARGS]{json}`, Llama 3 `<|python_tag|>{json}` or nothing but the JSON, Qwen3-Coder tags (see
`tagged_calls.py`). All are looked for in each answer that may call tools, because a model does not always keep to its
own.
"""

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from layadesk.domain.inference import PromptMessage, Role, ToolCall, ToolUse, message_as_openai
from layadesk.engine.tagged_calls import CLOSING, MARK, tagged_calls
from layadesk.engine.thinking import n_at_end

_MARKS: Final[Mapping[str, str]] = {
    "<tool_call>": "</tool_call>",
    "[TOOL_CALLS]": "",
    "<|python_tag|>": "",
    MARK: CLOSING,
}
_BARE: Final = ('{"name"', '[{"name"', '{"type":"function"', '[{"type":"function"', '{"function"')
_NAMED: Final = re.compile(r"\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(?=\{)")
_TAG: Final = re.compile(r"\{[{%].*?[%}]\}", re.DOTALL)
_LOOKS_AT_TOOLS: Final = re.compile(r"(?<![\w.'\"])tools\b")
_SYSTEM: Final = (
    "You may call functions to answer. Their signatures are within <tools></tools>, one a line:\n<tools>\n{tools}\n"
    '</tools>\nTo call one, write only this: <tool_call>\n{{"name": NAME, "arguments": OBJECT}}\n</tool_call>'
)


def knows_tools(template: str) -> bool:
    """Whether a chat template looks at `tools` itself."""
    return any(_LOOKS_AT_TOOLS.search(tag) for tag in _TAG.findall(template))


def by_token(control_texts: Mapping[str, int]) -> dict[int, bytes]:
    """The control tokens that are marks of a call: in an answer that may call, they count as text."""
    known = {*_MARKS, *filter(None, _MARKS.values()), "[ARGS]"}
    return {token: text.encode() for text, token in control_texts.items() if text in known}


def offered_by(tools: ToolUse) -> dict[str, dict[str, Any]]:
    """The schema of each parameter, by the name of the tool on offer."""
    functions = [one["function"] for one in json.loads(tools.tools)]
    schemas = {str(one["name"]): (one.get("parameters") or {}).get("properties") for one in functions}
    return {name: schema if isinstance(schema, dict) else {} for name, schema in schemas.items()}


def schema_of(tools: ToolUse) -> str:
    """The JSON schema that an answer keeps to which has to call one of `tools.forced`."""
    definitions: dict[str, Any] = {}
    calls: list[dict[str, Any]] = []
    for one in json.loads(tools.tools):
        function = one["function"]
        if function["name"] not in tools.forced:
            continue
        parameters = dict(function.get("parameters") or {"type": "object"})
        definitions |= parameters.pop("$defs", {})  # references to them begin at the root
        properties = {"name": {"const": function["name"]}, "arguments": parameters}
        required = ["name", "arguments"]
        calls.append({"type": "object", "properties": properties, "required": required, "additionalProperties": False})
    schema: dict[str, Any] = calls[0] if len(calls) == 1 else {"anyOf": calls}
    return json.dumps({**schema, "$defs": definitions} if definitions else schema)


def told_in_words(messages: Sequence[PromptMessage], tools: ToolUse | None) -> list[PromptMessage]:
    """`messages` for a template that knows no tools: the tools in the system prompt, calls and results as text."""
    told = [_in_words(one) for one in messages]
    if tools is None:
        return told
    lines = "\n".join(json.dumps(one["function"], ensure_ascii=False) for one in json.loads(tools.tools))
    words = _SYSTEM.format(tools=lines)
    if told and told[0].role is Role.SYSTEM:
        return [replace(told[0], text=f"{told[0].text}\n\n{words}"), *told[1:]]
    return [PromptMessage(Role.SYSTEM, words), *told]


def _in_words(message: PromptMessage) -> PromptMessage:
    if message.role is Role.TOOL:
        return PromptMessage(Role.USER, f"<tool_response>\n{message.text}\n</tool_response>")
    if not message.tool_calls:
        return message
    calls = (
        f'<tool_call>\n{{"name": {json.dumps(c.name)}, "arguments": {c.arguments}}}\n</tool_call>'
        for c in message.tool_calls
    )
    return PromptMessage(message.role, "\n".join(filter(None, (message.text, *calls))))


class ToolCallSplitter:
    """Cuts an answer into text and calls. The result does not depend on how the text is cut into pieces.

    What turns out to be no call is text. JSON without any mark is a call only at the beginning of an answer, and only
    of a tool on offer, as is a tag without `<tool_call>` around it. Space around a call belongs to nobody. `offered`
    has the schema of each parameter by the name of the tool.
    """

    def __init__(self, offered: Mapping[str, Mapping[str, Any]]) -> None:
        self.calls: list[ToolCall] = []
        self._offered = offered
        self._held = ""
        self._mark: str | None = None  # of the call that is being read; "" for one without
        self._gap = ""  # space before that mark
        self._is_beginning = True
        self._released: list[str] = []

    @property
    def text(self) -> str:
        """All text released so far."""
        return "".join(self._released)

    def push(self, text: str) -> str:
        """New text of the answer; returns what of it is certainly none of a call."""
        self._held += text
        return self._release(self._advance())

    def finish(self) -> str:
        """The end: what was held back is a call, or text."""
        out = self._advance()
        if self._mark is not None:
            if not self._take(self._held, self._mark):
                out += self._gap + self._mark + self._held
            self._mark = None
        else:
            out += "" if self.calls and not self._held.strip() else self._held
        self._held = ""
        return self._release(out)

    def _release(self, text: str) -> str:
        if text:
            self._released.append(text)
        return text

    def _advance(self) -> str:
        out = ""
        while True:
            if self._is_beginning and not self._begin():
                return out
            if self._mark is None:
                out += self._take_text()
            if self._mark is None:
                return out
            closing = _MARKS.get(self._mark)
            if not closing or (at := self._held.find(closing)) < 0:
                return out  # until it closes, or the answer ends
            body, mark = self._held[:at], self._mark
            rest, self._mark = self._held[at + len(closing) :], None
            is_call = self._take(body, mark)
            self._held = rest.lstrip() if is_call else rest
            out += "" if is_call else f"{self._gap}{mark}{body}{closing}"
            self._gap = ""

    def _begin(self) -> bool:
        """Whether it is clear by now that the answer begins with a call that has no mark, or does not."""
        compact = re.sub(r"\s", "", self._held[:200])
        if not compact or any(bare.startswith(compact) and bare != compact for bare in _BARE):
            return False
        self._is_beginning = False
        if compact.startswith(_BARE):
            self._mark = ""
        return True

    def _take_text(self) -> str:
        found = [(at, mark) for mark in _MARKS if (at := self._held.find(mark)) >= 0]
        if found:
            at, self._mark = min(found)
            text = self._held[:at].rstrip()
            self._gap, self._held = self._held[len(text) : at], self._held[at + len(self._mark) :]
            return text
        n = len(self._held) - max(n_at_end(self._held, mark) for mark in _MARKS)
        n = len(self._held[:n].rstrip())
        text, self._held = self._held[:n], self._held[n:]
        return text

    def _take(self, body: str, mark: str) -> bool:
        """Note the calls in `body`; false where it holds none."""
        found = calls_in(f"{MARK}{body}" if mark == MARK else body, self._offered)
        if not found or (mark in ("", MARK) and not all(name in self._offered for name, _ in found)):
            return False
        # Nine letters and digits, because Mistral's templates take no other id.
        self.calls += [ToolCall(f"c{secrets.token_hex(4)}", name, arguments) for name, arguments in found]
        return True


def calls_in(body: str, offered: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Names and arguments (JSON text) of the calls in what stands between marks; empty where that is no call."""
    if body.lstrip().startswith(MARK):
        return tagged_calls(body, offered)
    named = _NAMED.match(body)
    try:
        if named is not None:
            return [(named[1], json.dumps(json.loads(body[named.end() :]), ensure_ascii=False))]
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    calls = [_call_of(one) for one in (value if isinstance(value, list) else [value])]
    return [] if None in calls else [one for one in calls if one is not None]


def _call_of(value: Any) -> tuple[str, str] | None:
    if isinstance(value, dict) and isinstance(value.get("function"), dict):
        value = value["function"]
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments: Any = next((value[key] for key in ("arguments", "parameters") if key in value), {})
    if isinstance(arguments, str):
        return value["name"], arguments
    return (value["name"], json.dumps(arguments, ensure_ascii=False)) if isinstance(arguments, dict) else None


def for_template(messages: Iterable[PromptMessage]) -> list[dict[str, Any]]:
    """Messages as chat templates expect them, calls and all."""
    return [message_as_openai(one, _object) for one in messages]


def _object(arguments: str) -> Any:
    """Most templates write the arguments as JSON themselves, so they get the value and not its text."""
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
