"""Every failure as an HTTP answer in OpenAI's shape: status, words, code, facts. English, as the wire format is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact

_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_PRIVATE_FACTS: Final = frozenset({"path", "model_id", "app_version"})  # no place of this machine leaves it


class Failure(Exception):
    """An answer that is an error. `facts` are numbers and names a program can use; `param` is the field at fault."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        param: str | None = None,
        facts: Mapping[str, Fact] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.facts = dict(facts or {})
        self.headers = dict(headers or {})

    @property
    def body(self) -> bytes:
        """The JSON object."""
        return json.dumps(self.as_json(), ensure_ascii=False).encode("utf-8", "replace")

    def as_json(self) -> dict[str, Any]:
        """As OpenAI's clients read it."""
        kind = _TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        error: dict[str, Any] = {"message": self.message, "type": kind, "param": self.param, "code": self.code}
        if self.facts:
            error["facts"] = dict(self.facts)
        return {"error": error}


@dataclass(frozen=True, slots=True)
class _Words:
    status: int
    text: str
    is_final: bool = True  # asked again at once it fails again; OpenAI's clients then do not try


_BROKEN_FILE = _Words(503, "The file of the expert {expert} cannot be used ({code}).")
_STORE = _Words(500, "The program could not use its disk ({code}).")
_NOT_HERE = _Words(500, "Something went wrong inside LayaDesk ({code}).")

_WORDS: Final[Mapping[ErrorCode, _Words]] = {
    ErrorCode.NO_EXPERT_INSTALLED: _Words(503, "No expert is installed. Add a model file (GGUF) in LayaDesk."),
    ErrorCode.UNKNOWN_EXPERT: _Words(404, "There is no model {expert}. There are: auto, {known}."),
    ErrorCode.EXPERT_BUSY: _Words(503, "The expert {expert} is busy.", is_final=False),
    ErrorCode.EMPTY_PROMPT: _Words(422, "There is nothing to answer: the last user message is empty or missing."),
    ErrorCode.CONTEXT_LENGTH_EXCEEDED: _Words(
        400, "The prompt has {n_prompt} tokens and the context of the model holds {n_ctx}. Shorten the messages."
    ),
    ErrorCode.TEMPLATE_FAILED: _Words(422, "The chat template of the model does not take these messages: {detail}."),
    ErrorCode.BAD_PARAMETER: _Words(422, "The value {value} of {parameter} is not possible{limits}."),
    ErrorCode.BAD_GRAMMAR: _Words(422, "The answer cannot be bound to this {kind}: {detail}."),
    ErrorCode.DUPLICATE_REQUEST: _Words(500, "The request was given out twice."),
    ErrorCode.QUEUE_FULL: _Words(429, "Too many requests are waiting. Try again in a moment.", is_final=False),
    ErrorCode.OUT_OF_MEMORY: _Words(503, "There was not enough memory for the expert {expert}{bill}."),
    ErrorCode.LOAD_REFUSED: _Words(503, "The expert {expert} does not fit into memory{bill}."),
    ErrorCode.LOAD_PRICE_UNKNOWN: _Words(503, "Nobody can tell whether the expert {expert} fits into memory."),
    ErrorCode.MODEL_LOAD_FAILED: _Words(503, "The expert {expert} could not be loaded."),
    ErrorCode.MODEL_SUSPECT: _Words(503, "The engine died while it was loading {expert}; it is not loaded by itself."),
    ErrorCode.DECODE_FAILED: _Words(500, "The engine could not go on with this answer.", is_final=False),
    ErrorCode.ENGINE_DIED: _Words(503, "The engine stopped in mid-answer. It starts again by itself.", is_final=False),
    ErrorCode.ENGINE_HUNG: _Words(503, "The engine hung and was ended. It starts again by itself.", is_final=False),
    ErrorCode.ENGINE_GAVE_UP: _Words(503, "The engine stopped too often. Start it again in LayaDesk."),
    ErrorCode.ENGINE_BAD_BUILD: _Words(503, "The installed build of llama.cpp does not run on this machine."),
    ErrorCode.PROTOCOL_MISMATCH: _Words(503, "The program and its engine are not of one version."),
    ErrorCode.ROUTER_AWAY: _Words(503, "The router is not there.", is_final=False),
    ErrorCode.ROUTER_MODEL_MISSING: _Words(503, "No decision model is installed: the router's file is missing."),
    ErrorCode.ROUTER_MODEL_DAMAGED: _Words(503, "The decision model cannot be used."),
    ErrorCode.ROUTER_UNKNOWN: _Words(503, "The router of the settings is unknown."),
    ErrorCode.MODEL_FILE_MISSING: _Words(503, "The file of the expert {expert} is not where it was."),
    ErrorCode.MODEL_FILE_UNREADABLE: _BROKEN_FILE,
    ErrorCode.GGUF_EMPTY: _BROKEN_FILE,
    ErrorCode.GGUF_NOT_GGUF: _BROKEN_FILE,
    ErrorCode.GGUF_VERSION: _BROKEN_FILE,
    ErrorCode.GGUF_TRUNCATED: _BROKEN_FILE,
    ErrorCode.GGUF_DAMAGED: _BROKEN_FILE,
    ErrorCode.GGUF_UNKNOWN_ARCHITECTURE: _BROKEN_FILE,
    ErrorCode.GGUF_NOT_CHAT: _BROKEN_FILE,
    ErrorCode.GGUF_NO_VOCABULARY: _BROKEN_FILE,
    ErrorCode.GGUF_SPLIT_INCOMPLETE: _BROKEN_FILE,
    ErrorCode.DATA_DIR_READ_ONLY: _STORE,
    ErrorCode.DISK_FULL: _STORE,
    ErrorCode.DISK_ERROR: _STORE,
    ErrorCode.DATABASE_DAMAGED: _STORE,
    ErrorCode.DATABASE_TOO_NEW: _STORE,
    ErrorCode.DATABASE_BUSY: _STORE,
    ErrorCode.DATABASE_MIGRATION_FAILED: _STORE,
    ErrorCode.INVENTORY_DAMAGED: _STORE,
    ErrorCode.REMOTE_NOT_ALLOWED: _Words(503, "Only remote experts could answer; Auto may not send anything away."),
    ErrorCode.REMOTE_UNREACHABLE: _Words(502, "The server of the remote expert {expert} cannot be reached.", False),
    ErrorCode.REMOTE_TIMED_OUT: _Words(504, "The server of the remote expert {expert} did not answer.", False),
    ErrorCode.REMOTE_KEY_REFUSED: _Words(502, "The server of {expert} does not accept LayaDesk's key for it."),
    ErrorCode.REMOTE_NOT_FOUND: _Words(502, "The server of {expert} does not know its model."),
    ErrorCode.REMOTE_BUSY: _Words(429, "The server of {expert} takes no more requests now.", False),
    ErrorCode.REMOTE_REFUSED: _Words(422, "The server of {expert} refused the request: {detail}."),
    ErrorCode.REMOTE_FAILED: _Words(502, "The server of {expert} failed.", False),
    ErrorCode.REMOTE_BAD_ANSWER: _Words(502, "The server of {expert} sent what is no answer."),
    ErrorCode.REMOTE_CUT_OFF: _Words(502, "The connection to the server of {expert} ended in mid-answer.", False),
    ErrorCode.REMOTE_REDIRECTS: _Words(502, "The server of {expert} sends its visitors elsewhere."),
    ErrorCode.ATTACHMENT_UNREADABLE: _Words(422, "A file cannot be read as text ({detail}): text, code or PDF."),
    ErrorCode.INTERNAL: _NOT_HERE,
}


def failure_of(report: ErrorReport, *, expert: str | None = None, retry_after_s: int | None = None) -> Failure:
    """The HTTP answer to a failed request. Codes that no request can end in are 500."""
    words = _WORDS.get(report.code, _NOT_HERE)
    facts = {name: value for name, value in report.facts.items() if name not in _PRIVATE_FACTS}
    headers = {"x-should-retry": "false"} if words.is_final else {"retry-after": str(retry_after_s or 1)}
    param = "model" if report.code is ErrorCode.UNKNOWN_EXPERT else None
    if report.code is ErrorCode.BAD_PARAMETER:
        param = str(facts.get("parameter"))
    code = "model_not_found" if report.code is ErrorCode.UNKNOWN_EXPERT else str(report.code)
    text = words.text.format_map(_Filled(report, expert))
    return Failure(words.status, code, text, param, facts, headers)


class _Filled(dict[str, str]):
    """Facts as words; one that is missing reads "?"."""

    def __init__(self, report: ErrorReport, expert: str | None) -> None:
        facts = report.facts
        super().__init__({name: str(value) for name, value in facts.items() if name not in _PRIVATE_FACTS})
        self.setdefault("expert", expert or "?")
        self["code"] = str(report.code)
        low, high = facts.get("minimum"), facts.get("maximum")
        self["limits"] = f"; it may be {low} to {high}" if None not in (low, high) else ""
        needs, free = facts.get("needs_bytes"), facts.get("free_bytes")
        both = isinstance(needs, int) and isinstance(free, int)
        self["bill"] = f": it needs {_gib(needs)} and {_gib(free)} are free" if both else ""

    def __missing__(self, name: str) -> str:
        return "?"


def _gib(n_bytes: Fact) -> str:
    return f"{float(n_bytes or 0) / 2**30:.1f} GiB"
