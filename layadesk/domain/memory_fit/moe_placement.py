"""Where MoE experts had better be, by what was measured: with some in RAM, which layers earn a place on the GPU.

A GGUF keeps all MoE experts of a layer in one tensor, so a layer's move together. A token reads as many of them in each
layer, but not equally fresh ones: where a layer's gate keeps to a few, the processor's caches and the mapped pages have
them already. So hot is the layer that reads the most bytes, spread over the most MoE experts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from layadesk.domain.inference import LoadParams, TensorOverride
from layadesk.domain.memory_fit.arithmetic import moe_layers_in_ram, n_gpu_layers_of
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import Plan, PlanKind, Task, plan_for
from layadesk.domain.memory_fit.token_reads import active_moe_bytes
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.moe_experts import MoeRecord, balance_of


@dataclass(frozen=True, slots=True)
class MoePlacement:
    """`plan` puts the MoE experts of `layers` on the GPU as well. `gained_ms` of a token, None where unknown."""

    plan: Plan
    layers: tuple[int, ...]
    moved_bytes: int
    gained_ms: float | None = None


def layers_by_heat(facts: ModelFacts, record: MoeRecord) -> tuple[int, ...]:
    """The hottest first: bytes a token reads of a layer's MoE experts, times how evenly it spreads over them."""
    spread = {one.layer: one.entropy for one in balance_of(record)}
    heat = {
        number: active_moe_bytes(facts, layer) * (spread.get(number) or 0.0)
        for number, layer in enumerate(facts.layers)
        if layer.moe_bytes
    }
    return tuple(sorted(heat, key=lambda number: (-heat[number], number)))


def hot_layers_on_gpu(task: Task, facts: ModelFacts, record: MoeRecord) -> MoePlacement | None:
    """The most of the hottest layers that fit beside what `task.wish` has on the GPU already; None where none does.

    `task.residents` is the model as it is in memory now: it goes, and its room comes back, before it is loaded anew.
    Only layers whose other weights are there count: MoE experts alone on the GPU would send every token back and forth.
    """
    in_ram = moe_layers_in_ram(task.wish, len(facts.layers))
    first_on_gpu = len(facts.layers) + 1 - n_gpu_layers_of(task.wish, facts)
    candidates = [layer for layer in layers_by_heat(facts, record) if layer in in_ram and layer >= first_on_gpu]
    low, high = 0, len(candidates)
    found: Plan | None = None
    while low < high:
        middle = (low + high + 1) // 2
        params = _with_in_ram(task.wish, in_ram - set(candidates[:middle]))
        tried = plan_for(task, PlanKind.HOT_MOE_ON_GPU, params, evicted=task.residents)
        if tried.judgement.verdict is Verdict.FITS:
            found, low = tried, middle
        else:
            high = middle - 1
    if found is None:
        return None
    layers = tuple(sorted(candidates[:low]))
    return MoePlacement(found, layers, sum(facts.layers[layer].moe_bytes for layer in layers))


def moe_override(layers: Iterable[int]) -> TensorOverride:
    """Keeps the MoE experts of these layers in RAM."""
    numbers = "|".join(map(str, sorted(layers)))
    return TensorOverride(rf"blk\.({numbers})\.ffn_(up|down|gate|gate_up)_(ch|)exps", CPU)


def _with_in_ram(wish: LoadParams, layers: Iterable[int]) -> LoadParams:
    """`wish` with the MoE experts of these layers in RAM and no others."""
    layers = sorted(layers)
    others = tuple(one for one in wish.tensor_overrides if not _is_about_moe(one))
    if _is_beginning(layers):
        return replace(wish, n_cpu_moe=len(layers), tensor_overrides=others)
    return replace(wish, n_cpu_moe=0, tensor_overrides=(*others, moe_override(layers)))


def _is_beginning(layers: Sequence[int]) -> bool:
    return list(layers) == list(range(len(layers)))


def _is_about_moe(one: TensorOverride) -> bool:
    return "exps" in one.pattern and one.device == CPU
