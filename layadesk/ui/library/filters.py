"""Which models of the catalogue are shown: words, language, task, size, whether they fit, whether they are here."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from layadesk.domain.memory_fit.verdict import Verdict
from layadesk.ui.texts.card_notes import card_note

if TYPE_CHECKING:
    from layadesk.usecases.browse_library import LibraryEntry
    from layadesk.usecases.fitting import Fitting

GIB: Final = 2**30
SIZES: Final = (2 * GIB, 6 * GIB, 12 * GIB, 24 * GIB)  # "up to …"
HUB: Final = "huggingface:"
GOOD_AT: Final = 0.7  # of 1: what an expert is listed under
LOADABLE: Final = frozenset({Verdict.FITS, Verdict.TIGHT, Verdict.NEEDS_OFFLOAD})


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty, 0 and False let everything through."""

    words: str = ""
    language: str = ""
    task: str = ""
    most_bytes: int = 0
    fits_here: bool = False
    installed: bool = False

    def takes(self, entry: "LibraryEntry", best: "Fitting | None") -> bool:
        """`best` is the quantization that is recommended here, None where none fits or nobody knows yet."""
        return (
            all(word in searched(entry) for word in self.words.casefold().split())
            and (not self.language or self.language in languages_of(entry))
            and (not self.task or self.task in tasks_of(entry))
            and (not self.most_bytes or smallest(entry) <= self.most_bytes)
            and (not self.installed or entry.is_installed)
            and (not self.fits_here or (best is not None and best.verdict in LOADABLE))
        )


def is_offered(entry: "LibraryEntry") -> bool:
    """Whether it is here, or can be had from a hub; what comes in packages only the set-up can fetch."""
    files = () if entry.card is None else entry.card.files
    return entry.is_installed or any(file.source.startswith(HUB) for file in files)


def searched(entry: "LibraryEntry") -> str:
    """Everything that words are looked for in."""
    card = entry.card
    parts = [entry.model_id, *(model.name for model in entry.installed)]
    if card is not None:
        parts += [card.name, card.note, card_note(card.note), card.source, card.license]
        parts += [file.quantization for file in card.files]
    return " ".join(parts).casefold()


def languages_of(entry: "LibraryEntry") -> tuple[str, ...]:
    """As its maker states them."""
    return () if entry.card is None else entry.card.languages


def tasks_of(entry: "LibraryEntry") -> tuple[str, ...]:
    """What it is good at, the best first."""
    strengths = None if entry.card is None else entry.card.strengths
    if strengths is None:
        return ()
    good = [(share, task) for task, share in strengths.tasks.items() if share >= GOOD_AT]
    return tuple(task for _, task in sorted(good, key=lambda one: -one[0]))


def smallest(entry: "LibraryEntry") -> int:
    """Of its quantizations in bytes; 0 where no size is known, so that it is not hidden."""
    files = () if entry.card is None else entry.card.files
    sizes = [file.size_bytes or file.rounded_bytes for file in files]
    return min((size for size in sizes if size), default=entry.n_bytes_on_disk)
