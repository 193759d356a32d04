"""Tools at a remote expert: offered in OpenAI's words, and read from the pieces they come in."""

import json

from layadesk.domain.inference import PromptMessage, Role, ToolCall, ToolUse
from layadesk.domain.remote import RemoteExpert
from layadesk.protocol.commands import Generate
from layadesk.workers.remote_body import body_of, messages_that_fit
from layadesk.workers.remote_calls import MAX_CALLS, CallPiece, CallPieces
from layadesk.workers.remote_pieces import read_piece

TOOLS = [{"type": "function", "function": {"name": name}} for name in ("add", "sub")]
EXPERT = RemoteExpert("remote:big", "Big", "http://127.0.0.1:1/v1", "big-70b", n_ctx=300)
HISTORY = (
    PromptMessage(Role.USER, "1 + 2?"),
    PromptMessage(Role.ASSISTANT, "", (ToolCall("abc", "add", '{"a": 1}'),)),
    PromptMessage(Role.TOOL, "3", tool_call_id="abc"),
)


def said(forced: tuple[str, ...]) -> dict[str, object]:
    request = Generate("r", "remote:big", HISTORY, tools=ToolUse(json.dumps(TOOLS), forced))
    return body_of(request, EXPERT, HISTORY)


def test_tools_calls_and_results_are_said_as_the_client_said_them() -> None:
    assert said(())["tools"] == TOOLS
    assert [said(forced)["tool_choice"] for forced in ((), ("add", "sub"))] == ["auto", "required"]
    assert said(("add",))["tool_choice"] == {"type": "function", "function": {"name": "add"}}
    call = {"id": "abc", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    assert said(())["messages"] == [
        {"role": "user", "content": "1 + 2?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "3", "tool_call_id": "abc"},
    ]


def test_calls_are_put_together_from_their_pieces() -> None:
    pieces = CallPieces()
    for index, call_id, name, arguments in (
        (0, "x", "add", ""),
        (0, "", "", '{"a"'),
        (1, "", "sub", ""),
        (0, "", "", ": 1}"),
    ):
        function = {"name": name or None, "arguments": arguments}
        delta = {"tool_calls": [{"index": index, "id": call_id or None, "function": function}]}
        for piece in read_piece(json.dumps({"choices": [{"delta": delta}]})).calls:
            pieces.add(piece)
    first, second = pieces.whole()
    assert first == ToolCall("x", "add", '{"a": 1}')
    assert (second.name, second.arguments, len(second.call_id)) == ("sub", "{}", 9)


def test_a_server_that_calls_without_end_is_not_listened_to() -> None:
    pieces = CallPieces()
    for index in range(MAX_CALLS * 2):
        pieces.add(CallPiece(index, "", "add", "{}"))
    assert len(pieces.whole()) == MAX_CALLS


def test_where_nothing_may_be_left_out_the_server_counts_itself() -> None:
    long = tuple(PromptMessage(Role.USER, "word " * 100) for _ in range(9))
    assert messages_that_fit(Generate("r", "remote:big", long), EXPERT)[1] > 0
    assert messages_that_fit(Generate("r", "remote:big", long, keeps_all=True), EXPERT) == (long, 0)
