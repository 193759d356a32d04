"""What this program is made of, and where it keeps what is the user's."""

import importlib.metadata
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from layadesk import __version__

_LONG = 60  # some packages put the whole text where the name belongs
_LONGEST = 400  # of an expression, which may name the licences of a dozen parts


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A library of the program; `licence` None where its metadata does not say."""

    name: str
    version: str
    licence: str | None


class About:
    """Facts for the About window. Any thread; `parts` reads some seventy small files."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.version = __version__
        self.python = platform.python_version()
        self.system = platform.platform()

    def parts(self) -> tuple[ProgramPart, ...]:
        """The libraries that are there; none where not even this program is installed."""
        parts = (part for name in required_by("layadesk", _requirements) if (part := _part(name)) is not None)
        return tuple(sorted(parts, key=lambda part: part.name.lower()))


def required_by(name: str, requirements: Callable[[str], Iterable[str]]) -> set[str]:
    """What a package needs on this machine, and what that needs in turn, without the package itself.

    By the packages' own metadata, so that no second list has to be kept.
    """
    found: set[tuple[str, str]] = set()
    waiting = [(name, "")]
    while waiting:
        needing, extra = waiting.pop()
        for one in map(Requirement, requirements(needing)):
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                new = {(canonicalize_name(one.name), wanted) for wanted in ("", *one.extras)} - found
                found |= new
                waiting += new
    return {needed for needed, _ in found}


def _requirements(name: str) -> Iterable[str]:
    try:
        return importlib.metadata.requires(name) or ()
    except importlib.metadata.PackageNotFoundError:
        return ()


def _part(name: str) -> ProgramPart | None:
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    return ProgramPart(metadata["Name"], metadata["Version"], licence_of(metadata))


def licence_of(metadata: "importlib.metadata.PackageMetadata") -> str | None:
    """The SPDX expression, else the old field where it is a name, else the classifier."""
    for field, longest in (("License-Expression", _LONGEST), ("License", _LONG)):
        text = metadata[field].strip() if field in metadata else ""
        if text and len(text) <= longest and "\n" not in text:
            return text
    for classifier in metadata.get_all("Classifier") or ():
        kind, _, licence = classifier.rpartition(" :: ")
        if kind.startswith("License"):
            return str(licence)
    return None
