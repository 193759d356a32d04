"""Counts what gates chose, by request and phase, and tells it at most four times a second. Decode thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from layadesk.domain.moe_experts import NOT_COMPUTED, MoeCounts, MoeRecord, MoeShape, MoeToken
from layadesk.engine.backend import Expert
from layadesk.engine.decode_step import Step
from layadesk.engine.moe_choices import NONE, MoeChoices
from layadesk.protocol.events import EngineEvent, MoeExpertsChosen

EVERY_S = 0.25
MAX_TOKENS_TOLD = 1024  # in one event; a second of the fastest engine is fewer


@dataclass(slots=True)
class _Counted:
    """Arrays are [layers, n_expert], `n_tokens` is [layers]."""

    n_tokens: npt.NDArray[np.int64]
    n_chosen: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64] | None

    def add(self, chosen: npt.NDArray[np.int32], weights: npt.NDArray[np.float32] | None) -> None:
        """Choices of some tokens: [layers, tokens, n_expert_used]."""
        n_layers, n_expert = self.n_chosen.shape
        is_there = chosen != NONE
        self.n_tokens += is_there[:, :, 0].sum(1)
        places = (chosen + (np.arange(n_layers, dtype=np.int32) * n_expert)[:, None, None])[is_there]
        shape, size = self.n_chosen.shape, self.n_chosen.size
        self.n_chosen += np.bincount(places, minlength=size).reshape(shape)
        if weights is not None and self.weights is not None:
            self.weights += np.bincount(places, weights[is_there], minlength=size).reshape(shape)

    def counts(self) -> MoeCounts:
        """As it is told; empty where nothing was counted."""
        if not self.n_tokens.any():
            return MoeCounts()
        weights = () if self.weights is None else tuple(np.round(self.weights, 4).ravel().tolist())
        return MoeCounts(tuple(self.n_tokens.tolist()), tuple(self.n_chosen.ravel().tolist()), weights)


@dataclass(slots=True)
class _Waiting:
    """What one request has not told yet."""

    model_id: str
    shape: MoeShape
    layers: tuple[int, ...]
    phases: dict[str, _Counted] = field(default_factory=dict)
    tokens: list[MoeToken] = field(default_factory=list)
    capture_s: float = 0.0
    computed_s: float = 0.0

    def add(self, choices: MoeChoices, rows: slice, *, phase: str) -> None:
        """Some rows of a batch."""
        weights = None if choices.weights is None else choices.weights[:, rows]
        counted = self.phases.get(phase)
        if counted is None:
            size = (len(self.layers), self.shape.n_expert)
            counted = self.phases[phase] = _Counted(
                np.zeros(size[0], np.int64), np.zeros(size, np.int64), None if weights is None else np.zeros(size)
            )
        counted.add(choices.chosen[:, rows], weights)

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
                waiting.tokens.append(MoeToken(text, _packed(choices.chosen[:, rows])))
        if self._clock() - self._last_told >= EVERY_S:
            self._last_told = self._clock()
            for request_id in list(self._waiting):
                self.flush(request_id)

    def flush(self, request_id: str) -> None:
        """Tell what is left of a request; before its terminal event."""
        waiting = self._waiting.pop(request_id, None)
        if waiting is not None:
            self._put(waiting.event(request_id))


def _packed(chosen: npt.NDArray[Any]) -> bytes:
    return np.where(chosen == NONE, NOT_COMPUTED, chosen).astype(np.uint16).tobytes()
