"""Counts what gates chose, by request and phase, and tells it at most four times a second. Decode thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from layadesk.domain.moe_experts import MoeRecord, MoeShape, MoeToken
from layadesk.engine.backend import Expert
from layadesk.engine.decode_step import Step
from layadesk.protocol.events import EngineEvent, MoeExpertsChosen

if TYPE_CHECKING:  # numpy comes with llama.cpp, and is no part of the engine's start
    from layadesk.engine.moe_choices import MoeChoices, MoeCounter

EVERY_S = 0.25
MAX_TOKENS_TOLD = 1024  # in one event; a second of the fastest engine is fewer


@dataclass(slots=True)
class _Waiting:
    """What one request has not told yet."""

    model_id: str
    shape: MoeShape
    layers: tuple[int, ...]
    phases: "dict[str, MoeCounter]" = field(default_factory=dict)
    tokens: list[MoeToken] = field(default_factory=list)
    capture_s: float = 0.0
    computed_s: float = 0.0

    def add(self, choices: "MoeChoices", rows: slice, *, phase: str) -> None:
        """Some rows of a batch."""
        if phase not in self.phases:
            self.phases[phase] = choices.counter(self.shape.n_expert)
        self.phases[phase].add(choices, rows)

    def event(self, request_id: str) -> MoeExpertsChosen:
        """All of it."""
        found = {phase: counted.counts() for phase, counted in self.phases.items()}
        record = MoeRecord(
            self.shape, self.layers, **found, capture_ms=1000 * self.capture_s, computed_ms=1000 * self.computed_s
        )
        return MoeExpertsChosen(request_id, self.model_id, record, tuple(self.tokens))


class MoeWatch:
    """`is_on` is what the app wants. Of a step with several requests, each is charged its share of the time."""

    def __init__(self, put: Callable[[EngineEvent], None], clock: Callable[[], float]) -> None:
        self.is_on = False
        self._put = put
        self._clock = clock
        self._last_told = 0.0
        self._waiting: dict[str, _Waiting] = {}

    def add(self, model_id: str, expert: Expert, step: Step) -> None:
        """Count a step that ended well; before its sequences have moved on.

        With recurrent layers, llama.cpp takes the tokens of several sequences in an order of its own: such steps are
        not counted, rather than for the wrong request.
        """
        choices = expert.moe_choices()
        shape = expert.facts.moe
        if choices is None or shape is None or (len(step.plan.shares) > 1 and not expert.facts.can_rewind):
            return
        first = 0
        for share in step.plan.shares:
            one, rows = share.sequence, slice(first, first + share.n_tokens)
            first += share.n_tokens
            waiting = self._waiting.get(one.request_id)
            if waiting is None or waiting.layers != choices.layers:
                self.flush(one.request_id)
                waiting = self._waiting[one.request_id] = _Waiting(model_id, shape, choices.layers)
            waiting.add(choices, rows, phase="decode" if one.is_decoding else "prefill")
            waiting.capture_s += choices.seconds / len(step.plan.shares)
            waiting.computed_s += step.seconds / len(step.plan.shares)
            if one.is_decoding and len(waiting.tokens) < MAX_TOKENS_TOLD:
                text = expert.piece(one.tokens[one.n_past]).decode("utf-8", "replace")
                waiting.tokens.append(MoeToken(text, choices.packed(rows)))
        if self._clock() - self._last_told >= EVERY_S:
            self._last_told = self._clock()
            for request_id in list(self._waiting):
                self.flush(request_id)

    def flush(self, request_id: str) -> None:
        """Tell what is left of a request; before its terminal event."""
        waiting = self._waiting.pop(request_id, None)
        if waiting is not None:
            self._put(waiting.event(request_id))
