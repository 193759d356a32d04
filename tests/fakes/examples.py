"""What several tests of the window show: a refused load, a proposal for a machine, kept routes, a measured load, a
busy card, diagnoses."""

from dataclasses import replace

from layadesk.domain.chat import Rating
from layadesk.domain.diagnosis import Diagnosis, Symptom
from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.hardware import GpuKind, GpuSample
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu, bill_of
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.load_record import LoadMeasure, LoadRecord
from layadesk.domain.memory_fit.machine import GIB, GpuMemory, MachineMemory
from layadesk.domain.memory_fit.plans import Resident, Task, outlook
from layadesk.domain.proposal import Candidate, Proposal, RouterCandidate, together
from layadesk.domain.quantization import Closeness
from layadesk.domain.route_counts import RouteRecord
from layadesk.domain.strengths import Strengths
from layadesk.usecases.load_gate import LoadOutlook
from tests.domain.memory_fit.facts import dense

NOW = 1_800_000_000.0
REFUSED = ErrorReport(
    ErrorCode.LOAD_REFUSED,
    {
        "expert": "smol",
        "device": "CUDA0",
        "needs_bytes": 20 * GIB,
        "free_bytes": 9 * GIB,
        "reserve_bytes": 2 * GIB,
        "item": "kv",
        "item_bytes": 8 * GIB,
    },
)


BUSY_GPU = GpuSample(
    "gpu-1",
    "NVIDIA GeForce RTX 4090",
    24 * GIB,
    18 * GIB,
    16 * GIB,
    utilization_percent=97.0,
    memory_busy_percent=88.0,
    power_watts=312.4,
    power_limit_watts=450.0,
    temperature_celsius=64.0,
    kind=GpuKind.DISCRETE,
)
DIAGNOSES = (
    Diagnosis(Symptom.DRIVER_MISMATCH, is_serious=True),
    Diagnosis(Symptom.NO_SWAP, {"largest_bytes": 9 * 2**30, "ram_bytes": 16 * 2**30, "swap_bytes": 0}),
    Diagnosis(
        Symptom.BELOW_BANDWIDTH,
        {"expert": "smol", "tps": 50.0, "ceiling_tps": 100.0, "share": 0.5},
        is_trouble=False,
    ),
)


def load_outlook(free_gib: float, *residents: Resident, n_ctx: int = 65536) -> LoadOutlook:
    """What loading an expert on a card of 24 GiB would mean."""
    card = GpuMemory("CUDA0", "a card", total_bytes=24 * GIB, free_bytes=int(free_gib * GIB))
    machine = MachineMemory(64 * GIB, 50 * GIB, (card,))
    facts = dense()
    task = Task(
        lambda params: bill_of(facts, params, Gpu("CUDA0")),
        machine,
        LoadParams(n_ctx=n_ctx),
        n_layers=33,
        residents=residents,
    )
    return LoadOutlook("smol", False, outlook(task), load_s=4.0)


def candidate(model_id: str, gib: float, tasks: dict[str, float], tps: float) -> Candidate:
    """One of a proposal."""
    bill = MemoryBill((DeviceBill("CUDA0", round((gib + 1) * GIB)),), 1, 1, Basis.ARITHMETIC)
    strengths = Strengths(tasks)
    return Candidate(model_id, "Q4_K_M", strengths, 4e9, 1.0, Closeness.GOOD, round(gib * GIB), bill, tps)


EXPERTS = (candidate("coder", 4.4, {"code": 0.95}, 60.0), candidate("four", 2.5, {"reasoning": 0.8}, 100.0))
PROPOSAL = Proposal(RouterCandidate("bundled", 0.74, 0), EXPERTS, together(EXPERTS))
NAMES = {"coder": "Coder 7B", "four": "Four B"}


def records(n_smol: int, n_coder: int, *, was_chosen: bool = True) -> list[RouteRecord]:
    """One an hour, the newest first; the newest was called wrong."""
    return [
        RouteRecord(NOW - i * 3600, "smol" if i < n_smol else "coder", "chat" if i % 2 else "code", 0.9, 0.2 + i, 300.0,
                    Rating.WRONG if i == 0 else None, was_chosen)
        for i in range(n_smol + n_coder)
    ]  # fmt: skip


PREDICTED = bill_of(dense(), LoadParams(), Gpu("CUDA0")).corrected(CPU, 2**28)
REPORTED = tuple(replace(one, overhead_bytes=0, margin_bytes=0) for one in PREDICTED.devices)
RECORD = LoadRecord(
    1.0, "smol", "llama", "CUDA", 49152, LoadParams(), PREDICTED, LoadMeasure(REPORTED, 2**29, 2**29), 33, 33, 6 * GIB
)
