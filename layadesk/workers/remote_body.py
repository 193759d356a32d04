"""A request of ours in OpenAI's words."""

import json
from typing import Any

from layadesk.domain.context_budget import answer_reserve, estimate_tokens, fit_messages, without_oldest
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import PromptMessage, SamplingParams, ThinkingParams, message_as_openai
from layadesk.domain.remote import RemoteExpert
from layadesk.protocol.commands import Generate
from layadesk.workers.remote_calls import tools_in_body


def messages_that_fit(request: Generate, expert: RemoteExpert) -> tuple[tuple[PromptMessage, ...], int]:
    """The messages to send and how many of the oldest were left out, by an estimate; all where `n_ctx` is not known,
    and where nothing may be left out: then the server counts, and says so.

    Raises CONTEXT_LENGTH_EXCEEDED, and BAD_PARAMETER for a text without a template: a chat address takes none.
    """
    if request.is_raw:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="model", value=request.model_id, detail="it only chats")
    if expert.n_ctx is None or request.keeps_all:
        return request.messages, 0
    reserve = answer_reserve(expert.n_ctx, request.sampling.max_tokens)
    n_dropped = fit_messages(
        request.messages,
        lambda messages: sum(estimate_tokens(one.text) for one in messages),
        n_ctx=expert.n_ctx,
        reserve=reserve,
    )
    return tuple(without_oldest(request.messages, n_dropped)), n_dropped


def body_of(
    request: Generate, expert: RemoteExpert, messages: tuple[PromptMessage, ...], *, is_plain: bool = False
) -> dict[str, Any]:
    """The JSON to post. Only what was asked for is in it, so that the server's own defaults hold for the rest.

    `is_plain`: with nothing but what every such server takes and what binds the answer, for a second try after one that
    was refused. Raises BAD_GRAMMAR for a schema that is no JSON.
    """
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": expert.model,
        "messages": [message_as_openai(one) for one in messages],
        "stream": True,
        **tools_in_body(request.tools),
    }
    body |= _given(
        stop=list(sampling.stop) or None,
        response_format=_response_format(sampling),
        grammar=sampling.grammar,
    )
    if is_plain:
        return body | _given(max_completion_tokens=sampling.max_tokens)
    body |= {"stream_options": {"include_usage": True}}
    body |= _given(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=sampling.seed,
        presence_penalty=sampling.presence_penalty,
        frequency_penalty=sampling.frequency_penalty or None,
        reasoning_effort=request.thinking.effort,
    )
    body |= _given(  # OpenAI's own API refuses these; llama.cpp, vLLM and their like take them
        top_k=sampling.top_k,
        min_p=sampling.min_p,
        repeat_penalty=sampling.repeat_penalty,
        typical_p=None if sampling.typical_p == 1.0 else sampling.typical_p,
        chat_template_kwargs=_template_words(request.thinking),
    )
    if request.continues:  # as vLLM wants it; llama.cpp goes on with a last message of the assistant by itself
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _response_format(sampling: SamplingParams) -> dict[str, Any] | None:
    if sampling.json_schema is None:
        return None
    try:
        schema = json.loads(sampling.json_schema)
    except (ValueError, RecursionError) as error:
        raise fail(ErrorCode.BAD_GRAMMAR, kind="JSON schema", detail=str(error)) from error
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": True}}


def _template_words(thinking: ThinkingParams) -> dict[str, Any] | None:
    return None if thinking.enabled is None else {"enable_thinking": thinking.enabled}
