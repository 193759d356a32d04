"""The ways to load an expert on a machine, best first, each with its own bill, verdict and speed.

`price` may be the arithmetic or answers of llama.cpp itself; a plan is only offered when its own bill fits, and since
all of its context is in the bill, it survives a full context and not only the load.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import MemoryBill
from layadesk.domain.memory_fit.kv_cache import QUANTIZED
from layadesk.domain.memory_fit.machine import MachineMemory, MemoryKind
from layadesk.domain.memory_fit.speed import SpeedClass, rank_of, speed_class, tokens_per_s
from layadesk.domain.memory_fit.verdict import Judgement, Verdict, judge

Price = Callable[[LoadParams], MemoryBill]

CONTEXT_STEPS = (65536, 32768, 16384, 8192, 4096, 2048)
LEAST_CONTEXT = 2048
LEAST_CONTEXT_OF_ONE = 4096  # when the cells of several sequences are to become those of one


class PlanKind(StrEnum):
    """What a plan changes; `ui/texts` has the words."""

    AS_ASKED = "as_asked"
    EVICT = "evict"
    FEWER_GPU_LAYERS = "fewer_gpu_layers"
    MOE_ON_CPU = "moe_on_cpu"
    HOT_MOE_ON_GPU = "hot_moe_on_gpu"
    KV_Q8_0 = "kv_q8_0"
    KV_Q4_0 = "kv_q4_0"
    SMALLER_CONTEXT = "smaller_context"
    FEWER_SEQUENCES = "fewer_sequences"
    CPU_ONLY = "cpu_only"
    OTHER_QUANTIZATION = "other_quantization"
    OTHER_EXPERT = "other_expert"


# Taken without asking. What changes the answer or a promise is offered.
AUTOMATIC = frozenset({PlanKind.AS_ASKED, PlanKind.EVICT, PlanKind.FEWER_GPU_LAYERS, PlanKind.MOE_ON_CPU})


@dataclass(frozen=True, slots=True)
class Plan:
    """One way. `evicts` are idle experts that go first; `subject` names another quantization or expert.

    `model_id` is that one's: installed, or else of the catalogue.
    """

    kind: PlanKind
    params: LoadParams
    bill: MemoryBill
    judgement: Judgement
    speed: SpeedClass
    tokens_per_s: float
    evicts: tuple[str, ...] = ()
    subject: str | None = None
    model_id: str | None = None
    is_installed: bool = False


@dataclass(frozen=True, slots=True)
class Resident:
    """An expert in memory: what would come back by device if it went, and whether it is idle. Oldest use first."""

    model_id: str
    bytes_by_device: Mapping[str, int]
    is_idle: bool


@dataclass(frozen=True, slots=True)
class Other:
    """Something else that could be loaded instead; `subject` names the quantization or the expert `model_id`."""

    kind: PlanKind
    subject: str
    task: "Task"
    model_id: str | None = None
    is_installed: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be loaded, and where. `active_share` of the weights is read for a token; 1 for dense models."""

    price: Price
    machine: MachineMemory
    wish: LoadParams
    n_layers: int
    has_moe_experts: bool = False
    active_share: float = 1.0
    residents: tuple[Resident, ...] = ()


@dataclass(frozen=True, slots=True)
class Outlook:
    """The answer: the wish as asked, its verdict, and the plans that fit, best first; none where nothing does.

    Of the plans only those are carried out without asking that do not touch what was asked for: the answers are the
    same, at most slower. `refuse` with plans means that the choice is the user's.
    """

    asked: Plan
    verdict: Verdict
    plans: tuple[Plan, ...]

    @property
    def automatic(self) -> Plan | None:
        """The plan that is carried out without asking, if there is one."""
        kinds = AUTOMATIC if self.verdict is not Verdict.REFUSE else frozenset({PlanKind.EVICT})
        return next((plan for plan in self.plans if plan.kind in kinds), None)


def outlook(task: Task, *, has_ways_out: bool = True) -> Outlook:
    """Judge the wish and find the ways out; not `has_ways_out`: it is known that there are none."""
    asked = plan_for(task, PlanKind.AS_ASKED, task.wish)
    if asked.judgement.may_load:
        return Outlook(asked, asked.judgement.verdict, (asked,))
    if asked.judgement.verdict is Verdict.UNKNOWN:
        return Outlook(asked, Verdict.UNKNOWN, ())
    plans = tuple(_distinct(sorted(_ways_out(task), key=_preference))) if has_ways_out else ()
    return Outlook(asked, _verdict(task, plans), plans)


def _verdict(task: Task, plans: tuple[Plan, ...]) -> Verdict:
    """NEEDS_OFFLOAD is for what the GPU cannot hold even with the least context; else the context is refused."""
    if not any(plan.kind in (PlanKind.FEWER_GPU_LAYERS, PlanKind.MOE_ON_CPU) for plan in plans):
        return Verdict.REFUSE
    least = replace(task.wish, n_ctx=min(LEAST_CONTEXT, task.wish.n_ctx), n_parallel=1, n_kept=0, n_gpu_layers=-1)
    whole = plan_for(task, PlanKind.SMALLER_CONTEXT, least).judgement.verdict
    return Verdict.REFUSE if whole is Verdict.FITS else Verdict.NEEDS_OFFLOAD


def plan_for(
    task: Task, kind: PlanKind, params: LoadParams, *, evicted: Iterable[Resident] = (), subject: str | None = None
) -> Plan:
    """That way, whether it fits or not."""
    evicted = tuple(evicted)
    freed: dict[str, int] = {}
    for resident in evicted:
        for device, n_bytes in resident.bytes_by_device.items():
            freed[device] = freed.get(device, 0) + n_bytes
    bill = task.price(params)
    rate = tokens_per_s(bill, task.machine, active_share=task.active_share)
    return Plan(
        kind,
        params,
        bill,
        judge(bill, task.machine, freed=freed),
        speed_class(rate),
        rate,
        tuple(resident.model_id for resident in evicted),
        subject,
    )


def most_gpu_layers(task: Task, params: LoadParams) -> Plan | None:
    """The plan with the most layers on the GPU that fits; None where not even one layer does."""
    full = replace(params, n_gpu_layers=-1)
    best = plan_for(task, PlanKind.FEWER_GPU_LAYERS, full)
    if best.judgement.may_load:
        return best
    low, high = 0, task.n_layers - 1  # known to be worth trying, and the most that may fit
    found: Plan | None = None
    while low < high:
        middle = (low + high + 1) // 2
        tried = plan_for(task, PlanKind.FEWER_GPU_LAYERS, replace(params, n_gpu_layers=middle))
        if tried.judgement.verdict is Verdict.FITS:
            found, low = tried, middle
        else:
            high = middle - 1
    return found


def fewest_moe_on_cpu(task: Task, params: LoadParams) -> Plan | None:
    """All layers on the GPU, with the MoE experts of as few first layers as needed in RAM."""
    if not task.has_moe_experts:
        return None
    low, high = 0, task.n_layers - 1
    found: Plan | None = None
    while low < high:
        middle = (low + high) // 2
        tried = plan_for(task, PlanKind.MOE_ON_CPU, replace(params, n_gpu_layers=-1, n_cpu_moe=middle + 1))
        if tried.judgement.verdict is Verdict.FITS:
            found, high = tried, middle
        else:
            low = middle + 1
    return found


def _ways_out(task: Task) -> Iterable[Plan]:
    wish = task.wish
    yield from _evictions(task)
    placed = tuple(_placements(task, wish)) if _has_gpu(task) else ()
    yield from placed
    for kind, params in _smaller(wish):
        tried = plan_for(task, kind, params)
        if tried.judgement.may_load:
            yield tried
        elif _has_gpu(task) and not placed:  # else it would buy a layer or two
            yield from (replace(plan, kind=kind) for plan in _placements(task, params))
    if task.machine.gpu is not None and wish.n_gpu_layers != 0:
        on_cpu = plan_for(task, PlanKind.CPU_ONLY, replace(wish, n_gpu_layers=0, n_cpu_moe=0))
        if on_cpu.judgement.may_load:
            yield on_cpu


def with_others(found: Outlook, others: Iterable[Other]) -> Outlook:
    """With the best of each kind of `others` that fits as it is and is pleasant; the first named are preferred.

    Only where no plan for what was asked for is pleasant.
    """
    if any(rank_of(plan.speed) <= rank_of(SpeedClass.READING) for plan in found.plans):
        return found
    added: list[Plan] = []
    for other in others:
        if any(plan.kind is other.kind for plan in added):
            continue
        plan = plan_for(other.task, other.kind, other.task.wish, subject=other.subject)
        is_better = rank_of(plan.speed) < rank_of(found.asked.speed) or not found.asked.judgement.may_load
        is_pleasant = rank_of(plan.speed) <= rank_of(SpeedClass.READING)
        if plan.judgement.verdict is Verdict.FITS and is_better and is_pleasant:
            added.append(replace(plan, model_id=other.model_id, is_installed=other.is_installed))
    return replace(found, plans=(*found.plans, *added))


def _has_gpu(task: Task) -> bool:
    return task.machine.gpu is not None and task.wish.n_gpu_layers != 0


def _placements(task: Task, params: LoadParams) -> Iterable[Plan]:
    for plan in (most_gpu_layers(task, params), fewest_moe_on_cpu(task, params)):
        if plan is not None:
            yield plan


def _smaller(wish: LoadParams) -> Iterable[tuple[PlanKind, LoadParams]]:
    can_quantise = wish.flash_attn != "off"
    if can_quantise and wish.type_v not in QUANTIZED:
        yield PlanKind.KV_Q8_0, replace(wish, type_k="q8_0", type_v="q8_0")
    if can_quantise and "q4_0" not in (wish.type_k, wish.type_v):
        yield PlanKind.KV_Q4_0, replace(wish, type_k="q4_0", type_v="q4_0")
    for n_ctx in (step for step in CONTEXT_STEPS if step < wish.n_ctx):
        yield PlanKind.SMALLER_CONTEXT, replace(wish, n_ctx=n_ctx)
    n_ctx = wish.n_ctx // wish.n_parallel
    if wish.n_parallel > 1 and n_ctx >= LEAST_CONTEXT_OF_ONE:
        yield PlanKind.FEWER_SEQUENCES, replace(wish, n_parallel=1, n_kept=min(wish.n_kept, 1), n_ctx=n_ctx)


def _evictions(task: Task) -> Iterable[Plan]:
    """Let idle experts go, the longest unused first, as many as needed and not one more (fault A15)."""
    gone: list[Resident] = []
    for resident in (one for one in task.residents if one.is_idle):
        gone.append(resident)
        plan = plan_for(task, PlanKind.EVICT, task.wish, evicted=gone)
        if plan.judgement.may_load:
            yield plan
            return


_CHANGE_ORDER = (
    PlanKind.AS_ASKED,
    PlanKind.EVICT,
    PlanKind.KV_Q8_0,
    PlanKind.SMALLER_CONTEXT,
    PlanKind.FEWER_SEQUENCES,
    PlanKind.MOE_ON_CPU,
    PlanKind.HOT_MOE_ON_GPU,
    PlanKind.FEWER_GPU_LAYERS,
    PlanKind.KV_Q4_0,
    PlanKind.OTHER_QUANTIZATION,
    PlanKind.CPU_ONLY,
    PlanKind.OTHER_EXPERT,
)


def _preference(plan: Plan) -> tuple[int, int, int]:
    """Pleasant speed first, then the least change, then the largest context."""
    return (rank_of(plan.speed), _CHANGE_ORDER.index(plan.kind), -plan.params.n_ctx)


def _distinct(plans: Iterable[Plan]) -> Iterable[Plan]:
    """The best of each kind: more would be noise."""
    seen: set[PlanKind] = set()
    for plan in plans:
        if plan.kind not in seen:
            seen.add(plan.kind)
            yield plan


def default_wish(
    *, weights_bytes: int, machine: MachineMemory, n_ctx: int, n_parallel: int, base: LoadParams
) -> LoadParams:
    """Load parameters for this machine where nobody has asked for others.

    On a card of its own memory each of `n_parallel` sequences may fill its whole context, since what is free there has
    no other use; elsewhere all share `n_ctx` cells. An expert that takes more than half of the card is loaded frugally:
    two sequences, and q8_0 keys and values, which cost next to no speed there.
    """
    gpu = machine.gpu
    if gpu is None or gpu.kind is MemoryKind.UNIFIED or base.n_gpu_layers == 0 or not gpu.total_bytes:
        return replace(base, n_ctx=n_ctx, n_parallel=n_parallel)
    if weights_bytes <= gpu.total_bytes // 2:
        return replace(base, n_ctx=n_ctx * n_parallel, n_parallel=n_parallel)
    n_few = min(n_parallel, 2)
    return replace(
        base, n_ctx=n_ctx * n_few, n_parallel=n_few, n_kept=min(base.n_kept, 2), type_k="q8_0", type_v="q8_0"
    )
