"""Failures come in OpenAI's shape, as the exception classes of its client, and harm no other request."""

import re

import openai
import pytest

from layadesk.api_server.failures import failure_of
from layadesk.domain.errors import ErrorCode, ErrorReport, Fact
from tests.fakes.served import Served

HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("code", ErrorCode)
def test_every_code_has_a_status_and_words(code: ErrorCode) -> None:
    facts: dict[str, Fact] = {
        "expert": "e",
        "needs_bytes": 3 * 2**30,
        "free_bytes": 2**30,
        "path": "/home/someone/model.gguf",
    }
    failure = failure_of(ErrorReport(code, facts))
    assert 400 <= failure.status < 600
    assert not re.search(r"[{}]", failure.message)
    assert b"/home" not in failure.body


def test_a_refused_load_comes_with_its_bill() -> None:
    bill: dict[str, Fact] = {"expert": "big", "needs_bytes": 3 * 2**30, "free_bytes": 2**30, "device": "CPU"}
    failure = failure_of(ErrorReport(ErrorCode.LOAD_REFUSED, bill))
    assert failure.status == 503
    assert "needs 3.0 GiB and 1.0 GiB are free" in failure.message
    assert failure.facts["needs_bytes"] == 3 * 2**30
    assert failure.headers["x-should-retry"] == "false"


def test_an_unknown_model_is_404_with_those_there_are(echo: Served) -> None:
    with pytest.raises(openai.NotFoundError) as error:
        echo.client().chat.completions.create(model="gpt-9", messages=HELLO)
    assert error.value.code == "model_not_found"
    assert "tiny" in error.value.message


def test_too_long_a_prompt_is_400_with_both_numbers(echo: Served) -> None:
    for stream in (False, True):
        with pytest.raises(openai.BadRequestError) as error:
            echo.client().chat.completions.create(
                model="tiny", messages=[*HELLO, {"role": "user", "content": "x" * 3000}], stream=stream
            )
        assert error.value.code == "context_length_exceeded"
        assert isinstance(error.value.body, dict)
        assert error.value.body["facts"]["n_ctx"] == 2048
        assert error.value.body["facts"]["n_prompt"] > 3000


def test_nothing_of_a_chat_is_left_out_without_a_word(echo: Served) -> None:
    turns = [{"role": role, "content": role * 40} for _ in range(6) for role in ("user", "assistant")]
    with pytest.raises(openai.BadRequestError, match="2048"):
        echo.client().chat.completions.create(model="tiny", messages=[*turns, *HELLO])


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": []},
        {"messages": [{"role": "user", "content": " "}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]},
        {"messages": "hello"},
        {"temperature": -1},
        {"temperature": "hot"},
        {"top_p": 7},
        {"max_tokens": 0},
        {"n": 2},
        {"logprobs": True},
        {"logit_bias": {"x": 1}},
        {"stop": ["x" * 2000]},
        {"response_format": {"type": "json_schema"}},
    ],
    ids=str,
)
def test_a_value_that_is_not_possible_is_422(echo: Served, fields: dict[str, object]) -> None:
    with pytest.raises(openai.UnprocessableEntityError):
        echo.client().chat.completions.create(**{"model": "tiny", "messages": HELLO, **fields})


def test_embeddings_are_501_in_words(echo: Served) -> None:
    with pytest.raises(openai.InternalServerError, match="Embeddings") as error:
        echo.client().embeddings.create(model="tiny", input="x")
    assert error.value.status_code == 501


@pytest.mark.parametrize(("path", "method", "status"), [("/v1/x", "GET", 404), ("/v1/models", "PUT", 405)])
def test_what_is_not_there_is_said_in_the_same_shape(echo: Served, path: str, method: str, status: int) -> None:
    raw = echo.raw(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert raw.startswith(f"HTTP/1.1 {status}".encode())
    assert b'"error"' in raw


def test_a_base_url_without_its_end_is_told_where_the_api_is(echo: Served) -> None:
    client = echo.client().with_options(base_url=f"http://127.0.0.1:{echo.port}")
    with pytest.raises(openai.NotFoundError, match="base URL ends in /v1"):
        client.models.list()
