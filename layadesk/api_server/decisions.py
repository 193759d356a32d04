"""`POST /v1/systemone` and its alias `/v1/decisions`: typed decisions, as a client of Jev asks for them."""

import asyncio
from typing import Annotated, Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from layadesk.api_server.answers import while_connected
from layadesk.api_server.body import read_body
from layadesk.api_server.failures import Failure
from layadesk.api_server.requests import check_depth, read_json
from layadesk.usecases.decide import Decide

_OPTIONS = (2, 100)
_LEVELS = (2, 10)
_TRUE_FALSE = {"true", "false"}


class Question(msgspec.Struct):
    """One question. `criteria` are the options of a choice, the levels of a score, what true and false mean."""

    type: Literal["choice", "score", "noul"]
    instructions: str | dict[str, Any] | list[Any] | None = None
    criteria: dict[str, str | None] | list[str] | None = None


class DecisionRequest(msgspec.Struct):
    """`model` begins with `jev-` or `laya`; there is one, and it answers."""

    model: Annotated[str, msgspec.Meta(pattern=r"^(jev-|laya)[A-Za-z0-9:@._-]*$", max_length=128)]
    state: str | dict[str, Any] | list[Any]
    questions: Annotated[dict[str, Question], msgspec.Meta(min_length=1, max_length=64)]


class Decisions:
    """The handler of the route."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide

    async def __call__(self, request: Request) -> Response:
        """Answer, 422 for what cannot be asked, 503 where no Laya checkpoint is installed."""
        asked = read_json(await read_body(request), DecisionRequest)
        _check(asked)
        state, questions = msgspec.json.encode(asked.state).decode(), msgspec.json.encode(asked.questions).decode()
        answer = await while_connected(request.receive, _result(self._decide, state, questions))
        return Response(answer, 200, None, "application/json")


async def _result(decide: Decide, state: str, questions: str) -> str:
    return await asyncio.wrap_future(decide(state, questions))


def _check(asked: DecisionRequest) -> None:
    if not asked.state:
        raise Failure(422, "invalid_value", "There is no state to decide about.", "state")
    check_depth(asked.state, "state")
    for name, question in asked.questions.items():
        place = f"questions.{name[:40]}"
        check_depth(question.instructions, place)
        n = len(question.criteria or ())
        if question.type == "choice" and not (isinstance(question.criteria, dict) and _within(n, _OPTIONS)):
            raise Failure(422, "invalid_value", "A choice has criteria: an object of 2 to 100 options.", place)
        if question.type == "score" and not (isinstance(question.criteria, list) and _within(n, _LEVELS)):
            raise Failure(422, "invalid_value", "A score has criteria: an array of 2 to 10 levels.", place)
        known = isinstance(question.criteria, dict) and set(question.criteria) <= _TRUE_FALSE
        if question.type == "noul" and not (question.criteria is None or known):
            raise Failure(422, "invalid_value", "The criteria of a noul say what true and false mean.", place)


def _within(n: int, limits: tuple[int, int]) -> bool:
    return limits[0] <= n <= limits[1]
