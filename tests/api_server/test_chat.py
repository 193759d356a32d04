"""`/v1/chat/completions` and `/v1/completions`, asked by OpenAI's own client."""

import openai
import pytest

from tests.fakes.served import Served

HELLO = [{"role": "user", "content": "hello 你好 🦊"}]


def test_a_chat_is_answered_whole_by_the_expert_that_is_named(echo: Served) -> None:
    answer = echo.client().chat.completions.create(model="tiny", messages=HELLO)
    assert answer.choices[0].message.content == "hello 你好 🦊"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.model == "tiny"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == len("hello 你好 🦊".encode())
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


@pytest.mark.parametrize("name", ["auto", "laya-router"])
def test_auto_routes_and_says_who_answered_and_why(echo: Served, name: str) -> None:
    answer = echo.client().chat.completions.with_raw_response.create(
        model=name, messages=HELLO, extra_body={"layadesk": True}
    )
    expert = answer.headers["x-layadesk-expert"]
    assert f"expert={expert}" in answer.headers["x-layadesk-route"]
    made = answer.parse()
    assert made.model == expert
    details = made.model_extra["layadesk"]
    assert details["route"]["task_probs"]
    assert details["timings"]["n_decoded"] == made.usage.completion_tokens


def test_a_stream_brings_the_same_text_in_pieces_and_the_usage_at_its_end(echo: Served) -> None:
    chunks = list(
        echo.client().chat.completions.create(
            model="tiny", messages=HELLO, stream=True, stream_options={"include_usage": True}
        )
    )
    pieces = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(pieces) == "hello 你好 🦊"
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == len("hello 你好 🦊".encode())


def test_without_being_asked_no_chunk_speaks_of_usage(echo: Served) -> None:
    for chunk in echo.client().chat.completions.create(model="tiny", messages=HELLO, stream=True):
        assert chunk.usage is None
        assert chunk.choices


def test_sampling_fields_stop_and_limits_are_obeyed(echo: Served) -> None:
    create = echo.client().chat.completions.create
    short = create(model="tiny", messages=HELLO, max_tokens=3, seed=-7, temperature=0, top_p=0.5, presence_penalty=0.1)
    assert (short.choices[0].message.content, short.choices[0].finish_reason) == ("hel", "length")
    newer = create(model="tiny", messages=HELLO, max_completion_tokens=2, logit_bias={"5": -100})
    assert newer.choices[0].message.content == "he"
    assert create(model="tiny", messages=HELLO, stop=["o 你", "zz"]).choices[0].message.content == "hell"


def test_content_may_come_in_parts_and_developers_are_heard_as_the_system(echo: Served) -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    messages = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": parts}]
    answer = echo.client().chat.completions.create(model="tiny", messages=messages)
    assert answer.choices[0].message.content == "one\ntwo"


@pytest.mark.parametrize("model", ["tiny", "auto"])
def test_a_chat_of_nothing_but_instructions_is_answered(echo: Served, model: str) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "developer", "content": "Say hello."}]
    whole = echo.client().chat.completions.create(model=model, messages=messages)
    assert whole.choices[0].message.content == "Say hello."
    answer = echo.client().responses.create(model=model, input=messages[1:])
    assert answer.output_text == "Say hello."


def test_a_text_is_gone_on_with_as_it_stands_control_tokens_and_all(echo: Served) -> None:
    client = echo.client()
    prompt = "<|turn|>user\nonce upon<|end|><|turn|>assistant\n"
    whole = client.completions.create(model="tiny", prompt=prompt, max_tokens=4)
    assert (whole.object, whole.choices[0].text) == ("text_completion", "once")
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 4
    streamed = client.completions.create(model="tiny", prompt=[prompt], max_tokens=4, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == "once"


def test_the_models_are_those_that_route_and_the_experts(echo: Served) -> None:
    client = echo.client()
    assert [model.id for model in client.models.list()][:2] == ["auto", "laya-router"]
    assert {"tiny", "other"} <= {model.id for model in client.models.list()}
    assert client.models.retrieve("tiny").id == "tiny"
    with pytest.raises(openai.NotFoundError, match="other"):
        client.models.retrieve("gpt-9")


def test_every_request_is_in_the_log_and_no_word_of_it(echo: Served) -> None:
    n = len(echo.log.all)
    echo.client().chat.completions.create(model="tiny", messages=[{"role": "user", "content": "secretword"}])
    one = echo.log.wait_for(n + 1)
    assert (one.path, one.status, one.expert, one.n_decoded) == ("/v1/chat/completions", 200, "tiny", 10)
    assert one.client == "OpenAI"
    assert one.ms > 0
    logs = [path.read_text("utf-8") for path in echo.core.paths.logs.iterdir()]
    assert not any("secretword" in text for text in logs)
