"""The remote client against a scripted server: the promises of every client, whatever the server does."""

import gzip
import json
import logging
import queue
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import (
    FinishReason,
    PromptMessage,
    Role,
    SamplingParams,
    ThinkingParams,
    ToolCall,
    ToolUse,
)
from layadesk.domain.remote import RemoteExpert
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, PromptBuilt, RequestEvent, TextDelta
from layadesk.workers.remote_client import RemoteClient
from layadesk.workers.remote_loop import RemoteLoop
from layadesk.workers.remote_timing import RemoteTiming
from tests.fakes.http_peer import Exchange, HttpPeer, Script, hello, http_peer
from tests.invariants import check_request

PATIENCE_S = 10.0
KEY = "sk-very-secret"
QUICK = RemoteTiming(connect_s=5.0, first_token_s=5.0, stall_s=5.0)
HASTY = RemoteTiming(connect_s=0.3, first_token_s=0.3, stall_s=0.3)


class Asked:
    """One request and what was heard of it."""

    def __init__(self, client: RemoteClient, request: Generate) -> None:
        self.client = client
        self.request = request
        self.events: list[RequestEvent] = []
        self.heard: queue.SimpleQueue[RequestEvent] = queue.SimpleQueue()
        client.generate(request, self._hear)

    def _hear(self, event: RequestEvent) -> None:
        self.events.append(event)
        self.heard.put(event)

    def wait(self, kind: type[RequestEvent]) -> RequestEvent:
        """The next event of that kind."""
        while not isinstance(event := self.heard.get(timeout=PATIENCE_S), kind):
            pass
        return event

    def end(self) -> Finished | Failed:
        """Its lawful end."""
        while not isinstance(event := self.heard.get(timeout=PATIENCE_S), Finished | Failed):
            pass
        check_request(self.events, self.request.request_id)
        return event


class Far:
    """A client with one remote expert at a peer."""

    def __init__(self, peer: HttpPeer, timing: RemoteTiming) -> None:
        self.peer = peer
        self.expert = RemoteExpert("remote:big", "Big", peer.url, "big-70b")
        self.key: str | None = KEY
        self.noted: list[ErrorReport | None] = []
        self.loop = RemoteLoop()
        self.client = RemoteClient(
            self.loop,
            expert_of=lambda model_id: self.expert if model_id == "remote:big" else None,
            key_of=lambda _: self.key,
            noted=lambda _, error: self.noted.append(error),
            timing=timing,
        )
        self._number = 0

    def ask(self, text: str = "hi", **fields: object) -> Asked:
        self._number += 1
        request = Generate(f"r{self._number}", "remote:big", (PromptMessage(Role.USER, text),))
        return Asked(self.client, msgspec.structs.replace(request, **fields))

    def fails(self, script: Script) -> ErrorReport:
        """How an answer by that script fails."""
        self.peer.script = script
        end = self.ask().end()
        assert isinstance(end, Failed), end
        return end.error


@pytest.fixture
def far() -> Iterator[Far]:
    with http_peer() as peer:
        made = Far(peer, QUICK)
        yield made
        made.client.stop()


def test_an_answer_is_streamed_with_its_counts(far: Far) -> None:
    asked = far.ask()
    end = asked.end()
    assert isinstance(end, Finished)
    assert (end.text, end.finish_reason) == ("Hello", FinishReason.STOP)
    assert (end.timings.n_prompt, end.timings.n_decoded, end.timings.is_counted) == (7, 2, True)
    assert end.timings.ttft_ms is not None
    assert [event.text for event in asked.events if isinstance(event, TextDelta)] == ["Hel", "lo"]
    (exchange,) = far.peer.asked
    assert (exchange.method, exchange.path) == ("POST", "/v1/chat/completions")
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.json["model"] == "big-70b"
    assert exchange.json["messages"] == [{"role": "user", "content": "hi"}]
    assert far.noted == [None]


def test_counts_that_nobody_gave_are_unknown(far: Far) -> None:
    def silent(exchange: Exchange) -> None:
        exchange.head()
        exchange.say("x")
        exchange.finish()

    far.peer.script = silent
    end = far.ask().end()
    assert isinstance(end, Finished)
    assert not end.timings.is_counted
    assert end.timings.decode_tps is None


@pytest.mark.parametrize("usage", [{"prompt_tokens": -5, "completion_tokens": 2}, {"prompt_tokens": 10**18}, {}])
def test_impossible_counts_are_unknown_too(far: Far, usage: dict[str, object]) -> None:
    def odd(exchange: Exchange) -> None:
        exchange.head()
        exchange.say("x")
        exchange.finish(usage=usage)

    far.peer.script = odd
    end = far.ask().end()
    assert isinstance(end, Finished)
    assert not end.timings.is_counted


def test_reasoning_is_kept_apart_as_thinking_and_what_comes_late_is_not_lost(far: Far) -> None:
    def reason(exchange: Exchange) -> None:
        exchange.head()
        exchange.think("let ", "me see")
        exchange.say("the answer")
        exchange.think("!")
        exchange.finish("length")

    far.peer.script = reason
    end = far.ask().end()
    assert isinstance(end, Finished)
    assert (end.thinking, end.text, end.finish_reason) == ("let me see", "the answer!", FinishReason.LENGTH)


def test_sampling_and_thinking_are_said_in_the_servers_words_and_only_what_was_asked_for(far: Far) -> None:
    far.ask().end()
    assert set(far.peer.asked[0].json) == {"model", "messages", "stream", "stream_options"}
    sampling = SamplingParams(
        temperature=0.0, top_p=0.9, top_k=20, min_p=0.1, max_tokens=50, seed=0, stop=("END",), frequency_penalty=0.5,
        json_schema='{"type": "object"}',
    )  # fmt: skip
    far.ask(sampling=sampling, thinking=ThinkingParams(enabled=True, effort="low")).end()
    said = far.peer.asked[1].json
    expected = {"temperature": 0.0, "top_p": 0.9, "top_k": 20, "min_p": 0.1, "max_tokens": 50, "seed": 0}
    assert expected.items() <= said.items()
    assert said["stop"] == ["END"]
    assert said["reasoning_effort"] == "low"
    assert said["chat_template_kwargs"] == {"enable_thinking": True}
    assert json.loads(json.dumps(said["response_format"]))["json_schema"]["schema"] == {"type": "object"}


def test_tools_are_passed_on_and_calls_are_put_together(far: Far) -> None:
    def call(exchange: Exchange) -> None:
        exchange.head()
        first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "time", "arguments": ""}}
        for delta in (first, {"index": 0, "function": {"arguments": '{"zo'}}, {"function": {"arguments": 'ne": 1}'}}):
            exchange.event(choices=[{"index": 0, "delta": {"content": None, "tool_calls": [delta]}}])
        exchange.finish("tool_calls")

    far.peer.script = call
    tools = [{"type": "function", "function": {"name": "time"}}]
    asked = (
        PromptMessage(Role.USER, "what time is it?"),
        PromptMessage(Role.ASSISTANT, "", (ToolCall("c0", "time", "{}"),)),
        PromptMessage(Role.TOOL, "noon", tool_call_id="c0"),
    )
    end = far.ask(messages=asked, tools=ToolUse(json.dumps(tools), ("time",))).end()
    assert isinstance(end, Finished)
    assert end.tool_calls == (ToolCall("c1", "time", '{"zone": 1}'),)
    said = far.peer.asked[0].json
    assert said["tools"] == tools
    assert said["tool_choice"] == {"type": "function", "function": {"name": "time"}}
    messages = said["messages"]
    assert isinstance(messages, list)
    assert messages[1]["tool_calls"][0]["function"]["name"] == "time"
    assert messages[2]["tool_call_id"] == "c0"


def test_a_text_without_a_template_cannot_be_asked_of_a_chat_address(far: Far) -> None:
    end = far.ask(is_raw=True).end()
    assert isinstance(end, Failed)
    assert end.error.code is ErrorCode.BAD_PARAMETER
    assert far.peer.asked == []


def test_nothing_is_left_out_for_who_wants_all_kept(far: Far) -> None:
    far.expert = replace(far.expert, n_ctx=300)
    said = tuple(PromptMessage(Role.USER, "word " * 100) for _ in range(9))
    far.ask(messages=said, keeps_all=True).end()
    sent = far.peer.asked[0].json["messages"]
    assert isinstance(sent, list)
    assert len(sent) == 9


def test_a_server_that_refuses_a_field_is_asked_once_more_in_plain_words(far: Far) -> None:
    def strict(exchange: Exchange) -> None:
        if "top_k" in exchange.json:
            exchange.answer("400 Bad Request", {"error": {"message": "Unrecognized request argument: top_k"}})
        else:
            hello(exchange)

    far.peer.script = strict
    end = far.ask(sampling=SamplingParams(top_k=5, max_tokens=9, stop=("x",))).end()
    assert isinstance(end, Finished)
    assert (end.text, len(far.peer.asked)) == ("Hello", 2)
    assert far.peer.asked[1].json["max_completion_tokens"] == 9
    assert far.peer.asked[1].json["stop"] == ["x"]


def test_older_messages_are_left_out_by_the_context_size_and_it_is_said(far: Far) -> None:
    far.expert = replace(far.expert, n_ctx=300)
    said = [PromptMessage(Role.SYSTEM, "be kind")]
    for number in range(8):
        said += [PromptMessage(Role.USER, f"{number} " + "word " * 40), PromptMessage(Role.ASSISTANT, "yes")]
    said.append(PromptMessage(Role.USER, "the last"))
    asked = far.ask(messages=tuple(said))
    asked.end()
    built = next(event for event in asked.events if isinstance(event, PromptBuilt))
    sent = far.peer.asked[0].json["messages"]
    assert isinstance(sent, list)
    assert built.n_dropped == len(said) - len(sent) > 0
    assert (sent[0]["content"], sent[-1]["content"]) == ("be kind", "the last")
    end = far.ask("word " * 2000).end()
    assert isinstance(end, Failed)
    assert end.error.code is ErrorCode.CONTEXT_LENGTH_EXCEEDED


def test_a_cancel_ends_it_at_once_and_closes_the_connection(far: Far) -> None:
    hung_up = threading.Event()

    def slow(exchange: Exchange) -> None:
        exchange.head()
        exchange.say("so ", "far")
        if exchange.wait_for_hangup():
            hung_up.set()

    far.peer.script = slow
    asked = far.ask()
    asked.wait(TextDelta)
    asked.wait(TextDelta)
    begun = time.monotonic()
    far.client.cancel(asked.request.request_id)
    end = asked.end()
    took = time.monotonic() - begun
    assert isinstance(end, Finished)
    assert (end.text, end.finish_reason) == ("so far", FinishReason.CANCELLED)
    assert took < 1.0
    assert hung_up.wait(PATIENCE_S), "the server goes on although nobody listens"


def test_a_cancel_before_the_server_says_anything_ends_it_too(far: Far) -> None:
    arrived = threading.Event()

    def mute(exchange: Exchange) -> None:
        arrived.set()
        exchange.wait_for_hangup()

    far.peer.script = mute
    asked = far.ask()
    assert arrived.wait(PATIENCE_S)
    far.client.cancel(asked.request.request_id)
    far.client.cancel(asked.request.request_id)
    end = asked.end()
    assert isinstance(end, Finished)
    assert end.finish_reason is FinishReason.CANCELLED


def test_cancelling_what_is_unknown_or_over_is_silent(far: Far) -> None:
    asked = far.ask()
    asked.end()
    far.client.cancel(asked.request.request_id)
    far.client.cancel("nobody")
    assert len([event for event in asked.events if isinstance(event, Finished)]) == 1


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        ("401 Unauthorized", {"error": {"message": "bad key"}}, ErrorCode.REMOTE_KEY_REFUSED),
        ("403 Forbidden", {"detail": "no"}, ErrorCode.REMOTE_KEY_REFUSED),
        ("404 Not Found", {"error": {"message": "no such model"}}, ErrorCode.REMOTE_NOT_FOUND),
        ("429 Too Many Requests", {"error": {"message": "slow down"}}, ErrorCode.REMOTE_BUSY),
        ("400 Bad Request", {"error": {"message": "what?"}}, ErrorCode.REMOTE_REFUSED),
        ("400 Bad Request", {"error": {"message": "maximum context length is 10"}}, ErrorCode.CONTEXT_LENGTH_EXCEEDED),
        ("500 Internal Server Error", {"error": "boom"}, ErrorCode.REMOTE_FAILED),
        ("503 Service Unavailable", [1, 2], ErrorCode.REMOTE_FAILED),
        ("304 Not Modified", {}, ErrorCode.REMOTE_FAILED),
    ],
)
def test_a_status_is_told_in_words(far: Far, status: str, said: object, code: ErrorCode) -> None:
    report = far.fails(lambda exchange: exchange.answer(status, said))
    assert report.code is code
    assert far.noted[-1] == report


def test_what_a_server_says_of_an_error_is_cut_and_cannot_steer_a_terminal(far: Far) -> None:
    long = {"error": {"message": "\x1b[2Jno\n" + "x" * 10_000}}
    report = far.fails(lambda exchange: exchange.answer("500 Oops", long))
    detail = str(report.facts["detail"])
    assert len(detail) <= 200
    assert detail.isprintable()


def test_a_redirect_is_never_followed_and_the_key_goes_nowhere_else(far: Far) -> None:
    with http_peer() as thief:

        def send_away(exchange: Exchange) -> None:
            exchange.head("307 Temporary Redirect", Location=f"http://localhost:{thief.port}/v1/chat/completions")

        report = far.fails(send_away)
        assert report.code is ErrorCode.REMOTE_REDIRECTS
        assert report.facts["target"] == f"localhost:{thief.port}"
        assert thief.asked == []


def whole(content: bytes, kind: str = "text/event-stream", **more: str) -> Script:
    def script(exchange: Exchange) -> None:
        exchange.head(kind=kind, **more)
        with suppress(OSError):
            exchange.send(content)

    return script


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (whole(b"<html>hello</html>", "text/html"), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b"data: {not json}\n\n"), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b"data: " + b"[" * 100_000 + b"\n\n"), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b"data: " + b"x" * (2 << 20)), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b"data: y\n" * (1 << 18)), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b'data: {"choices": {"a": 1}}\n\n'), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b'data: {"choices":[{"delta":{"content":5}}]}\n\n'), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b'data: {"hello": 1}\n\n'), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(b'data: {"error": {"message": "out of memory"}}\n\n'), ErrorCode.REMOTE_FAILED),
        (whole(b""), ErrorCode.REMOTE_CUT_OFF),
        (whole(b'data: {"choices":[{"delta":{"content":"half"}}]}\n\n'), ErrorCode.REMOTE_CUT_OFF),
        (whole(b"{}", "application/json"), ErrorCode.REMOTE_BAD_ANSWER),
        (whole(gzip.compress(b"data: [DONE]\n\n"), Content_Encoding="gzip"), ErrorCode.REMOTE_BAD_ANSWER),
        (lambda exchange: exchange.send(b"SSH-2.0-OpenSSH_9.7\r\n"), ErrorCode.REMOTE_UNREACHABLE),
        (lambda exchange: exchange.send(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 60_000), ErrorCode.REMOTE_UNREACHABLE),
        (lambda _: None, ErrorCode.REMOTE_UNREACHABLE),
    ],
)  # fmt: skip
def test_a_hostile_or_broken_server_ends_the_answer_with_words(far: Far, script: Script, code: ErrorCode) -> None:
    assert far.fails(script).code is code


def test_text_before_a_broken_end_has_been_delivered(far: Far) -> None:
    far.peer.script = whole(b'data: {"choices":[{"delta":{"content":"half"}}]}\n\n')
    asked = far.ask()
    asked.end()
    assert check_request(asked.events, asked.request.request_id) == "half"


@pytest.mark.parametrize(
    "stream",
    [
        b'data: {"choices":[{"delta":{"content":"a\xff\xfeb"},"finish_reason":"stop"}]}\n\n',
        b'data:{"choices":[{"delta":{"content":"ab"},"finish_reason":"stop"}]}\r\n\r\n',
        b'\xef\xbb\xbf: hi\r\revent: x\rdata: {"choices":[{"delta":{"content":"ab"}}]}\r\rdata: [DONE]\r\r',
        b'data: {"choices":\ndata: [{"delta":{"content":"ab"}}]}\n\n: ping\n\ndata:  [DONE] \n\nrest',
        b'data: {"choices":[{"delta":{"content":"ab"},"finish_reason":"stop"}]}',
        b'data: {"choices":[{"delta":{"content":"a\\u0000b"},"finish_reason":"weird"}]}\n\ndata: [DONE]\n\n',
    ],
)
def test_lawful_streams_of_all_spellings_are_read(far: Far, stream: bytes) -> None:
    far.peer.script = whole(stream)
    end = far.ask().end()
    assert isinstance(end, Finished), end
    assert end.text.replace("\ufffd", "") == "ab"


def test_a_character_that_is_cut_in_two_by_the_network_is_whole(far: Far) -> None:
    def byte_by_byte(exchange: Exchange) -> None:
        exchange.head()
        for byte in 'data: {"choices":[{"delta":{"content":"排序😀"},"finish_reason":"stop"}]}\r\n\r\n'.encode():
            exchange.send(bytes([byte]))

    far.peer.script = byte_by_byte
    end = far.ask().end()
    assert isinstance(end, Finished)
    assert end.text == "排序😀"


def test_a_server_that_does_not_stream_is_understood(far: Far) -> None:
    far.peer.script = lambda exchange: exchange.answer(
        "200 OK",
        {"choices": [{"message": {"content": "whole", "reasoning_content": "hm"}, "finish_reason": "stop"}]},
    )
    end = far.ask().end()
    assert isinstance(end, Finished)
    assert (end.text, end.thinking) == ("whole", "hm")


def stalls_before(exchange: Exchange) -> None:
    exchange.head()
    exchange.wait_for_hangup()


def stalls_after(exchange: Exchange) -> None:
    exchange.head()
    exchange.say("half")
    exchange.wait_for_hangup()


def chatters(exchange: Exchange) -> None:
    """Comments and empty events without end are no life."""
    exchange.head()
    with suppress(OSError):
        while True:
            exchange.send(b": ping\n\n")
            exchange.say("")
            time.sleep(0.02)


def never_answers(exchange: Exchange) -> None:
    exchange.wait_for_hangup()


@pytest.mark.parametrize("script", [stalls_before, stalls_after, chatters, never_answers])
def test_a_server_that_says_nothing_for_too_long_is_given_up(script: Script) -> None:
    with http_peer() as peer:
        hasty = Far(peer, HASTY)
        assert hasty.fails(script).code is ErrorCode.REMOTE_TIMED_OUT
        hasty.client.stop()


def test_a_server_that_is_not_there_is_told_at_once(far: Far) -> None:
    far.peer.close()
    end = far.ask().end()
    assert isinstance(end, Failed)
    assert end.error.code is ErrorCode.REMOTE_UNREACHABLE
    assert end.error.facts["host"] == far.expert.host
    assert far.noted[-1] == end.error


def test_a_certificate_that_nobody_vouches_for_is_not_taken(far: Far) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parent.parent / "fixtures" / "tls" / "self_signed.pem")
    with http_peer(tls=context) as impostor:
        far.expert = replace(far.expert, base_url=impostor.url)
        end = far.ask().end()
        assert isinstance(end, Failed)
        assert end.error.code is ErrorCode.REMOTE_UNREACHABLE
        assert "certificate" in str(end.error.facts["detail"])
        assert impostor.asked == [], "nothing but the handshake was sent"


def test_an_expert_that_is_not_there_any_more_and_a_doubled_id_fail(far: Far) -> None:
    unknown = Asked(far.client, Generate("x", "remote:gone", (PromptMessage(Role.USER, "hi"),))).end()
    assert isinstance(unknown, Failed)
    assert unknown.error.code is ErrorCode.UNKNOWN_EXPERT
    far.peer.script = never_answers
    first = far.ask()
    second = Asked(far.client, first.request)
    assert isinstance(second.wait(Failed), Failed)
    far.client.cancel(first.request.request_id)
    first.end()


def test_stopping_the_client_ends_what_runs_and_what_is_asked_later(far: Far) -> None:
    far.peer.script = stalls_after
    asked = far.ask()
    asked.wait(TextDelta)
    far.client.stop()
    end = asked.end()
    assert isinstance(end, Finished)
    assert (end.text, end.finish_reason) == ("half", FinishReason.CANCELLED)
    late = far.ask().end()
    assert isinstance(late, Finished)
    assert late.finish_reason is FinishReason.CANCELLED


def test_many_answers_at_once_are_not_crossed(far: Far) -> None:
    def echo(exchange: Exchange) -> None:
        exchange.head()
        messages = exchange.json["messages"]
        assert isinstance(messages, list)
        exchange.say(*messages[0]["content"])
        exchange.finish()

    far.peer.script = echo
    asked = [far.ask(f"question {number}") for number in range(24)]
    ends = [one.end() for one in asked]
    assert [end.text for end in ends if isinstance(end, Finished)] == [f"question {n}" for n in range(24)]


def test_neither_key_nor_text_is_logged(far: Far, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "layadesk")
    far.ask("a private matter").end()
    far.fails(lambda exchange: exchange.answer("400 No", {"error": {"message": "you said: a private matter"}}))
    assert KEY not in caplog.text
    assert "private" not in caplog.text


def test_a_look_says_what_is_served_and_a_server_without_a_list_is_there_all_the_same(far: Far) -> None:
    def look() -> tuple[bool | None, tuple[str, ...]]:
        state = far.loop.run(lambda: far.client.look(far.expert)).result(PATIENCE_S)
        return state.is_up, state.models

    far.peer.models = ["big-70b", "other"]
    assert look() == (True, ("big-70b", "other"))
    assert far.peer.looks[0].headers["authorization"] == f"Bearer {KEY}"
    bad: list[Callable[[Exchange], None]] = [
        lambda exchange: exchange.answer("200 OK", {"data": 5}),
        lambda exchange: exchange.answer("401 No", {}),
        lambda exchange: exchange.head(kind="application/json", Content_Length="99999999"),
    ]
    for script in bad:
        far.peer.models = script
        assert look()[0] is False
    far.peer.models = lambda exchange: exchange.answer("404 Not Found", {})
    assert look() == (True, ())


def test_a_test_asks_for_a_tiny_answer_with_a_key_that_is_not_kept_yet(far: Far) -> None:
    probe = Generate("test", "", (PromptMessage(Role.USER, "Say: OK"),), SamplingParams(max_tokens=16))

    found = far.loop.run(lambda: far.client.test(far.expert, "new-key", probe)).result(PATIENCE_S)
    assert (found.state.is_up, found.serves_model, found.said) == (True, False, "Hello")
    assert far.peer.asked[0].headers["authorization"] == "Bearer new-key"
    far.peer.script = lambda exchange: exchange.answer("401 No", {})
    refused = far.loop.run(lambda: far.client.test(far.expert, None, probe)).result(PATIENCE_S)
    assert refused.state.error is not None
    assert refused.state.error.code is ErrorCode.REMOTE_KEY_REFUSED
    assert "authorization" not in far.peer.asked[-1].headers
