"""The routes. First file to read: from a request to an order for the use case, and back through `exchange.py`."""

import asyncio
import hashlib
import uuid
from typing import Any, Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from layadesk.api_server.answers import OpenAnswers
from layadesk.api_server.body import read_body, read_message_body
from layadesk.api_server.decisions import Decisions
from layadesk.api_server.exchange import Exchange, Handler, guarded
from layadesk.api_server.failures import Failure
from layadesk.api_server.file_threads import FileThreads
from layadesk.api_server.gate import note_of
from layadesk.api_server.openapi import openapi
from layadesk.api_server.requests import (
    ChatRequest,
    CompletionRequest,
    Sampled,
    messages_of,
    read_json,
    sampling_of,
    thinking_of,
    tools_of,
    with_question,
)
from layadesk.api_server.response_requests import ResponseRequest
from layadesk.api_server.responses import Responses
from layadesk.api_server.shapes import ChatShape, CompletionShape
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import PromptMessage, Role, SamplingParams, ThinkingParams, ToolUse
from layadesk.usecases.answer_order import AnswerOrder, clean_text
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.decide import Decide
from layadesk.usecases.expert_pool import ExpertPool

AUTO: Final = ("auto", "laya-router")


class Application:
    """The ASGI application behind the gate."""

    def __init__(self, answers: AnswerRequest, pool: ExpertPool, decide: Decide) -> None:
        decisions = Decisions(decide)
        self._pool = pool
        self._open = OpenAnswers(answers)
        self._exchange = Exchange(self._open)
        self._files = FileThreads()
        responses = Responses(self._exchange, pool, self._order, self._files)
        handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/health"): _health,
            ("GET", "/openapi.json"): _openapi,
            ("GET", "/v1/models"): self._models,
            ("GET", "/v1/models/{model:path}"): self._model,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/completions"): self._complete,
            ("POST", "/v1/embeddings"): _embed,
            ("POST", "/v1/responses"): responses.create,
            ("GET", "/v1/responses/{response_id}"): responses.show,
            ("DELETE", "/v1/responses/{response_id}"): responses.forget,
            ("POST", "/v1/systemone"): decisions,
            ("POST", "/v1/decisions"): decisions,
        }
        routes = [Route(path, guarded(path, run), methods=[method]) for (method, path), run in handlers.items()]
        self._app = Starlette(routes=routes, exception_handlers={HTTPException: _no_route})
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._app(scope, receive, send)

    def stop(self) -> None:
        """End all answers; any thread."""
        self._open.cancel_all()

    async def _chat(self, request: Request) -> Response:
        body = await read_message_body(request)
        asked = read_json(body, ChatRequest)
        sampling, thinking = sampling_of(asked, self._pool.sampling()), thinking_of(asked)
        messages = await self._files.run(body, lambda: messages_of(asked))
        order = self._order(request, asked, messages, sampling=sampling, thinking=thinking, tools=tools_of(asked))
        shape = ChatShape(usage=_wants_usage(asked), details=asked.layadesk)
        return await self._exchange.respond(request, order, shape, model=asked.model, stream=bool(asked.stream))

    async def _complete(self, request: Request) -> Response:
        asked = read_json(await read_body(request), CompletionRequest)
        prompt = clean_text(asked.prompt if isinstance(asked.prompt, str) else asked.prompt[0])
        sampling = sampling_of(asked, self._pool.sampling())
        order = self._order(request, asked, (PromptMessage(Role.USER, prompt),), sampling=sampling, is_raw=True)
        shape = CompletionShape(usage=_wants_usage(asked), details=asked.layadesk)
        return await self._exchange.respond(request, order, shape, model=asked.model, stream=bool(asked.stream))

    def _order(
        self,
        request: Request,
        asked: ChatRequest | CompletionRequest | ResponseRequest,
        messages: tuple[PromptMessage, ...],
        *,
        sampling: SamplingParams,
        thinking: ThinkingParams | None = None,
        tools: ToolUse | None = None,
        is_raw: bool = False,
    ) -> AnswerOrder:
        return AnswerOrder(
            uuid.uuid4().hex,
            with_question(messages),
            sampling,
            picked=None if asked.model in AUTO else asked.model,
            second_opinion=False if is_raw or tools is not None else None,
            thinking=thinking,
            tools=tools,
            client=_client_of(request, asked.user),
            may_restart=not asked.stream,
            keeps_all=True,
            is_raw=is_raw,
        )

    async def _models(self, _: Request) -> Response:
        found = await asyncio.to_thread(self._all_models)
        return JSONResponse({"object": "list", "data": found})

    async def _model(self, request: Request) -> Response:
        wanted = request.path_params["model"]
        found = await asyncio.to_thread(self._all_models)
        for one in found:
            if one["id"] == wanted:
                return JSONResponse(one)
        known = ", ".join(one["id"] for one in found if one["id"] not in AUTO)
        raise fail(ErrorCode.UNKNOWN_EXPERT, expert=wanted[:80], known=known)

    def _all_models(self) -> list[dict[str, Any]]:
        """Those that route, and every expert of the pool; inside, what only LayaDesk can say."""
        routing = [{"id": name, "object": "model", "created": 0, "owned_by": "layadesk"} for name in AUTO]
        experts = [
            {
                "id": one.model_id,
                "object": "model",
                "created": 0,
                "owned_by": one.host or "local",
                "layadesk": {"loaded": one.is_loaded, "n_ctx": one.n_ctx, "out": one.out},
            }
            for one in self._pool.candidates()
        ]
        return routing + experts


def _wants_usage(asked: Sampled) -> bool:
    return asked.stream_options is not None and asked.stream_options.include_usage


def _client_of(request: Request, user: str | None) -> str:
    """Among whom turns are shared: what the program calls its user, else the program and where it runs."""
    name = f"{note_of(request.scope).client} {user or ''}"
    return (
        f"http {hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:16]}"  # a user's name is not ours to keep
    )


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _openapi(_: Request) -> Response:
    return JSONResponse(openapi())


async def _embed(request: Request) -> Response:
    await read_body(request)
    words = "Embeddings are not offered: there is no expert for them yet."
    raise Failure(501, "not_implemented", words, headers={"x-should-retry": "false"})


async def _no_route(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    words = {
        404: "There is nothing at this address; a base URL ends in /v1 and nothing else.",
        405: "This address does not take that method.",
    }
    failure = Failure(error.status_code, "not_found", words.get(error.status_code, error.detail))
    return Response(failure.body, failure.status, error.headers, "application/json")
