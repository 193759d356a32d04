"""What is refused of a request before anything is done for it."""

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import Role
from layadesk.engine.sampling import check_sampling
from layadesk.engine.thinking import check_thinking
from layadesk.protocol.commands import Generate


def check_request(request: Generate) -> None:
    """Raise BAD_PARAMETER for what no sampler can do, EMPTY_PROMPT where nothing is asked, and CANNOT_CONTINUE."""
    check_sampling(request.sampling)
    check_thinking(request.thinking)
    if request.continues:
        check_continuation(request)
    if not any(one.role is Role.USER and one.text.strip() for one in request.messages):
        raise fail(ErrorCode.EMPTY_PROMPT)


def check_continuation(request: Generate) -> None:
    """Raise CANNOT_CONTINUE where there is no answer to go on with, or one that a grammar binds from its beginning."""
    if not request.messages or request.messages[-1].role is not Role.ASSISTANT:
        raise fail(ErrorCode.CANNOT_CONTINUE, reason="no answer")
    if request.sampling.grammar is not None or request.sampling.json_schema is not None:
        raise fail(ErrorCode.CANNOT_CONTINUE, reason="grammar")
