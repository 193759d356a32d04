"""What to begin with on a machine: a router, and two or three experts that are in memory together.

Each set of experts that fits has a value: how well its best member does each task, light, medium and heavy, where light
work wants speed and heavy work a large model. The best set wins, and every further expert has to be worth it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log2, sqrt
from typing import Final

from layadesk.domain.memory_fit.bill import Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.machine import GIB, MachineMemory
from layadesk.domain.memory_fit.speed import SpeedClass, speed_class
from layadesk.domain.memory_fit.verdict import Verdict, judge
from layadesk.domain.quantization import Closeness, bits_per_weight
from layadesk.domain.routing_labels import TASKS, Effort
from layadesk.domain.strengths import Strengths

LEAST_EXPERTS: Final = 2  # a router has to have something to choose
MOST_EXPERTS: Final = 3
DISK_KEPT_FREE_BYTES: Final = 5 * GIB  # a system whose disk is full stops working
_COST_OF_GIB: Final = 0.002  # of the value, for each GiB to download: among equals the smaller one
_WORTH_IT: Final = 1.02  # by this factor a third expert has to make the set better
_USEFUL: Final = 0.5  # of 1: what an expert has to be at its best task, unless nothing better fits
_WEIGHT: Final[Mapping[Effort, float]] = {Effort.LIGHT: 1.0, Effort.MEDIUM: 1.0, Effort.HEAVY: 2.0}
# Light work is done well enough by many, so that their speed decides; for heavy work no skill is too much.
_ENOUGH_SKILL: Final[Mapping[Effort, float]] = {Effort.LIGHT: 0.55, Effort.MEDIUM: 0.7, Effort.HEAVY: 1.0}
_ENOUGH_TPS: Final[Mapping[Effort, float]] = {Effort.LIGHT: 100.0, Effort.MEDIUM: 25.0, Effort.HEAVY: 15.0}
_SPEED_COUNTS: Final = 0.3  # exponents: twice the speed is worth 23 %
_SIZE_COUNTS: Final = 0.15
_READING_TPS: Final = 7.0  # below it nobody waits gladly
_EFFORTS: Final = tuple(Effort)
_ABOVE_CEILING: Final = 0.6  # left of an expert for each step of work heavier than it can be trusted with
_FOREIGN: Final = 0.4  # left of one that does not speak the user's language


@dataclass(frozen=True, slots=True)
class Candidate:
    """One quantization as this machine would load it. Of `n_parameters`, `active_share` work on a token.

    `download_bytes` is 0 for one that is here, None where nobody knows.
    """

    model_id: str
    quantization: str
    strengths: Strengths
    n_parameters: float
    active_share: float
    closeness: Closeness
    download_bytes: int | None
    bill: MemoryBill
    tokens_per_s: float

    @property
    def speed(self) -> SpeedClass:
        """What reading along feels like."""
        return speed_class(self.tokens_per_s)


@dataclass(frozen=True, slots=True)
class RouterCandidate:
    """A router; `accuracy` is of tasks on prompts it has not seen, None where nobody has measured it."""

    router_id: str
    accuracy: float | None
    download_bytes: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """The largest expert first; none where nothing fits. `together` is what all of them take, by device."""

    router: RouterCandidate | None
    experts: tuple[Candidate, ...] = ()
    together: tuple[DeviceBill, ...] = ()

    @property
    def download_bytes(self) -> int:
        """All that is not here yet."""
        experts = sum(one.download_bytes or 0 for one in self.experts)
        return experts + (0 if self.router is None else self.router.download_bytes)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A candidate that fits alone, and its value for each task and effort."""

    candidate: Candidate
    values: tuple[float, ...]


def propose(
    candidates: Iterable[Candidate],
    routers: Iterable[RouterCandidate],
    machine: MachineMemory,
    *,
    free_disk_bytes: int | None = None,
    language: str = "",
) -> Proposal:
    """The best set that fits into memory together, and onto the disk. `language` is the user's, as `zh`.

    Of the quantizations of a model the one to be preferred comes first. Takes up to half a second for fifty candidates.
    """
    router = propose_router(routers)
    room = None
    if free_disk_bytes is not None:
        room = free_disk_bytes - DISK_KEPT_FREE_BYTES - (0 if router is None else router.download_bytes)
    fitting = _worth_trying(
        [_Judged(one, _values(one, language)) for one in candidates if _fits((one,), machine, room)]
    )
    best: tuple[_Judged, ...] = ()
    best_value = 0.0
    for n in range(1, MOST_EXPERTS + 1):
        found = _best_set(fitting, n, machine, room)
        if found and (n <= LEAST_EXPERTS or _value(found) > best_value * _WORTH_IT):
            best, best_value = found, _value(found)
    experts = tuple(sorted((one.candidate for one in best), key=capability, reverse=True))
    return Proposal(router, experts, together(experts))


def _best_set(fitting: Sequence[_Judged], n: int, machine: MachineMemory, room: int | None) -> tuple[_Judged, ...]:
    """Of the sets of `n` that fit; none where none does."""
    valued = sorted(((_value(one), index, one) for index, one in enumerate(combinations(fitting, n))), reverse=True)
    for _, _, found in valued:
        if _fits([one.candidate for one in found], machine, room):
            return found
    return ()


def propose_router(routers: Iterable[RouterCandidate]) -> RouterCandidate | None:
    """The one that was measured best; what nobody has measured is not proposed, though it may be chosen."""
    measured = [one for one in routers if one.accuracy is not None]
    return max(measured, key=lambda one: (one.accuracy or 0.0, -one.download_bytes), default=None)


def capability(one: Candidate) -> float:
    """0 to 1 by size: 0.3 for half a billion parameters, 0.75 for nine, 0.95 for thirty.

    Of a model with MoE experts counts the geometric mean of all parameters and of those at work, a rule of thumb.
    """
    billions = one.n_parameters * sqrt(one.active_share) / 1e9
    return min(max(log2(max(billions, 1e-3) / 0.125) / 8.2, 0.05), 1.0)


def _left_of_it(one: Candidate) -> float:
    """What quantization has left: what is lost doubles with each bit that is saved, as perplexities do."""
    is_whole = one.closeness in (Closeness.ORIGINAL, Closeness.TRAINED)
    return 1.0 if is_whole else 1.0 - 2.0 ** -bits_per_weight(one.quantization)


def together(experts: Sequence[Candidate]) -> tuple[DeviceBill, ...]:
    """What they take when all are in memory, by device. A driver's overhead is paid once, by the largest."""
    devices = dict.fromkeys(bill.device for one in experts for bill in one.bill.devices)
    return tuple(_sum(device, [one.bill.on(device) for one in experts]) for device in devices)


def _sum(device: str, bills: Sequence[DeviceBill]) -> DeviceBill:
    return DeviceBill(
        device,
        weights_bytes=sum(one.weights_bytes for one in bills),
        kv_bytes=sum(one.kv_bytes for one in bills),
        compute_bytes=sum(one.compute_bytes for one in bills),
        output_bytes=sum(one.output_bytes for one in bills),
        overhead_bytes=max(one.overhead_bytes for one in bills),
        margin_bytes=sum(one.margin_bytes for one in bills),
    )


def _fits(experts: Sequence[Candidate], machine: MachineMemory, room: int | None) -> bool:
    """In different models, with the reserves of the machine left free, and on the disk."""
    if len({one.model_id for one in experts}) < len(experts):
        return False
    if any(one.download_bytes is None or one.bill.basis is Basis.UNKNOWN for one in experts):
        return False
    if room is not None and sum(one.download_bytes or 0 for one in experts) > max(0, room):
        return False
    bill = MemoryBill(together(experts), 0, 0, Basis.ARITHMETIC)
    return judge(bill, machine).verdict is Verdict.FITS


def _worth_trying(fitting: Sequence[_Judged]) -> list[_Judged]:
    """Of each model the quantization that is named first, and the smallest of each closeness; the others change little.

    None that quantization has hurt or that is good at nothing, unless nothing else fits.
    """
    good = [one for one in fitting if one.candidate.closeness not in (Closeness.FAIR, Closeness.WEAK)]
    useful = [one for one in good if max(map(one.candidate.strengths.at, TASKS)) >= _USEFUL]
    kept: dict[tuple[str, object], _Judged] = {}
    for one in useful or good or fitting:
        model_id, closeness = one.candidate.model_id, one.candidate.closeness
        kept.setdefault((model_id, "first"), one)
        before = kept.setdefault((model_id, closeness), one)
        if one.candidate.bill.total_bytes < before.candidate.bill.total_bytes:
            kept[model_id, closeness] = one
    return list({id(one): one for one in kept.values()}.values())


def _value(experts: Sequence[_Judged]) -> float:
    """Of each task and effort the best one's value, less what the download costs."""
    best = float(sum(map(max, zip(*(one.values for one in experts), strict=True))))
    n_gib = sum(one.candidate.download_bytes or 0 for one in experts) / GIB
    return best * (1 - _COST_OF_GIB * n_gib)


def _values(one: Candidate, language: str) -> tuple[float, ...]:
    strengths, tps = one.strengths, one.tokens_per_s
    worth = capability(one) ** _SIZE_COUNTS * _left_of_it(one)
    if language and strengths.languages and language not in strengths.languages:
        worth *= _FOREIGN
    values = []
    for effort in _EFFORTS:
        steps = max(0, _EFFORTS.index(effort) - _EFFORTS.index(strengths.effort_ceiling))
        able = worth * _ABOVE_CEILING**steps
        speed = min(1.0, tps / _ENOUGH_TPS[effort]) ** _SPEED_COUNTS * min(1.0, tps / _READING_TPS)
        enough = _ENOUGH_SKILL[effort]
        values += [_WEIGHT[effort] * speed * min(1.0, strengths.at(task) * able / enough) for task in TASKS]
    return tuple(values)
