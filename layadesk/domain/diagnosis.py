"""Symptom → cause: what samples and answers say about a machine that is slow or fails. Every rule is a pure function.

`ui/texts/diagnoses.py` has the words and the remedies.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from layadesk.domain.alert_watch import Alert
from layadesk.domain.errors import ErrorCode, Fact
from layadesk.domain.hardware import GpuKind, HardwareSample, Why
from layadesk.domain.inference import Timings
from layadesk.domain.machine_alerts import Danger
from layadesk.domain.models import LoadedModel

GIB: Final = 2**30
SLOW_SHARE: Final = 0.35  # of what the memory's speed allows; good engines reach 0.5 to 0.8
N_ANSWERS_FOR_ROUTES: Final = 20
ONE_EXPERT_SHARE: Final = 0.9
SLOW_ROUTE_MS: Final = 150.0
LONG_PREFILL_MS: Final = 5_000.0
ENOUGH_TOKENS: Final = 16  # a speed of fewer says little
_MEMORY_ERRORS: Final = frozenset({ErrorCode.OUT_OF_MEMORY, ErrorCode.MODEL_LOAD_FAILED, ErrorCode.MODEL_SUSPECT})
_REPEATS: Final = 4


class Symptom(StrEnum):
    """What was noticed."""

    OUT_OF_MEMORY_AT_LOAD = "out_of_memory_at_load"
    FIRST_ANSWER_FAILED = "first_answer_failed"
    CPU_BUILD = "cpu_build"
    LAYERS_ON_CPU = "layers_on_cpu"
    WEAKER_GPU = "weaker_gpu"
    SPILLED = "spilled"
    ROUTER_STARVED = "router_starved"
    ROUTER_BEHIND_LOAD = "router_behind_load"
    BELOW_BANDWIDTH = "below_bandwidth"
    PREFILL_BOUND = "prefill_bound"
    REPETITION = "repetition"
    ONE_EXPERT = "one_expert"
    GPU_WAITS_FOR_CPU = "gpu_waits_for_cpu"
    DRIVER_MISMATCH = "driver_mismatch"
    GPU_LOST = "gpu_lost"
    THRASH = "thrash"
    NO_SWAP = "no_swap"


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of this session, as far as it matters here; `is_repeating` is all that is kept of its text."""

    expert_id: str | None
    timings: Timings | None = None
    error: ErrorCode | None = None
    route_ms: float | None = None
    was_loading: bool = False
    is_repeating: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """All that the rules look at; samples and answers in the order of time. `bandwidth_bytes_per_s` is the RAM's."""

    samples: Sequence[HardwareSample] = ()
    answers: Sequence[Answered] = ()
    alerts: Sequence[Alert] = ()
    loaded: Mapping[str, LoadedModel] = field(default_factory=dict)
    weights_bytes: Mapping[str, int] = field(default_factory=dict)  # by model id; of dense models alone
    files_bytes: Mapping[str, int] = field(default_factory=dict)  # by model id; of all experts
    devices: Sequence[str] = ()
    supports_gpu_offload: bool | None = None
    n_experts: int = 0
    bandwidth_bytes_per_s: float | None = None

    @property
    def newest(self) -> HardwareSample:
        """The last sample."""
        return self.samples[-1] if self.samples else HardwareSample(0.0)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One symptom; `is_serious` stands in the way. Without `is_trouble` it is only good to know."""

    symptom: Symptom
    facts: Mapping[str, Fact] = field(default_factory=dict)
    is_serious: bool = False
    is_trouble: bool = True


def diagnose(case: Case) -> tuple[Diagnosis, ...]:
    """All that applies, serious things first."""
    found = [diagnosis for rule in RULES if (diagnosis := rule(case)) is not None]
    return tuple(sorted(found, key=lambda one: (not one.is_serious, not one.is_trouble)))


def is_repeating(text: str) -> bool:
    """Whether the end of a text says one thing again and again: a piece of 2 to 120 characters, four times at least."""
    tail = text[-600:].rstrip()
    for length in range(2, 121):
        piece = tail[-length:]
        needed = max(_REPEATS, 24 // length)  # short pieces occur by chance, as in "hahaha" or a table
        if len(piece) == length and any(map(str.isalpha, piece)) and tail.endswith(piece * needed):
            return True
    return False


def _out_of_memory(case: Case) -> Diagnosis | None:
    failed = next((one for one in reversed(case.answers) if one.error in _MEMORY_ERRORS), None)
    if failed is None:
        return None
    available = case.newest.ram_available_bytes
    facts: dict[str, Fact] = {"expert": failed.expert_id, "available_bytes": available}
    return Diagnosis(Symptom.OUT_OF_MEMORY_AT_LOAD, facts, is_serious=True)


def _first_answer(case: Case) -> Diagnosis | None:
    if not case.answers or case.answers[0].error is None or case.answers[0].error in _MEMORY_ERRORS:
        return None
    went_on = any(one.error is None for one in case.answers)
    return Diagnosis(Symptom.FIRST_ANSWER_FAILED, {"code": case.answers[0].error}, is_serious=not went_on)


def _cpu_build(case: Case) -> Diagnosis | None:
    """A GPU with a driver is there, and llama.cpp was built without any."""
    usable = [gpu.name for gpu in case.newest.gpus if not set(gpu.reasons.values()) >= {Why.LOST}]
    if case.supports_gpu_offload is not False or not usable:
        return None
    return Diagnosis(Symptom.CPU_BUILD, {"gpu": usable[0]})


def _layers_on_cpu(case: Case) -> Diagnosis | None:
    if not case.supports_gpu_offload or not case.newest.gpus:
        return None
    part = next((one for one in case.loaded.values() if one.n_gpu_layers < one.n_layer), None)
    if part is None:
        return None
    facts: dict[str, Fact] = {"expert": part.model_id, "on_gpu": part.n_gpu_layers, "layers": part.n_layer}
    return Diagnosis(Symptom.LAYERS_ON_CPU, facts)


def _weaker_gpu(case: Case) -> Diagnosis | None:
    """A GPU with memory of its own is there, and what the engine holds lies on the one that works in RAM."""
    strong = [gpu for gpu in case.newest.gpus if gpu.kind is GpuKind.DISCRETE]
    weak = [
        gpu for gpu in case.newest.gpus if gpu.kind is GpuKind.UNIFIED and (gpu.engine_shared_bytes or 0) > GIB // 4
    ]
    if not strong or not weak or any((gpu.engine_bytes or 0) > GIB // 4 for gpu in strong):
        return None
    return Diagnosis(Symptom.WEAKER_GPU, {"used": weak[0].name, "better": strong[0].name})


def _spilled(case: Case) -> Diagnosis | None:
    if not any(alert.danger is Danger.SPILL for alert in case.alerts):
        return None
    return Diagnosis(Symptom.SPILLED)


def _slow_routes(case: Case) -> list[Answered]:
    return [one for one in case.answers[-10:] if (one.route_ms or 0.0) > SLOW_ROUTE_MS]


def _router_starved(case: Case) -> Diagnosis | None:
    """Routes are slow while every core is busy."""
    slow = [one for one in _slow_routes(case) if not one.was_loading]
    busy = [sample.cpu_percent for sample in case.samples[-240:] if sample.cpu_percent is not None]
    if len(slow) < 2 or not busy or max(busy) < 90.0:
        return None
    return Diagnosis(Symptom.ROUTER_STARVED, {"ms": max(one.route_ms or 0.0 for one in slow)})


def _router_behind_load(case: Case) -> Diagnosis | None:
    slow = [one for one in _slow_routes(case) if one.was_loading]
    return Diagnosis(Symptom.ROUTER_BEHIND_LOAD, {"ms": max(one.route_ms or 0.0 for one in slow)}) if slow else None


def _below_bandwidth(case: Case) -> Diagnosis | None:
    """Every token reads all weights once, so the memory's speed over their size is the ceiling of a single answer."""
    for answer in reversed(case.answers):
        ceiling = _ceiling_tps(case, answer.expert_id)
        timings = answer.timings
        if ceiling is None or timings is None or timings.n_decoded < ENOUGH_TOKENS or not timings.decode_tps:
            continue
        share = timings.decode_tps / ceiling
        facts: dict[str, Fact] = {
            "expert": answer.expert_id,
            "tps": timings.decode_tps,
            "ceiling_tps": ceiling,
            "share": share,
        }
        return Diagnosis(Symptom.BELOW_BANDWIDTH, facts, is_trouble=share < SLOW_SHARE)
    return None


def _ceiling_tps(case: Case, expert_id: str | None) -> float | None:
    loaded = case.loaded.get(expert_id or "")
    weights = case.weights_bytes.get(expert_id or "")
    if loaded is None or not weights or not loaded.n_layer:
        return None
    on_gpu = min(loaded.n_gpu_layers / loaded.n_layer, 1.0)
    rated = max((gpu.bandwidth_bytes_per_s or 0.0 for gpu in case.newest.gpus), default=0.0)
    if (on_gpu > 0.0 and not rated) or (on_gpu < 1.0 and not case.bandwidth_bytes_per_s):
        return None
    seconds = weights * on_gpu / rated if on_gpu else 0.0
    if on_gpu < 1.0:
        seconds += weights * (1.0 - on_gpu) / (case.bandwidth_bytes_per_s or 1.0)
    return 1.0 / seconds


def _prefill_bound(case: Case) -> Diagnosis | None:
    """Most of the waiting is for reading the prompt, and little of it was in the cache."""
    timed = [one.timings for one in case.answers[-5:] if one.timings is not None]
    slow = [
        one
        for one in timed
        if (one.prefill_ms or 0.0) > LONG_PREFILL_MS
        and (one.prefill_ms or 0.0) > (one.decode_ms or 0.0)
        and one.n_cached < one.n_prompt / 2
    ]
    if len(slow) < 2:
        return None
    worst = max(slow, key=lambda one: one.prefill_ms or 0.0)
    return Diagnosis(Symptom.PREFILL_BOUND, {"ms": worst.prefill_ms, "n_prompt": worst.n_prompt})


def _repetition(case: Case) -> Diagnosis | None:
    found = next((one for one in reversed(case.answers[-5:]) if one.is_repeating), None)
    return None if found is None else Diagnosis(Symptom.REPETITION, {"expert": found.expert_id})


def _one_expert(case: Case) -> Diagnosis | None:
    counts = Counter(one.expert_id for one in case.answers if one.expert_id is not None)
    total = sum(counts.values())
    if case.n_experts < 2 or total < N_ANSWERS_FOR_ROUTES:
        return None
    expert, n = counts.most_common(1)[0]
    facts: dict[str, Fact] = {"expert": expert, "n": n, "total": total}
    return Diagnosis(Symptom.ONE_EXPERT, facts) if n >= ONE_EXPERT_SHARE * total else None


def _gpu_waits(case: Case) -> Diagnosis | None:
    """While answers are written the GPU idles and about one core is full: something runs on the processor alone."""
    writing = [
        sample
        for sample in case.samples[-240:]
        if sample.work.n_running and (sample.work.decode_tps or 0.0) > 0 and sample.engine_cpu_cores is not None
    ]
    uses_gpu = any(one.n_gpu_layers > 0 for one in case.loaded.values())
    if len(writing) < 8 or not uses_gpu:
        return None
    waiting = [
        sample
        for sample in writing
        if any(gpu.utilization_percent is not None and gpu.utilization_percent < 20 for gpu in sample.gpus)
        and 0.85 <= (sample.engine_cpu_cores or 0.0) <= 1.3
    ]
    return Diagnosis(Symptom.GPU_WAITS_FOR_CPU) if len(waiting) > 0.7 * len(writing) else None


def _driver_mismatch(case: Case) -> Diagnosis | None:
    reasons = {case.newest.reasons.get("gpus"), *(why for gpu in case.newest.gpus for why in gpu.reasons.values())}
    return Diagnosis(Symptom.DRIVER_MISMATCH, is_serious=True) if Why.DRIVER_MISMATCH in reasons else None


def _gpu_lost(case: Case) -> Diagnosis | None:
    lost = next((gpu for gpu in case.newest.gpus if gpu.reasons.get("vram_used_bytes") == Why.LOST), None)
    return None if lost is None else Diagnosis(Symptom.GPU_LOST, {"gpu": lost.name}, is_serious=True)


def _thrash(case: Case) -> Diagnosis | None:
    dangers = {alert.danger for alert in case.alerts} & {Danger.SWAPPING, Danger.REREAD, Danger.WEIGHTS, Danger.STALLED}
    return Diagnosis(Symptom.THRASH, {"signs": ", ".join(sorted(dangers))}) if dangers else None


def _no_swap(case: Case) -> Diagnosis | None:
    """Little or no swap where the largest expert that is not on a GPU takes more than half of the RAM."""
    on_gpu = {name for name, one in case.loaded.items() if one.n_gpu_layers >= one.n_layer > 0}
    sizes = [size for name, size in case.files_bytes.items() if name not in on_gpu]
    sample, largest = case.newest, max(sizes, default=0)
    total, swap = sample.ram_total_bytes, sample.swap_total_bytes
    if not total or swap is None or swap >= 2 * GIB or largest < total / 2:
        return None
    facts: dict[str, Fact] = {"swap_bytes": swap, "largest_bytes": largest, "ram_bytes": total}
    return Diagnosis(Symptom.NO_SWAP, facts)


RULES: Final[tuple[Callable[[Case], Diagnosis | None], ...]] = (
    _out_of_memory,
    _first_answer,
    _cpu_build,
    _layers_on_cpu,
    _weaker_gpu,
    _spilled,
    _router_starved,
    _router_behind_load,
    _below_bandwidth,
    _prefill_bound,
    _repetition,
    _one_expert,
    _gpu_waits,
    _driver_mismatch,
    _gpu_lost,
    _thrash,
    _no_swap,
)
