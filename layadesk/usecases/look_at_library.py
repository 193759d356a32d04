"""What the library has, in one look at the disk, and what of it suits this machine."""

import json
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.plans import Outlook, PlanKind
from layadesk.domain.models import CardKind, ModelCard, ModelFile, Origin
from layadesk.domain.proposal import Candidate, Proposal, RouterCandidate, propose
from layadesk.domain.quantization import Closeness, bits_per_weight, closeness
from layadesk.domain.strengths import guess_strengths
from layadesk.model_library.catalogue_facts import facts_of_card
from layadesk.model_library.library_disk import DiskRoom, Leftover
from layadesk.usecases.browse_library import Library, LibraryEntry
from layadesk.usecases.fitting import Fitting
from layadesk.usecases.keep_library import Removal

BUNDLED = "bundled"
_PROPOSED = frozenset({PlanKind.AS_ASKED, PlanKind.MOE_ON_CPU})  # what is slower or smaller, a user chooses knowingly


@dataclass(frozen=True, slots=True)
class LibrarySeen:
    """All that is on the Models page at one moment; `room` None before the first look."""

    entries: tuple[LibraryEntry, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    room: DiskRoom | None = None


@dataclass(frozen=True, slots=True)
class Suggested:
    """A proposal, the machine it is for, and what it would leave on the disk. `names` are those of its models."""

    proposal: Proposal
    machine: MachineMemory
    names: dict[str, str]
    free_disk_bytes: int | None
    n_ctx: int


class LookAtLibrary:
    """Any thread; a thread of its own looks, so that the disk and the planner hold nobody up."""

    def __init__(self, library: Library, router_figures: Path) -> None:
        self._library = library
        self._router_figures = router_figures
        self._executor = ThreadPoolExecutor(1, "library-look")
        self._slow = ThreadPoolExecutor(1, "library-suggest")  # takes seconds, which no look should wait for

    def __call__(self) -> Future[LibrarySeen]:
        """Entries, leftovers and free space, as they are now."""
        return self._executor.submit(self._look)

    def suggest(self, n_ctx: int, *, language: str = "") -> Future[Suggested]:
        """What to begin with here, with `n_ctx` tokens for each conversation. `language` is the user's, as `zh`."""
        return self._slow.submit(self._suggest, n_ctx, language)

    def removal(self, model_id: str) -> Future[Removal]:
        """What removing it would do, to be shown before. Fails with MODEL_NOT_HERE."""
        return self._executor.submit(self._library.removal, model_id)

    def close(self) -> None:
        """Wait for what runs; nothing new is taken."""
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._slow.shutdown(wait=True, cancel_futures=True)

    def _look(self) -> LibrarySeen:
        return LibrarySeen(self._library.entries(), self._library.leftovers(), self._library.room())

    def _suggest(self, n_ctx: int, language: str) -> Suggested:
        machine, judged = self._library.survey(n_ctx, worth_pricing).result()
        fits = {(one.model_id, one.quantization): one for one in judged}
        entries = [entry for entry in self._library.entries() if entry.card is not None]
        room = self._library.room()
        found = propose(
            _candidates(entries, fits),
            (RouterCandidate(BUNDLED, bundled_accuracy(self._router_figures), 0), *_routers(entries)),
            machine,
            free_disk_bytes=room.free_bytes,
            language=language,
        )
        names = {entry.model_id: entry.card.name for entry in entries if entry.card is not None}
        return Suggested(found, machine, names, room.free_bytes, n_ctx)


def _candidates(entries: Iterable[LibraryEntry], fits: dict[tuple[str, str], Fitting]) -> Iterable[Candidate]:
    for entry in entries:
        card = entry.card
        is_starter = any(model.origin is Origin.STARTER for model in entry.installed)
        if card is None or card.kind is not CardKind.EXPERT or is_starter or card.needs_consent:
            continue
        here = {model.card_quantization for model in entry.installed if model.is_present}
        for file in card.files:
            fitting = fits.get((card.model_id, file.quantization))
            found = None if fitting is None or fitting.outlook is None else candidate(card, file, fitting.outlook)
            if found is not None:
                yield replace(found, download_bytes=0) if file.quantization in here else found


def worth_pricing(card: ModelCard) -> Iterable[ModelFile]:
    """The file that is offered first, and the smallest of each closeness that is close: pricing all takes long."""
    kept = {file.quantization: file for file in card.files[:1]}
    smallest: dict[Closeness, ModelFile] = {}
    for file in card.files:
        how = closeness(file.quantization, file.path)
        n_bytes = file.size_bytes or file.rounded_bytes
        if how in (Closeness.FAIR, Closeness.WEAK, Closeness.ORIGINAL) or n_bytes is None:
            continue
        before = smallest.setdefault(how, file)
        if n_bytes < (before.size_bytes or before.rounded_bytes or 0):
            smallest[how] = file
    return (kept | {file.quantization: file for file in smallest.values()}).values()


def candidate(card: ModelCard, file: ModelFile, outlook: Outlook) -> Candidate | None:
    """One quantization as `propose` weighs it; None where its numbers are not known or nothing loads it."""
    facts = facts_of_card(card, file)
    n_bytes = file.size_bytes or file.rounded_bytes
    plan = next((one for one in outlook.plans if one.kind in _PROPOSED), None)
    if facts is None or n_bytes is None or plan is None:
        return None
    n_parameters = n_bytes * 8 / bits_per_weight(file.quantization)
    strengths = card.strengths or guess_strengths(
        f"{card.model_id} {card.name}", n_parameters=n_parameters, languages=card.languages
    )
    return Candidate(
        card.model_id,
        file.quantization,
        strengths,
        n_parameters,
        facts.active_bytes / max(1, facts.weights_bytes),
        closeness(file.quantization, file.path),
        n_bytes,
        plan.bill,
        plan.tokens_per_s,
    )


def _routers(entries: Iterable[LibraryEntry]) -> Iterable[RouterCandidate]:
    """Checkpoints whose accuracy nobody has measured here."""
    for entry in entries:
        if entry.card is not None and entry.card.kind is CardKind.ROUTER:
            n_bytes = 0 if entry.router_dir is not None else entry.card.files[0].size_bytes or 0
            yield RouterCandidate(entry.model_id, None, n_bytes)


def bundled_accuracy(figures: Path) -> float | None:
    """Of the router that ships, on prompts it was not made from: the mean of its languages; None without the file."""
    try:
        by_language = json.loads(figures.read_text(encoding="utf-8"))["project"]
        shares = [float(one["accuracy"]) for one in by_language.values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return sum(shares) / len(shares) if shares else None
