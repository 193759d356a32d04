"""What could be loaded instead of an expert that does not fit: another quantization of it, or another expert.

What is installed comes before what would have to be downloaded, and the larger before the smaller.
"""

import logging
from collections.abc import Iterable, Iterator

from layadesk.domain.errors import LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import Other, PlanKind, Task, default_wish
from layadesk.domain.models import InstalledModel
from layadesk.model_library.catalogue import Catalogues
from layadesk.model_library.catalogue_facts import facts_of_card
from layadesk.model_library.inventory import Inventory
from layadesk.usecases.price_load import LoadQuestion, PriceLoad

log = logging.getLogger(__name__)


class OtherWays:
    """Any thread that may read the headers of the installed models."""

    def __init__(self, inventory: Inventory, price: PriceLoad, catalogues: Catalogues) -> None:
        self._inventory = inventory
        self._price = price
        self._catalogues = catalogues

    def of_installed(self, model: InstalledModel, question: LoadQuestion) -> Iterator[Other]:
        """Instead of an installed expert, on the machine of the question."""
        if question.facts is None:
            return
        for facts, one in sorted(self._smaller(model, question.facts), key=lambda pair: -pair[0].weights_bytes):
            is_same = model.card_id is not None and one.card_id == model.card_id
            kind = PlanKind.OTHER_QUANTIZATION if is_same else PlanKind.OTHER_EXPERT
            name = one.quantization or one.name if is_same else one.name
            wish = default_wish(
                weights_bytes=facts.weights_bytes,
                machine=question.machine,
                n_ctx=min(question.wish.n_ctx, one.n_ctx_train or question.wish.n_ctx),
                n_parallel=question.wish.n_parallel,
                base=LoadParams(n_gpu_layers=question.wish.n_gpu_layers),
            )
            yield Other(kind, name, task_of(facts, wish, question.machine), one.model_id, is_installed=True)
        yield from self.of_catalogue(model.card_id, question.facts, question.wish, question.machine)

    def of_catalogue(
        self, card_id: str | None, facts: ModelFacts, params: LoadParams, machine: MachineMemory
    ) -> Iterator[Other]:
        """Of the catalogue: what is smaller than `facts`, whether or not it is installed."""
        found = []
        for card in self._catalogues.current().cards:
            for file in card.files:
                its = facts_of_card(card, file)
                if its is None or not its.is_known or its.weights_bytes >= facts.weights_bytes:
                    continue
                is_same = card.model_id == card_id
                kind = PlanKind.OTHER_QUANTIZATION if is_same else PlanKind.OTHER_EXPERT
                found.append((its, kind, file.quantization if is_same else card.model_id, card.model_id))
        for its, kind, name, model_id in sorted(found, key=lambda one: -one[0].weights_bytes):
            yield Other(kind, name, task_of(its, params, machine), model_id)

    def _smaller(self, model: InstalledModel, facts: ModelFacts) -> Iterable[tuple[ModelFacts, InstalledModel]]:
        for one in self._inventory.list():
            if one.model_id == model.model_id or not one.is_present:
                continue
            try:
                its = self._price.facts_of(one.path)
            except LayaDeskError as error:
                log.info("%s is no way out: %s", one.model_id, error.code)
                continue
            if its.is_known and its.weights_bytes < facts.weights_bytes:
                yield its, one


def task_of(facts: ModelFacts, params: LoadParams, machine: MachineMemory) -> Task:
    """What is to be loaded, priced by arithmetic."""
    gpu = None if machine.gpu is None else Gpu(machine.gpu.device)
    return Task(
        lambda wanted: bill_of(facts, wanted, gpu),
        machine,
        params,
        n_layers=len(facts.layers) + 1,
        has_moe_experts=facts.moe_bytes > 0,
        active_share=facts.active_bytes / max(1, facts.weights_bytes),
    )
