"""What is refused of a request before anything is done for it."""

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import Role
from layadesk.engine.sampling import check_sampling
from layadesk.engine.thinking import check_thinking
from layadesk.protocol.commands import Generate


def check_request(request: Generate) -> None:
    """Raise BAD_PARAMETER for what no sampler can do, EMPTY_PROMPT where nothing is asked."""
    check_sampling(request.sampling)
    check_thinking(request.thinking)
    if not any(one.role is Role.USER and one.text.strip() for one in request.messages):
        raise fail(ErrorCode.EMPTY_PROMPT)
