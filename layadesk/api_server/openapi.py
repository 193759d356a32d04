"""The OpenAPI document, made from the types that requests are read with."""

from typing import Any, Final

import msgspec

from layadesk import __version__
from layadesk.api_server.decisions import DecisionRequest
from layadesk.api_server.requests import ChatRequest, CompletionRequest
from layadesk.api_server.response_requests import ResponseRequest

_REF: Final = "#/components/schemas/{name}"
_ERRORS: Final = {
    "400": "no valid JSON, or a prompt longer than the context",
    "401": "API key missing or wrong",
    "403": "Host or Origin not allowed",
    "404": "no such model",
    "408": "the request did not come in time",
    "413": "body too large",
    "422": "a value that is not possible",
    "429": "too many requests are waiting; see Retry-After",
    "500": "a fault of LayaDesk",
    "501": "not offered",
    "503": "no expert can answer now",
}
_POSTS: Final[dict[str, tuple[type[Any], str]]] = {
    "/v1/chat/completions": (ChatRequest, "Answer a chat; `model` auto routes"),
    "/v1/completions": (CompletionRequest, "Go on with a text"),
    "/v1/responses": (ResponseRequest, "Answer, as coding agents ask"),
    "/v1/systemone": (DecisionRequest, "Typed decisions by a Laya checkpoint"),
    "/v1/decisions": (DecisionRequest, "The same"),
}


def openapi() -> dict[str, Any]:
    """The document."""
    kinds = [kind for kind, _ in _POSTS.values()]
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    paths: dict[str, Any] = {
        path: {"post": _operation(words, schema)}
        for (path, (_, words)), schema in zip(_POSTS.items(), schemas, strict=True)
    }
    paths["/v1/embeddings"] = {"post": _operation("Not offered yet: 501", {"type": "object"})}
    paths["/v1/models"] = {"get": _operation("The models there are")}
    paths["/v1/models/{model}"] = {"get": _operation("One of them", parameter="model")}
    paths["/v1/responses/{response_id}"] = {
        "get": _operation("A response that is still kept", parameter="response_id"),
        "delete": _operation("Forget it", parameter="response_id"),
    }
    paths["/health"] = {"get": _operation("Whether the server is there; needs no key")}
    paths["/openapi.json"] = {"get": _operation("This document")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "LayaDesk", "version": __version__},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"key": []}],
    }


def _operation(summary: str, schema: dict[str, Any] | None = None, *, parameter: str | None = None) -> dict[str, Any]:
    answers = {"200": {"description": "the answer"}}
    answers |= {status: {"description": words} for status, words in _ERRORS.items()}
    operation: dict[str, Any] = {"summary": summary, "responses": answers}
    if schema is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if parameter is not None:
        named = {"name": parameter, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        operation["parameters"] = [named]
    return operation
