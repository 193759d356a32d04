import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layadesk.domain.inference import PromptMessage, Role, ToolCall, ToolUse
from layadesk.engine.chat_template import ChatTemplate
from layadesk.engine.tagged_calls import tagged_calls
from layadesk.engine.tool_calls import ToolCallSplitter, calls_in, knows_tools, schema_of, told_in_words

ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "$defs": {"n": {}}}}}
SUB = {"type": "function", "function": {"name": "sub"}}
CALL = '{"name": "add", "arguments": {"a": 1, "b": "<x>"}}'
ARGUMENTS = {"a": 1, "b": "<x>"}
TAGGED = "<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n<x>\n</parameter>\n</function>"
OFFERED: dict[str, dict[str, object]] = {"add": {"a": {"type": "integer"}, "b": {"type": "string"}}, "sub": {}}

WRITTEN = {
    "hermes": (f"<tool_call>\n{CALL}\n</tool_call>", "", 1),
    "hermes after words": (
        f"Let me see.\n<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>\n",
        "Let me see.",
        2,
    ),
    "hermes without an end": (f"<tool_call>\n{CALL}", "", 1),
    "mistral": (f"[TOOL_CALLS][{CALL}, {CALL}]", "", 2),
    "mistral by name": ('[TOOL_CALLS]add[ARGS]{"a": 1, "b": "<x>"}', "", 1),
    "llama": ('{"name": "add", "parameters": {"a": 1, "b": "<x>"}}', "", 1),
    "llama with a tag": (f"<|python_tag|>{CALL}", "", 1),
    "arguments as text": ('{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": \\"<x>\\"}"}', "", 1),
    "openai": (f'[{{"type": "function", "function": {CALL}}}]', "", 1),
    "qwen3-coder": (f"I add.\n<tool_call>\n{TAGGED}\n</tool_call>\n<tool_call>{TAGGED}</tool_call>", "I add.", 2),
    "qwen3-coder without a frame": (f"{TAGGED}\n", "", 1),
    "qwen3-coder without an end": ("<tool_call>\n<function=add><parameter=a>1</parameter><parameter=b><x>", "", 1),
    "llama with a name in a tag": ('<function=add>{"a": 1, "b": "<x>"}</function>', "", 1),
}
NO_CALLS = [
    "",
    "plain words",
    "a < b, [link](x), {braces}",
    '{"answer": 42}',
    '{"name": "nobody", "arguments": {}}',  # JSON that is the answer itself
    "<tool_call>not json</tool_call> and on",
    "<tool_call>[1, 2]",
    "<tool",
    "<function=",
    "<function=nobody>\n<parameter=a>\n1\n</parameter>\n</function> is how it looks",
    "write <function=add(1, 2)</function> in its place",
    "[TOOL_CALLS] was said",
    '{"name"',
    "text first, then " + CALL,
]


def split(text: str, places: list[int] | None = None) -> tuple[str, list[ToolCall]]:
    splitter = ToolCallSplitter(OFFERED)
    cuts = [0, *sorted(place % (len(text) + 1) for place in places or []), len(text)]
    shown = "".join(splitter.push(text[a:b]) for a, b in pairwise(cuts)) + splitter.finish()
    assert shown == splitter.text
    return shown, splitter.calls


@pytest.mark.parametrize("kind", WRITTEN)
def test_calls_are_found_in_the_formats_models_use(kind: str) -> None:
    text, words, n = WRITTEN[kind]
    shown, calls = split(text)
    assert (shown, len(calls)) == (words, n)
    assert [(one.name, json.loads(one.arguments)) for one in calls] == [("add", ARGUMENTS)] * n
    assert len({one.call_id for one in calls}) == n
    assert all(len(one.call_id) == 9 and one.call_id.isalnum() for one in calls)


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_is_no_call_is_text_whole(text: str) -> None:
    assert split(text) == (text, [])


@given(st.sampled_from([*NO_CALLS, *(text for text, _, _ in WRITTEN.values())]), st.lists(st.integers(0, 200)))
def test_the_cut_into_tokens_changes_nothing(text: str, places: list[int]) -> None:
    whole, cut = split(text), split(text, places)
    assert cut[0] == whole[0]
    assert [(one.name, one.arguments) for one in cut[1]] == [(one.name, one.arguments) for one in whole[1]]


def test_text_that_cannot_become_a_call_is_not_held_back() -> None:
    splitter = ToolCallSplitter({"add": {}})
    assert splitter.push('{"answer": 4') == '{"answer": 4'
    assert splitter.push("2} <t") == "2}"
    assert splitter.push("he end") == " <the end"


def test_a_call_that_goes_on_and_on_is_none() -> None:
    assert calls_in("[" * 100_000, {}) == []


def test_a_forced_call_has_a_schema_of_its_own_and_definitions_at_its_root() -> None:
    one = json.loads(schema_of(ToolUse(json.dumps([ADD, SUB]), ("add",))))
    assert one["properties"]["name"] == {"const": "add"}
    assert one["$defs"] == {"n": {}}
    both = json.loads(schema_of(ToolUse(json.dumps([ADD, SUB]), ("add", "sub"))))
    assert [each["properties"]["name"]["const"] for each in both["anyOf"]] == ["add", "sub"]


HISTORY = [
    PromptMessage(Role.USER, "1 + 2?"),
    PromptMessage(Role.ASSISTANT, "", (ToolCall("abc", "add", '{"a": 1}'),)),
    PromptMessage(Role.TOOL, "3", tool_call_id="abc"),
]


def test_a_template_without_tools_hears_of_them_in_words() -> None:
    told = told_in_words([PromptMessage(Role.SYSTEM, "Be kind."), *HISTORY], ToolUse(json.dumps([ADD])))
    assert [one.role for one in told] == [Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.USER]
    assert told[0].text.startswith("Be kind.\n\n")
    assert '"name": "add"' in told[0].text
    assert told[2].text == '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
    assert told[3].text == "<tool_response>\n3\n</tool_response>"
    assert told_in_words(HISTORY[:1], ToolUse(json.dumps([ADD])))[0].role is Role.SYSTEM


def test_a_template_with_tools_gets_them_as_they_are() -> None:
    source = (
        "{% if tools %}{{ tools | tojson }}{% endif %}{% for m in messages %}{{ m.role }}:{{ m.content }}"
        "{% for c in m.tool_calls or [] %}{{ c.function.name }}({{ c.function.arguments | tojson }}){% endfor %}"
        "{{ m.tool_call_id or '' }};{% endfor %}"
    )
    assert knows_tools(source)
    assert not knows_tools("{{ 'tools' }} tools {% if message.tools %}{% endif %}")
    rendered = ChatTemplate(source).render(HISTORY, tools=ToolUse(json.dumps([SUB])))
    assert rendered == f'{json.dumps([SUB])}user:1 + 2?;assistant:add({{"a": 1}});tool:3abc;'


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "string"}, "  two\n\nlines\n", "  two\n\nlines\n"),
        ({"type": "integer"}, "12", 12),
        ({"type": "number"}, "many", "many"),
        ({"type": "boolean"}, "True", True),
        ({"type": "array"}, '["a", 1]', ["a", 1]),
        ({"type": ["string", "null"]}, "null", None),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "3", 3),
        ({}, "12", "12"),
        ("strange", "12", "12"),
    ],
)
def test_a_value_between_tags_is_what_the_schema_of_the_tool_says(schema: object, text: str, value: object) -> None:
    body = f"<function=add>\n<parameter=a>\n{text}\n</parameter>\n</function>"
    assert tagged_calls(body, {"add": {"a": schema}}) == [("add", json.dumps({"a": value}))]
