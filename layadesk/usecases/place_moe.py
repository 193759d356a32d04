"""Hot layers on the GPU: where MoE experts are kept in RAM and VRAM is left, what was measured says which to move.

The bill is llama.cpp's own where the file is here; the gain is told by bytes, and the next answers show it.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from layadesk.domain.memory_fit.arithmetic import moe_layers_in_ram
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.moe_placement import MoePlacement, hot_layers_on_gpu
from layadesk.domain.memory_fit.plans import Plan
from layadesk.domain.memory_fit.token_reads import gained_ms, reads_of
from layadesk.domain.memory_fit.verdict import Verdict, judge
from layadesk.domain.models import ExpertSpec
from layadesk.domain.moe_experts import MoeRecord
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.other_ways import task_of
from layadesk.usecases.price_load import LoadQuestion, PriceLoad
from layadesk.workers.engine_client import EngineClient

N_PAST = 1024  # for the gain: the cache does not move


class PlaceMoe:
    """Everything returns at once; what has to be priced is, on a thread of its own."""

    def __init__(
        self,
        engine: EngineClient,
        price: PriceLoad,
        machine: Callable[[], MachineMemory],
        gate: LoadGate,
        bandwidths: Callable[[], Mapping[str, float]],
    ) -> None:
        self._engine = engine
        self._price = price
        self._machine = machine
        self._gate = gate
        self._bandwidths = bandwidths
        self._thread = ThreadPoolExecutor(1, "place-moe")

    def advise(self, model_id: str, record: MoeRecord) -> Future[MoePlacement | None]:
        """What to move to the GPU for this profile; None where nothing is in RAM that had better not be, or fits."""
        return self._thread.submit(self._advise, model_id, record)

    def take(self, model_id: str, plan: Plan) -> None:
        """Load it that way from now on; it goes, and the next question brings it back."""
        self._gate.choose(model_id, plan)

    def close(self) -> None:
        """Nothing new is taken; what runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _advise(self, model_id: str, record: MoeRecord) -> MoePlacement | None:
        spec = self._engine.spec(model_id)
        if spec is None or not (spec.params.n_cpu_moe or spec.params.tensor_overrides):
            return None
        machine, facts = self._machine(), self._price.facts_of(spec.path)
        if machine.gpu is None or not moe_layers_in_ram(spec.params, len(facts.layers)):
            return None
        own = tuple(one for one in self._gate.residents() if one.model_id == model_id)
        found = hot_layers_on_gpu(replace(task_of(facts, spec.params, machine), residents=own), facts, record)
        if found is None:
            return None
        confirmed = self._confirmed(spec, found, machine)
        if confirmed.plan.judgement.verdict is not Verdict.FITS:
            return None
        device = machine.gpu.device
        before = reads_of(facts, spec.params, n_past=N_PAST, gpu=device)
        after = reads_of(facts, found.plan.params, n_past=N_PAST, gpu=device)
        return replace(confirmed, gained_ms=gained_ms(before, after, self._bandwidths()))

    def _confirmed(self, spec: ExpertSpec, found: MoePlacement, machine: MachineMemory) -> MoePlacement:
        """With the bill of llama.cpp itself instead of the arithmetic's."""
        question = LoadQuestion(self._price.facts_of(spec.path), spec.path, found.plan.params, machine)
        bill = self._price.bill(question)
        freed: dict[str, int] = {}
        for one in self._gate.residents():
            if one.model_id in found.plan.evicts:
                freed = dict(one.bytes_by_device)
        return replace(found, plan=replace(found.plan, bill=bill, judgement=judge(bill, machine, freed=freed)))
