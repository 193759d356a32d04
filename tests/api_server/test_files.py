"""Files in messages become text; what is no text is refused in words, and harms nobody else."""

import asyncio
import base64
import json
import threading
from typing import Any

import openai
import pytest

from layadesk.api_server import body as body_limits
from layadesk.api_server import file_threads
from layadesk.api_server.failures import Failure
from layadesk.api_server.file_threads import N_AT_ONCE, FileThreads
from layadesk.api_server.parts import FILE_MARK
from tests.fakes.pdf import one_page
from tests.fakes.served import Served

CHAT = "/v1/chat/completions"


def sent(content: bytes, name: str = "a.txt", kind: str = "text/plain") -> dict[str, Any]:
    data = f"data:{kind};base64,{base64.b64encode(content).decode()}"
    return {"type": "file", "file": {"filename": name, "file_data": data}}


def asked(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": list(parts)}]


def test_a_text_file_is_read_before_what_was_said(echo: Served) -> None:
    messages = asked(sent("食谱".encode(), "C:\\mine\\a.txt"), {"type": "text", "text": "What is it?"})
    answer = echo.client().chat.completions.create(model="tiny", messages=messages)
    assert answer.choices[0].message.content == "[a.txt]\n```\n食谱\n```\nWhat is it?"


def test_a_pdf_is_read_too(echo: Served) -> None:
    messages = asked(sent(one_page("Hello from a page"), "a.pdf", "application/pdf"))
    answer = echo.client().chat.completions.create(model="tiny", messages=messages)
    assert "Hello from a page" in answer.choices[0].message.content


def test_responses_take_files_under_their_own_name(echo: Served) -> None:
    part = {"type": "input_file", **sent(b"x = 1\n", "a.py")["file"]}
    question = {"type": "input_text", "text": "What is it?"}
    answer = echo.client().responses.create(model="tiny", input=asked(part, question))
    assert answer.output_text == "[a.py]\n```\nx = 1\n```\nWhat is it?"


@pytest.mark.parametrize(
    "part",
    [
        sent(b"\x89PNG\x00\x00"),
        sent(b"%PDF-1.4 broken"),
        sent(b" "),
        {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain,hello"}},
        {"type": "file", "file": {"filename": "a.txt", "file_data": "§"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "input_file", "file_url": "http://example.com/a.txt"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ],
    ids=str,
)
def test_what_is_no_text_is_422(echo: Served, part: dict[str, Any]) -> None:
    with pytest.raises(openai.UnprocessableEntityError):
        echo.client().chat.completions.create(model="tiny", messages=asked(part))


def test_a_body_with_files_may_be_larger_and_not_without_end(echo: Served) -> None:
    def status(n_bytes: int) -> tuple[int, str]:
        body = {"model": "tiny", "messages": asked(sent(b"hello " * (n_bytes // 6)))}
        found, answer = echo.post(CHAT, json.dumps(body).encode())
        return found, answer["error"]["code"]

    assert status(body_limits.MAX_BODY_BYTES) == (422, "attachment_unreadable")  # read, and more than any context holds
    assert status(body_limits.MAX_FILES_BODY_BYTES) == (413, "request_too_large")


def test_a_file_that_is_never_read_through_ends_its_own_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_threads, "FILES_S", 0.05)
    goes_on = threading.Event()

    async def ask() -> None:
        files = FileThreads()
        for _ in range(N_AT_ONCE + 1):  # the last one finds no free place
            with pytest.raises(Failure) as refused:
                await files.run(FILE_MARK, goes_on.wait)
            assert (refused.value.status, refused.value.code) == (422, "file_timeout")
        assert await files.run(b"no file", lambda: "at once") == "at once"
        goes_on.set()
        monkeypatch.setattr(file_threads, "FILES_S", 30.0)  # enough for the threads to leave their places
        assert await files.run(FILE_MARK, lambda: "again") == "again"

    try:
        asyncio.run(ask())
    finally:
        goes_on.set()
