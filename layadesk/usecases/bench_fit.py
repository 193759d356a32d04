"""Predicted against measured memory: every installed expert, loaded in earnest with many parameters, one at a time.

Each load happens in a process of its own that decodes one full step, so that what it takes can be measured clean.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from layadesk.domain.errors import ErrorReport, LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of, with_overhead
from layadesk.domain.memory_fit.bill import CPU, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.verdict import judge
from layadesk.model_library.inventory import Inventory
from layadesk.protocol.dry_run import Priced
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.price_load import PriceLoad
from layadesk.workers.dry_runner import DryRunner

N_CTX = (2048, 8192, 32768)
KV_TYPES = ("f16", "q8_0", "q4_0")
N_PARALLEL = (1, 4)


@dataclass(frozen=True, slots=True)
class FitRow:
    """One load. `arithmetic`, `dry_run` and `reported` are buffers alone; `predicted_private_bytes` is the bill of the
    host with overhead and margin, `private_bytes` what the process really took. None: not priced so, or not loaded."""

    model_id: str
    n_ctx: int
    kv_type: str
    n_parallel: int
    arithmetic: MemoryBill | None
    dry_run: MemoryBill | None
    reported: MemoryBill | None
    predicted_private_bytes: int | None
    private_bytes: int | None
    error: ErrorReport | None = None

    @property
    def worst_difference_bytes(self) -> int | None:
        """Between what was predicted and what was reported, over all devices and kinds of buffers; 0 is exact."""
        if self.reported is None or self.dry_run is None:
            return None
        others = [bill for bill in (self.arithmetic, self.dry_run) if bill is not None]
        return max(_difference(device, bill.on(device.device)) for device in self.reported.devices for bill in others)


class BenchFit:
    """Blocks for minutes."""

    def __init__(self, inventory: Inventory, runner: DryRunner, price: PriceLoad, machine: MachineNow) -> None:
        self._inventory = inventory
        self._runner = runner
        self._price = price
        self._machine = machine

    def __call__(self) -> Iterator[FitRow]:
        """Row by row, as they are measured. A load that would not fit is not made."""
        for model in self._inventory.list():
            if model.is_present:
                for n_ctx in N_CTX:
                    for kv_type in KV_TYPES:
                        for n_parallel in N_PARALLEL:
                            yield self._row(model.model_id, model.path, n_ctx, kv_type, n_parallel)

    def _row(self, model_id: str, path: str, n_ctx: int, kv_type: str, n_parallel: int) -> FitRow:
        params = LoadParams(n_ctx=n_ctx, type_k=kv_type, type_v=kv_type, n_parallel=n_parallel)
        row = (model_id, n_ctx, kv_type, n_parallel)
        machine = self._machine.read()
        try:
            facts = self._price.facts_of(path)
            gpu = None if machine.gpu is None else Gpu(machine.gpu.device)
            arithmetic = bill_of(facts, params, gpu) if facts.is_known else None
        except LayaDeskError as error:
            return FitRow(*row, None, None, None, None, None, error.report)
        (said,) = self._runner.price(path, (params,))
        if not isinstance(said, Priced):
            return FitRow(*row, arithmetic, None, None, None, None, said.error)
        whole = with_overhead(said.bill, n_vocab=facts.n_vocab)
        predicted = whole.on(CPU).total_bytes
        if not judge(whole, machine).may_load:
            return FitRow(*row, arithmetic, said.bill, None, predicted, None)
        loaded = self._runner.load_in_earnest(path, params)
        if not isinstance(loaded, Priced):
            return FitRow(*row, arithmetic, said.bill, None, predicted, None, loaded.error)
        return FitRow(*row, arithmetic, said.bill, loaded.bill, predicted, loaded.private_bytes)


def _difference(one: DeviceBill, other: DeviceBill) -> int:
    return max(
        abs(one.weights_bytes - other.weights_bytes),
        abs(one.kv_bytes - other.kv_bytes),
        abs(one.compute_bytes - other.compute_bytes),
        abs(one.output_bytes - other.output_bytes),
    )
