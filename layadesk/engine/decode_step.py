"""One decode call of one expert, from its plan to its outcome."""

from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.engine.backend import DecodeOutcome
from layadesk.engine.batch import Batch
from layadesk.engine.scheduler import Plan

REFUSED_BATCH = ErrorReport(ErrorCode.DECODE_FAILED, {"reason": "the library refused the batch"})


@dataclass(slots=True, eq=False)
class Step:
    """One decode call of an expert, from its plan to its outcome. `n_pairs`: tokens before each of its, summed."""

    plan: Plan
    batch: Batch
    rows: list[int]
    n_sampled_before: int
    n_decoding: int
    n_pairs: float
    outcome: DecodeOutcome = DecodeOutcome.FAILED
    error: ErrorReport = REFUSED_BATCH
    seconds: float = 0.0
    is_called_off: bool = False

    @property
    def has_prompts(self) -> bool:
        """Whether prompts are computed, so that it may take long."""
        return self.plan.n_prefill > 0

    @property
    def request_ids(self) -> frozenset[str]:
        """Whose tokens are in it."""
        return frozenset(share.sequence.request_id for share in self.plan.shares)


@dataclass(frozen=True, slots=True)
class StepWork:
    """What one step did, for the statistics."""

    n_prefill: int = 0
    n_decoded: int = 0
