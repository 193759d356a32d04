"""What has come of one answer so far, gathered from its events."""

import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import msgspec

from layadesk.api_server.failures import Failure
from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, calls_as_openai
from layadesk.domain.routing import Route
from layadesk.protocol.events import Failed, Finished, PromptBuilt
from layadesk.usecases.answer_order import AnswerEvent, FailedOver, RouteChosen, decision_line


@dataclass(slots=True)
class Made:
    """`model` is the expert that answers, from the route on; until then what was asked for."""

    request_id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))
    route: Route | None = None
    prompt: PromptBuilt | None = None
    finished: Finished | None = None
    error: ErrorReport | None = None

    def take(self, event: AnswerEvent | None) -> None:
        """Note what an event tells; None is none."""
        match event:
            case RouteChosen(route=route) | FailedOver(route=route):
                self.route, self.model = route, route.expert
            case PromptBuilt():
                self.prompt = event
            case Finished():
                self.finished = event
            case Failed(error=error):
                self.error = error
            case _:
                pass

    @property
    def stopped(self) -> Failure | None:
        """Set where it was ended from this side: by the window, the memory guard, or the end of the program."""
        if self.finished is None or self.finished.finish_reason is not FinishReason.CANCELLED:
            return None
        return Failure(503, "answer_stopped", "The answer was stopped on the server's side.")

    @property
    def finish_reason(self) -> str:
        """In OpenAI's words; an answer that only repeated itself was cut off."""
        if self.finished is not None and self.finished.tool_calls:
            return "tool_calls"
        ended = None if self.finished is None else self.finished.finish_reason
        return "length" if ended in (FinishReason.LENGTH, FinishReason.LOOP) else "stop"

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """What the answer wants called."""
        return [] if self.finished is None else calls_as_openai(self.finished.tool_calls)

    @property
    def n_prompt(self) -> int | None:
        """Tokens of the prompt; a remote expert's are known at its end, if at all."""
        if self.finished is not None:
            return self.finished.timings.n_prompt if self.finished.timings.is_counted else None
        return None if self.prompt is None or not self.prompt.n_prompt else self.prompt.n_prompt

    @property
    def n_decoded(self) -> int | None:
        """Tokens of the answer; None until they are known."""
        timings = None if self.finished is None else self.finished.timings
        return timings.n_decoded if timings is not None and timings.is_counted else None

    @property
    def usage(self) -> dict[str, Any] | None:
        """The tokens, in OpenAI's words; None where nobody counted them."""
        timings = None if self.finished is None else self.finished.timings
        if timings is not None and not timings.is_counted:
            return None
        n_prompt = self.n_prompt or 0
        n_cached = 0 if timings is None else timings.n_cached
        n_decoded = 0 if timings is None else timings.n_decoded
        return {
            "prompt_tokens": n_prompt,
            "completion_tokens": n_decoded,
            "total_tokens": n_prompt + n_decoded,
            "prompt_tokens_details": {"cached_tokens": n_cached},
            "completion_tokens_details": {"reasoning_tokens": 0 if timings is None else timings.n_thinking},
        }

    @property
    def headers(self) -> dict[str, str]:
        """Who answers and why, for every answer."""
        if self.route is None:
            return {}
        line = quote(decision_line(self.route), safe=" =_.-/:,")
        return {"x-layadesk-route": line, "x-layadesk-expert": quote(self.route.expert, safe=" _.-/:,")}

    def details(self) -> dict[str, Any]:
        """The `layadesk` object: the whole route and where the time went."""
        timings = None if self.finished is None else self.finished.timings
        speeds = {} if timings is None else {"prefill_tps": timings.prefill_tps, "decode_tps": timings.decode_tps}
        ended = None if self.finished is None else self.finished.finish_reason
        return {
            "expert": self.model,
            "route": msgspec.to_builtins(self.route),
            "finish_reason": ended,
            "timings": None if timings is None else {**msgspec.to_builtins(timings), **speeds},
        }
