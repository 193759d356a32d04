"""What a file of the catalogue would take on a machine, by its numbers, as the pool would load it."""

import math
from dataclasses import dataclass

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.machine import MachineMemory, ram_floor_bytes
from layadesk.domain.memory_fit.plans import Outlook, Resident, default_wish, outlook
from layadesk.domain.models import ModelCard, ModelFile
from layadesk.model_library.catalogue_facts import facts_of_card
from layadesk.usecases.other_ways import task_of
from layadesk.usecases.price_load import LoadQuestion, PriceLoad

DEFAULT_PARALLEL = 4


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """Where a file of the catalogue is to be priced, and with what context for each of `n_parallel` sequences."""

    machine: MachineMemory
    n_ctx: int
    n_parallel: int = DEFAULT_PARALLEL
    n_gpu_layers: int = -1
    residents: tuple[Resident, ...] = ()

    @property
    def most_bytes(self) -> float:
        """All that weights could take here, with every idle expert gone; endless where nobody knows."""
        ram = self.machine.ram_available_bytes
        cards = [gpu.free_bytes for gpu in self.machine.gpus]
        if ram is None or None in cards:
            return math.inf
        gone = sum(sum(one.bytes_by_device.values()) for one in self.residents if one.is_idle)
        free = ram + sum(one for one in cards if one is not None) + gone
        return free - ram_floor_bytes(self.machine.ram_total_bytes)


def price_file(price: PriceLoad, card: ModelCard, file: ModelFile, question: FileQuestion) -> Outlook | None:
    """None where its numbers are not known. Computes for up to a second."""
    facts = facts_of_card(card, file)
    if facts is None:
        return None
    wish = default_wish(
        weights_bytes=facts.weights_bytes,
        machine=question.machine,
        n_ctx=min(question.n_ctx, facts.n_ctx_train or question.n_ctx),
        n_parallel=question.n_parallel,
        base=LoadParams(n_gpu_layers=question.n_gpu_layers),
    )
    if facts.weights_bytes > question.most_bytes:  # no way out can help, and looking for them takes its time
        return outlook(task_of(facts, wish, question.machine), has_ways_out=False)
    return price.outlook(LoadQuestion(facts, None, wish, question.machine, question.residents))
