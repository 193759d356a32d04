"""What a load would take and whether it fits, for every place that may load an expert: one estimator, one answer.

Two levels: for a file that is here llama.cpp itself says what it would allocate (`DryRunner`); for one that is not, and
for a machine that is not this one, the arithmetic does. Both come as the same bill, with the same overhead and margin.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from layadesk.domain.errors import from_report
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of, check_kv_types, with_overhead
from layadesk.domain.memory_fit.bill import Basis, MemoryBill
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import Outlook, Resident, Task, outlook
from layadesk.model_library.model_facts import model_facts
from layadesk.model_library.shards import read_model
from layadesk.protocol.dry_run import DeviceSeen, Priced
from layadesk.workers.dry_runner import DryRunner, FileIdentity

log = logging.getLogger(__name__)

N_ROUNDS = 3  # a plan that llama.cpp prices otherwise than the arithmetic leads to other plans, which are priced again


@dataclass(frozen=True, slots=True)
class LoadQuestion:
    """What is to be priced: a file, or facts alone (`path` None), with parameters, on a machine.

    `residents` are the experts in memory; what they hold is not in what is free. `mmproj_bytes`: of its eyes or ears.
    """

    facts: ModelFacts | None
    path: str | None
    wish: LoadParams
    machine: MachineMemory
    residents: tuple[Resident, ...] = ()
    mmproj_bytes: int = 0


class PriceLoad:
    """Any thread that may wait for some hundred milliseconds. `corrections` are bytes by (architecture, device)."""

    def __init__(
        self,
        dry_runner: DryRunner | None,
        corrections: Callable[[], Mapping[tuple[str, str], int]] = dict,
    ) -> None:
        self._dry_runner = dry_runner
        self._corrections = corrections
        self._facts: dict[FileIdentity, ModelFacts] = {}
        self._lock = threading.Lock()

    def learn(self, corrections: Callable[[], Mapping[tuple[str, str], int]]) -> None:
        """Ask this before each bill from now on: what earlier loads took beyond theirs."""
        self._corrections = corrections

    @property
    def corrections(self) -> Mapping[tuple[str, str], int]:
        """As they are now."""
        return self._corrections()

    def devices(self) -> Sequence[DeviceSeen]:
        """What llama.cpp computes on here; asked of it once, then seen anew with each question. May block."""
        if self._dry_runner is None:
            return ()
        return self._dry_runner.devices or self._dry_runner.look_at_devices()

    def facts_of(self, path: str) -> ModelFacts:
        """What a file's headers say. Raises GGUF_* and MODEL_FILE_* errors."""
        identity = FileIdentity.of(path)
        with self._lock:
            known = None if identity is None else self._facts.get(identity)
        if known is not None:
            return known
        model = read_model(Path(path))
        facts = model_facts(*model.headers)
        if identity is not None:
            with self._lock:
                self._facts[identity] = facts
        return facts

    def outlook(self, question: LoadQuestion) -> Outlook:
        """The bill, the verdict and the plans. Raises BAD_PARAMETER, and what the file itself raises."""
        check_kv_types(question.wish, question.facts)
        bills: dict[LoadParams, MemoryBill] = {}
        found = self._outlook(question, bills)
        for _ in range(N_ROUNDS):
            wanted = [plan.params for plan in (found.asked, *found.plans) if plan.params not in bills]
            if question.path is None or self._dry_runner is None or not wanted:
                break
            bills.update(self._from_library(question, list(dict.fromkeys(wanted))))
            found = self._outlook(question, bills)
        return found

    def bill(self, question: LoadQuestion) -> MemoryBill:
        """The bill of the wish as it is."""
        return self.outlook(replace(question, machine=MachineMemory(gpus=question.machine.gpus))).asked.bill

    def _outlook(self, question: LoadQuestion, bills: Mapping[LoadParams, MemoryBill]) -> Outlook:
        facts, machine = question.facts, question.machine

        def price(params: LoadParams) -> MemoryBill:
            bill = bills.get(params)
            bill = self._estimate(question, params) if bill is None else bill
            return bill.with_mmproj(question.mmproj_bytes) if question.mmproj_bytes else bill

        return outlook(
            Task(
                price,
                machine,
                question.wish,
                n_layers=1 if facts is None else len(facts.layers) + 1,
                has_moe_experts=facts is not None and facts.moe_bytes > 0,
                active_share=1.0 if facts is None else facts.active_bytes / max(1, facts.weights_bytes),
                residents=question.residents,
            )
        )

    def _estimate(self, question: LoadQuestion, params: LoadParams) -> MemoryBill:
        """By arithmetic; for an architecture that it does not understand, from llama.cpp at once."""
        facts, gpu = question.facts, question.machine.gpu
        if facts is not None and facts.is_known:
            bill = bill_of(facts, params, None if gpu is None else Gpu(gpu.device))
            return self._corrected(facts, bill)
        priced = self._from_library(question, [params])
        if params in priced:
            return priced[params]
        n_layers = 1 if facts is None else len(facts.layers) + 1
        return MemoryBill((), 0, n_layers, Basis.UNKNOWN)

    def _from_library(self, question: LoadQuestion, wanted: Sequence[LoadParams]) -> dict[LoadParams, MemoryBill]:
        if question.path is None or self._dry_runner is None:
            return {}
        answers = self._dry_runner.price(question.path, wanted)
        bills: dict[LoadParams, MemoryBill] = {}
        for params, answer in zip(wanted, answers, strict=True):
            if isinstance(answer, Priced):
                n_vocab = 0 if question.facts is None else question.facts.n_vocab
                bills[params] = self._corrected(question.facts, with_overhead(answer.bill, n_vocab=n_vocab))
            elif params == question.wish and not self._is_priceable(question):
                raise from_report(answer.error)
            else:
                log.info("the dry run of %s says: %s", question.path, answer.error)
        return bills

    @staticmethod
    def _is_priceable(question: LoadQuestion) -> bool:
        return question.facts is not None and question.facts.is_known

    def _corrected(self, facts: ModelFacts | None, bill: MemoryBill) -> MemoryBill:
        if facts is None:
            return bill
        corrections = self._corrections()
        for device in bill.devices:
            n_bytes = corrections.get((facts.architecture, device.device), 0)
            if n_bytes:
                bill = bill.corrected(device.device, n_bytes)
        return bill
