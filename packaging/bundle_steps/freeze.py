"""From the environment in `.venv` to a folder that runs anywhere on such a system, by PyInstaller."""

import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bundle_steps.contents import BACKEND_VARIABLE, MODULES_VARIABLE, STARTER_VARIABLE
from bundle_steps.identity import ICON_SIZES, NAME, PROGRAM
from setup_steps.environment import Environment
from setup_steps.failures import explain
from setup_steps.progress import Progress, SetupFailure, show_size
from setup_steps.running import LoggedRun

_TOOLS = ("pyinstaller>=6.16,<7", "pillow>=11")  # 6.16: Python 3.11-3.14, `hide_console`; Pillow: .ico and .icns
_DRAW_ICONS = str(Path(__file__).with_name("draw_icons.py"))


@dataclass(frozen=True, slots=True)
class Part:
    """A library of the bundle and what it takes on disk."""

    name: str
    n_bytes: int


class Freeze:
    """Makes the bundle in `work`. `modules` are backends of ggml to take along."""

    def __init__(self, environment: Environment, work: Path, run: LoggedRun, progress: Progress) -> None:
        self._environment = environment
        self._work = work
        self._run = run
        self._progress = progress

    def icons(self, svg: Path) -> Path:
        """The icon in all sizes and formats; the folder they are in."""
        self._environment.install(*_TOOLS, what="PyInstaller")
        folder = self._work / "icons"
        asked = [str(self._environment.python), "-I", _DRAW_ICONS, str(svg), str(folder), *map(str, ICON_SIZES)]
        self._must(asked, "The icons could not be drawn")
        return folder

    def bundle(self, spec: Path, *, starter: Path, backend: str, modules: Iterable[Path]) -> Path:
        """The folder with the program. Raises SetupFailure."""
        named = {
            STARTER_VARIABLE: str(starter),
            BACKEND_VARIABLE: backend,
            MODULES_VARIABLE: os.pathsep.join(map(str, modules)),
        }
        dist = self._work / "dist"
        shutil.rmtree(dist, ignore_errors=True)
        asked = [
            *(str(self._environment.python), "-I", "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"),
            *("--distpath", str(dist), "--workpath", str(self._work / "build"), str(spec)),
        ]
        self._must(asked, "PyInstaller could not make the bundle", env={**os.environ, **named})
        folder = dist / NAME
        if not any((folder / name).is_file() for name in (PROGRAM, f"{PROGRAM}.exe")):
            raise SetupFailure("PyInstaller ended without a program.")
        total = sum(part.n_bytes for part in parts_of(folder))
        self._progress.note(f"{folder} ({show_size(total)})")
        return folder

    def _must(self, command: list[str], problem: str, *, env: Mapping[str, str] | None = None) -> None:
        status, output = self._run(command, env=env, cwd=self._environment.repo)
        if status != 0:
            raise SetupFailure(f"{problem}. {explain(output)}")


def parts_of(folder: Path) -> tuple[Part, ...]:
    """What takes how much in a bundle, the largest first: each package, and all loose files together."""
    inside = folder / "_internal"
    sizes: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        place = path.relative_to(inside if path.is_relative_to(inside) else folder)
        name = place.parts[0] if len(place.parts) > 1 else "libraries and the program"
        sizes[name] = sizes.get(name, 0) + path.stat().st_size
    parts = (Part(name, n_bytes) for name, n_bytes in sizes.items())
    return tuple(sorted(parts, key=lambda part: -part.n_bytes))
