"""After an installation: load, route, answer, measure; in under a minute, and the exit status tells."""

from dataclasses import dataclass

from layadesk.domain.errors import ErrorReport
from layadesk.domain.inference import FinishReason, SamplingParams, Timings
from layadesk.usecases.ask import Answered, Ask

QUESTION = "Name three colours."
N_TOKENS = 24


@dataclass(frozen=True, slots=True)
class SmokeStep:
    """One step. `error` is None when it passed; `measured` names what was found, in units of its own."""

    name: str
    passed: bool
    measured: dict[str, float | int | str | None]
    error: ErrorReport | None = None


class SmokeTest:
    """Runs the main job once on the real engine. Blocks."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def __call__(self, *, expert: str | None = None) -> tuple[SmokeStep, ...]:
        """Steps load, route, answer and measure; those after the first failure are left out."""
        answered = self._ask(QUESTION, SamplingParams(temperature=0.0, max_tokens=N_TOKENS), expert=expert)
        steps = [_route_step(answered)]
        if answered.route is not None:
            steps += [_load_step(answered), _answer_step(answered)]
        if answered.error is None and answered.timings is not None:
            steps.append(_measure_step(answered.timings))
        return tuple(steps)


def _route_step(answered: Answered) -> SmokeStep:
    route = answered.route
    if route is None:
        return SmokeStep("route", passed=False, measured={}, error=answered.error)
    return SmokeStep(
        "route",
        passed=True,
        measured={"expert": route.expert, "reason": str(route.reason), "route_ms": route.route_ms},
    )


def _load_step(answered: Answered) -> SmokeStep:
    memory = answered.memory
    if memory is None:
        return SmokeStep("load", passed=False, measured={}, error=answered.error)
    return SmokeStep(
        "load",
        passed=True,
        measured={
            "load_ms": answered.timings.load_ms if answered.timings else None,
            "weights_bytes": memory.weights_bytes,
            "kv_bytes": memory.kv_bytes,
            "compute_bytes": memory.compute_bytes,
        },
    )


def _answer_step(answered: Answered) -> SmokeStep:
    is_whole = answered.error is None and answered.finish_reason is not FinishReason.CANCELLED
    passed = is_whole and bool(answered.text.strip())
    return SmokeStep(
        "answer",
        passed=passed,
        measured={"characters": len(answered.text), "finish_reason": str(answered.finish_reason)},
        error=answered.error,
    )


def _measure_step(timings: Timings) -> SmokeStep:
    return SmokeStep(
        "measure",
        passed=timings.ttft_ms is not None,
        measured={
            "ttft_ms": timings.ttft_ms,
            "prefill_tps": timings.prefill_tps,
            "decode_tps": timings.decode_tps,
            "n_decoded": timings.n_decoded,
        },
    )
