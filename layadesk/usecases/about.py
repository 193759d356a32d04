"""What this program is made of, and where it keeps what is the user's."""

import importlib.metadata
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from layadesk import __version__

_BROUGHT_ALONG = ("transformers",)  # by laya, and large
_NAME = re.compile(r"[\w.-]+")
_LONG = 60  # some packages put the whole text where the name belongs


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A library of the program; `licence` None where its metadata does not say."""

    name: str
    version: str
    licence: str | None


class About:
    """Facts for the About window. Any thread; `parts` reads some twenty small files."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.version = __version__
        self.python = platform.python_version()
        self.system = platform.platform()

    def parts(self) -> tuple[ProgramPart, ...]:
        """The libraries that are there; none where not even this program is installed."""
        return tuple(part for name in (*_required(), *_BROUGHT_ALONG) if (part := _part(name)) is not None)


def _required() -> tuple[str, ...]:
    """By the program's own metadata, so that no second list has to be kept."""
    try:
        wanted = importlib.metadata.requires("layadesk") or ()
    except importlib.metadata.PackageNotFoundError:
        return ()
    found = (_NAME.match(one) for one in wanted if "extra ==" not in one)
    return tuple(match[0] for match in found if match is not None)


def _part(name: str) -> ProgramPart | None:
    try:
        metadata = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None
    return ProgramPart(metadata["Name"], metadata["Version"], licence_of(metadata))


def licence_of(metadata: "importlib.metadata.PackageMetadata") -> str | None:
    """The SPDX expression, else the old field where it is a name, else the classifier."""
    for field in ("License-Expression", "License"):
        text = metadata[field].strip() if field in metadata else ""
        if text and len(text) <= _LONG and "\n" not in text:
            return text
    for classifier in metadata.get_all("Classifier") or ():
        kind, _, licence = classifier.rpartition(" :: ")
        if kind.startswith("License"):
            return str(licence)
    return None
