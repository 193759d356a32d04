"""`/v1/responses`: the interface of coding agents. What may be gone on with is kept in memory, nowhere else."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from layadesk.api_server.body import read_message_body
from layadesk.api_server.exchange import Exchange
from layadesk.api_server.failures import Failure
from layadesk.api_server.file_threads import FileThreads
from layadesk.api_server.made import Made
from layadesk.api_server.requests import read_json
from layadesk.api_server.response_requests import (
    ResponseRequest,
    input_messages,
    response_sampling,
    response_thinking,
    response_tools,
    with_instructions,
)
from layadesk.api_server.response_shape import ResponseShape
from layadesk.domain.inference import PromptMessage, Role
from layadesk.usecases.answer_order import AnswerOrder
from layadesk.usecases.expert_pool import ExpertPool

MAX_KEPT: Final = 200
MAX_KEPT_CHARS: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class _Kept:
    response: dict[str, Any]
    messages: tuple[PromptMessage, ...]

    @property
    def n_chars(self) -> int:
        return sum(len(one.text) for one in self.messages)


class KeptResponses:
    """The last responses, as far as they are not too much. Loop thread."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._n_chars = 0

    def add(self, response: dict[str, Any], messages: tuple[PromptMessage, ...]) -> None:
        """Keep one; the oldest make room."""
        kept = _Kept(response, messages)
        self._kept[response["id"]] = kept
        self._n_chars += kept.n_chars
        while len(self._kept) > MAX_KEPT or (self._n_chars > MAX_KEPT_CHARS and len(self._kept) > 1):
            self._n_chars -= self._kept.popitem(last=False)[1].n_chars

    def get(self, response_id: str) -> _Kept:
        """One of them. 404 where it is gone."""
        if response_id not in self._kept:
            words = "There is no such response any more; the last ones are kept while the server runs."
            raise Failure(404, "previous_response_not_found", words, "previous_response_id")
        return self._kept[response_id]

    def remove(self, response_id: str) -> None:
        """Forget one. 404 where it is gone."""
        self._n_chars -= self.get(response_id).n_chars
        del self._kept[response_id]


class Responses:
    """The handlers. `order_of` makes an order of what all interfaces share."""

    def __init__(
        self, exchange: Exchange, pool: ExpertPool, order_of: Callable[..., AnswerOrder], files: FileThreads
    ) -> None:
        self._exchange = exchange
        self._pool = pool
        self._order_of = order_of
        self._files = files
        self._kept = KeptResponses()

    async def create(self, request: Request) -> Response:
        """Answer."""
        body = await read_message_body(request)
        asked = read_json(body, ResponseRequest)
        before = () if asked.previous_response_id is None else self._kept.get(asked.previous_response_id).messages
        messages = (*before, *await self._files.run(body, lambda: input_messages(asked)))
        order = self._order_of(
            request,
            asked,
            with_instructions(asked.instructions, messages),
            sampling=response_sampling(asked, self._pool.sampling()),
            thinking=response_thinking(asked),
            tools=response_tools(asked),
        )

        def ended(response: dict[str, Any], made: Made) -> None:
            if asked.store is not False and made.finished is not None:
                said = PromptMessage(Role.ASSISTANT, made.finished.text, made.finished.tool_calls)
                self._kept.add(response, (*messages, said))

        shape = ResponseShape(asked, ended)
        return await self._exchange.respond(request, order, shape, model=asked.model, stream=bool(asked.stream))

    async def show(self, request: Request) -> Response:
        """One that is kept."""
        return JSONResponse(self._kept.get(request.path_params["response_id"]).response)

    async def forget(self, request: Request) -> Response:
        """Forget one."""
        response_id = request.path_params["response_id"]
        self._kept.remove(response_id)
        return JSONResponse({"id": response_id, "object": "response", "deleted": True})
