"""Who has to leave memory for an expert that is wanted. Pure functions over what is there."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.models import ExpertSpec
from layadesk.protocol.commands import Configure


@dataclass(frozen=True, slots=True)
class Limits:
    """What experts may take together: `n_max` at a time, `memory_bytes` (None: no limit). See Configure."""

    n_max: int
    memory_bytes: int | None = None
    keep_alive_s: float | None = None

    @staticmethod
    def of(configure: Configure) -> "Limits":
        """Those of a command."""
        return Limits(configure.n_loaded_max, configure.memory_bytes, configure.keep_alive_s)


@dataclass(frozen=True, slots=True)
class Resident:
    """An expert in memory. An unknown size counts as nothing: only the number of experts limits it then."""

    model_id: str
    size_bytes: int | None
    last_used: float
    is_idle: bool


def who_goes(residents: Iterable[Resident], needs_bytes: int | None, limits: Limits, *, expert: str) -> list[Resident]:
    """Who has to go so that an expert of `needs_bytes` may come: idle ones first, the longest unused of them first.

    Raises OUT_OF_MEMORY with `needed` and `available` where it would not fit alone either.
    """
    needed = needs_bytes or 0
    if limits.memory_bytes is not None and needed > limits.memory_bytes:
        detail = "more than all experts together may take"
        raise fail(ErrorCode.OUT_OF_MEMORY, expert=expert, needed=needed, available=limits.memory_bytes, detail=detail)
    staying = sorted(residents, key=lambda one: (not one.is_idle, one.last_used))
    going: list[Resident] = []
    while staying and not _fits(staying, needed, limits):
        going.append(staying.pop(0))
    return going


def serves(loaded: ExpertSpec, wanted: ExpertSpec) -> bool:
    """Whether an expert loaded so does for what is wanted: the same file in the same way, its context no smaller."""
    if loaded.path != wanted.path or loaded.params.n_ctx < wanted.params.n_ctx:
        return False
    return replace(loaded.params, n_ctx=wanted.params.n_ctx) == wanted.params


def _fits(staying: list[Resident], needed: int, limits: Limits) -> bool:
    if len(staying) >= limits.n_max:
        return False
    taken = sum(one.size_bytes or 0 for one in staying)
    return limits.memory_bytes is None or taken + needed <= limits.memory_bytes
