"""Requests that mean harm, or come from a broken program: each is refused with its code, and the server lives."""

import socket
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from layadesk.api_server import body as body_limits
from layadesk.api_server import connection
from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.settings import definitions
from tests.fakes.served import Served, answer_of, served

CHAT = "/v1/chat/completions"
HELLO = b'{"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}'


@pytest.fixture(autouse=True)
def lives(echo: Served) -> Iterator[None]:
    """After each of these tests the next client is answered."""
    yield
    assert echo.post(CHAT, HELLO)[0] == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"{", 400, "invalid_json"),
        (b"[" * 100_000, 422, "invalid_value"),
        (b'{"model": "tiny", "messages": ' + b"[" * 50_000, 422, "invalid_value"),
        (b'{"x": ' + b'{"x": ' * 50_000, 400, "invalid_json"),
        (b'{"model": "tiny", "messages": [{"role": "user", "content": "\xff\xfe"}]}', 400, "invalid_json"),
        (b'{"model": "tiny", "messages": [{"role": "user", "content": "\\ud800"}]}', 400, "invalid_json"),
        (b'{"model": "../../etc/passwd", "messages": [{"role": "user", "content": "x"}]}', 404, "model_not_found"),
        (b"x" * (body_limits.MAX_BODY_BYTES + 1), 413, "request_too_large"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_bad_body_is_refused_with_its_code(echo: Served, body: bytes, status: int, code: str) -> None:
    found, answer = echo.post(CHAT, body)
    assert (found, answer["error"]["code"]) == (status, code)


def test_a_schema_as_deep_as_no_schema_is_422(echo: Served) -> None:
    deep = b'{"a":' * 200 + b"1" + b"}" * 200
    body = HELLO[:-1] + b', "response_format": {"type": "json_schema", "json_schema": {"schema": ' + deep + b"}}}"
    assert echo.post(CHAT, body)[0] == 422


def test_a_body_without_a_length_is_counted_while_it_comes(echo: Served) -> None:
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    piece = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    status, answer = answer_of(echo.raw(head, piece, piece, piece, b"0\r\n\r\n"))
    assert (status, answer["error"]["code"]) == (413, "request_too_large")


def test_a_client_that_sends_all_before_it_listens_hears_that_it_is_too_much(echo: Served) -> None:
    text = "x" * (body_limits.MAX_BODY_BYTES * 4)
    with pytest.raises(openai.APIStatusError) as refusal:
        echo.client().chat.completions.create(model="tiny", messages=[{"role": "user", "content": text}])
    assert refusal.value.status_code == 413
    asks = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30000000\r\nExpect: 100-continue\r\n\r\n"
    assert answer_of(echo.raw(asks.encode()))[0] == 413


def test_bodies_that_together_are_too_large_are_429_until_the_others_have_gone(
    echo: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_limits, "MAX_ALL_BYTES", 2**20)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n".encode()
    padding = b" " * 600_000
    with socket.create_connection(("127.0.0.1", echo.port)) as first:
        first.sendall(head + padding)  # and the rest does not come
        while (refusal := echo.post(CHAT, padding + HELLO))[0] == 200:
            pass  # the first has not arrived yet
        assert (refusal[0], refusal[1]["error"]["code"]) == (429, "queue_full")
        assert echo.post(CHAT, HELLO)[0] == 200
    while echo.post(CHAT, padding + HELLO)[0] != 200:
        pass  # that it has gone is not known yet


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("localhost:1234", 200),
        ("[::1]:8000", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("192.168.0.7", 403),
        ("", 403),
    ],
)
def test_the_name_that_was_asked_for_must_be_ours(echo: Served, host: str, status: int) -> None:
    raw = echo.raw(f"GET /v1/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    assert answer_of(raw)[0] == status


def test_a_web_page_may_not_ask_unless_it_is_named(echo: Served) -> None:
    status, answer = echo.post(CHAT, HELLO, Origin="https://evil.example")
    assert (status, answer["error"]["code"]) == (403, "origin_not_allowed")
    assert echo.post(CHAT, HELLO, Origin="null")[0] == 403
    head = b"OPTIONS /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    raw = echo.raw(head + b"Origin: https://e.vil\r\n\r\n")
    assert b"access-control" not in raw.lower()


def test_headers_without_end_are_431_and_broken_http_is_400(echo: Served) -> None:
    start = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"x" * connection.MAX_HEAD_BYTES
    assert answer_of(echo.raw(start, b"x" * 1000, pause_s=0.05))[0] == 431
    assert answer_of(echo.raw(start + b"\r\n\r\n"))[0] == 431
    assert answer_of(echo.raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"))[0] == 400


def test_a_head_that_drips_in_is_408(echo: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_S", 0.3)
    status, answer = answer_of(echo.raw(b"GET /v1/mod", b"els HTTP", b"/1.1\r\n", b"Host", pause_s=0.1))
    assert (status, answer["error"]["code"]) == (408, "request_timeout")


def test_a_body_that_drips_in_is_408(echo: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limits, "BODY_S", 0.3)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n".encode()
    status, answer = answer_of(echo.raw(head, b"{", b" ", pause_s=0.1))
    assert (status, answer["error"]["code"]) == (408, "request_timeout")


def test_a_key_that_was_made_is_asked_for_and_only_its_hash_is_kept(tmp_path: Path) -> None:
    with served(tmp_path) as running:
        key = running.core.serve.new_key()
        assert running.core.serve.status.port == running.port  # where it was
        assert key not in running.core.paths.server_key.read_text("utf-8")
        assert [model.id for model in running.client(key).models.list()][-1] == "tiny"
        for wrong in ("none", key[:-1], key + "x"):
            with pytest.raises(openai.AuthenticationError, match="API key"):
                running.client(wrong).models.list()
        assert running.post(CHAT, HELLO, Authorization="Bearer ключ")[0] == 401
        assert answer_of(running.raw(b"GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n"))[0] == 200
        running.core.serve.forget_key()
        assert running.client("none").models.list().data


def test_another_address_needs_a_key(tmp_path: Path) -> None:
    with served(tmp_path) as running:
        serve = running.core.serve
        serve.stop()
        with pytest.raises(LayaDeskError) as refusal:
            serve.start(host="0.0.0.0", port=0)
        assert refusal.value.code is ErrorCode.API_KEY_NEEDED
        key = serve.new_key()
        port = serve.start(host="0.0.0.0", port=0).port
        assert openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=key).models.list().data
        serve.forget_key()
        assert serve.status.error is not None  # and it does not listen there any more


def test_a_page_that_is_named_may_ask_also_beforehand(tmp_path: Path) -> None:
    page = "http://localhost:3000"
    with served(tmp_path) as running:
        serve = running.core.serve
        serve.stop()
        running.core.settings.set(definitions.SERVER_ORIGINS, f"{page}, http://other")
        serve.new_key()
        serve.start(port=running.port)
        before = running.raw(
            f"OPTIONS {CHAT} HTTP/1.1\r\nHost: localhost\r\nOrigin: {page}\r\nConnection: close\r\n"
            "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Private-Network: true\r\n\r\n".encode()
        ).lower()
        assert before.startswith(b"http/1.1 204")
        for header in (
            f"allow-origin: {page}",
            "allow-private-network: true",
            "allow-methods: get, post",
        ):
            assert f"access-control-{header}".encode() in before
        assert running.post(CHAT, HELLO, Origin=page)[0] == 401
