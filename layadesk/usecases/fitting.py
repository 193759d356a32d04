"""Whether a quantization fits this machine, and which of a model's is the best that does."""

from collections.abc import Sequence
from dataclasses import dataclass

from layadesk.domain.memory_fit.plans import Outlook
from layadesk.domain.memory_fit.speed import SpeedClass, rank_of
from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.domain.models import ModelCard


@dataclass(frozen=True, slots=True)
class Fitting:
    """Whether one quantization fits here, at the context asked for. `outlook` None: its numbers are unknown."""

    model_id: str
    quantization: str
    verdict: Verdict
    outlook: Outlook | None


def best_that_fits(card: ModelCard, fittings: Sequence[Fitting]) -> Fitting | None:
    """The largest that fits and is as pleasant to read along as the card's first file; else what loads at all.

    More bits are better answers, but only until reading along becomes waiting: where the first file is slow already,
    no larger one is chosen. Where nothing fits whole, the smallest that loads by a plan taken without asking.
    """
    sizes = {file.quantization: file.size_bytes or file.rounded_bytes or 0 for file in card.files}
    priced = [(one, one.outlook) for one in fittings if one.outlook is not None]
    first = sizes[card.files[0].quantization]
    limit = next((_rank(outlook) for one, outlook in priced if sizes[one.quantization] == first), _READING)
    for verdict in (Verdict.FITS, Verdict.TIGHT):
        fitting = [(one, outlook) for one, outlook in priced if one.verdict is verdict]
        larger = [(one, outlook) for one, outlook in fitting if sizes[one.quantization] >= first]
        pleasant = [one for one, outlook in larger if _rank(outlook) <= min(limit, _READING)]
        modest = [one for one, _ in fitting if sizes[one.quantization] <= first]
        if fitting:
            chosen = pleasant or modest or [one for one, _ in fitting]
            return max(chosen, key=lambda one: sizes[one.quantization])
    loadable = [one for one, outlook in priced if outlook.automatic is not None]
    return min(loadable, key=lambda one: sizes[one.quantization], default=None)


_READING = rank_of(SpeedClass.READING)


def _rank(outlook: Outlook) -> int:
    return rank_of(outlook.asked.speed)
