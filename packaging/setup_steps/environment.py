"""The virtual environment in `.venv`: made once, kept, and asked what it holds."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from setup_steps.failures import explain
from setup_steps.machine import Machine
from setup_steps.progress import SetupFailure, show_size
from setup_steps.running import LoggedRun
from setup_steps.system_packages import package_tool

_PIP_WANTED = "pip>=24.2"  # `--dry-run` without downloading, `--progress-bar raw`
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)")
_STAMP_VERSION = 1


class Stamp:
    """What has been set up so far, in a file inside the environment; written after each step, so that an interrupted
    set-up goes on where it stopped. A damaged stamp is an empty one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        """Whether there is one, of any version and in any state."""
        return self._path.is_file()

    def read(self) -> dict[str, Any]:
        """The facts; empty when there are none or they are of another version."""
        try:
            facts = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) and facts.get("version") == _STAMP_VERSION else {}

    def write(self, **changes: object) -> None:
        """Adds or replaces facts, atomically."""
        facts = {**self.read(), **changes, "version": _STAMP_VERSION}
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps(facts, indent=1), encoding="utf-8")
        os.replace(beside, self._path)


def project_recipe(pyproject: Path) -> str:
    """A hash of what decides the packages: the project's own tables, not the settings of linters."""
    tables = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    recipe = {name: tables.get(name) for name in ("project", "build-system")}
    return hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def interpreter_identity() -> str:
    """Which Python the environment is made from."""
    return f"{'.'.join(map(str, sys.version_info[:3]))} {sys.base_prefix}"


class Environment:
    """`.venv` in `repo`. Programs inside run isolated (-I): neither PYTHONPATH nor the folder they start in leak in."""

    def __init__(self, repo: Path, run: LoggedRun, note: Callable[[str], None]) -> None:
        self.repo = repo
        self.root = repo / ".venv"
        self.python = self.root / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        self.stamp = Stamp(self.root / "layadesk-setup.json")
        self._run = run
        self._note = note

    def ensure(self, machine: Machine) -> None:
        """Makes the environment, or makes it anew where it is broken, moved, or of another Python.

        One without our stamp is somebody else's and is not touched: SetupFailure.
        """
        identity = f"{interpreter_identity()} {self.root}"
        if self.stamp.read().get("identity") == identity and self.answers("import pip"):
            self._note(f"using {self.root}")
            return
        if self.root.exists() and not self.stamp.exists():
            raise SetupFailure(
                f"{self.root} is there and was not made by this script: move it away and run this again."
            )
        self._note(f"making {self.root} with Python {sys.version.split()[0]}")
        self._make(machine)
        status, output = self.pip("install", "--progress-bar", "off", _PIP_WANTED)
        if status != 0:
            raise SetupFailure(f"A newer pip could not be installed. {explain(output)}")
        self.stamp.write(identity=identity)

    def _make(self, machine: Machine) -> None:
        if Path(sys.prefix).resolve() == self.root.resolve():
            raise SetupFailure(
                f"{self.root} must be made anew, and this is its Python: start with your system's Python."
            )
        if self.root.exists():
            shutil.rmtree(self.root)
        self.root.mkdir()
        self.stamp.write()  # ours from the first moment on, also when it is interrupted half made
        status, output = self._run([sys.executable, "-m", "venv", str(self.root)])
        if status == 0:
            return
        shutil.rmtree(self.root, ignore_errors=True)
        if "ensurepip" in output or "No module named venv" in output:
            debian = package_tool(machine.distribution) == "apt"
            name = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
            advice = (
                f"sudo apt-get install {name}" if debian else "Install the package that brings Python's venv module."
            )
            raise SetupFailure("This Python cannot make virtual environments: its venv module is missing.", advice)
        raise SetupFailure(f"The environment {self.root} could not be made. {explain(output)}")

    def answers(self, code: str) -> bool:
        """Whether the environment's Python runs `code` without an error."""
        try:
            done = subprocess.run([str(self.python), "-I", "-c", code], capture_output=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    def version_of(self, distribution: str) -> str | None:
        """The installed version, or None."""
        code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
        command = [str(self.python), "-I", "-c", code, distribution]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.stdout.strip() or None

    def pip(
        self,
        *arguments: str,
        describe: Callable[[str], str | None] | None = None,
        env: dict[str, str] | None = None,
    ) -> tuple[int, str]:
        """pip inside the environment, with the newcomer's own configuration of it; status and output."""
        command = [str(self.python), "-I", "-X", "utf8", "-m", "pip", *arguments]
        return self._run(command, describe or describe_pip, env=env, cwd=self.repo)

    def install(self, *arguments: str, what: str) -> None:
        """`pip install`; a failure says in a sentence why `what` could not be installed."""
        status, output = self.pip("install", "--progress-bar", "raw", "--no-input", *arguments)
        if status != 0:
            raise SetupFailure(f"{what} could not be installed. {explain(output)}")

    def make_source_path_relative(self) -> None:
        """In the `.pth` of the editable install, names the source folder relative to site-packages.

        Python decodes these files by the locale before anything of ours runs: an absolute path with Chinese letters
        stops it right there where LC_ALL names a locale that is not installed.
        """
        for place in (*self.root.glob("lib/python*/site-packages"), self.root / "Lib" / "site-packages"):
            for path in place.glob("*layadesk*.pth"):
                path.write_text(os.path.relpath(self.repo, place) + "\n", encoding="utf-8")

    def python_output(self, script: Sequence[str]) -> tuple[int, str]:
        """Runs `python SCRIPT...` in the environment, logged; status and output."""
        return self._run([str(self.python), "-I", "-X", "utf8", *script], cwd=self.repo)


def describe_pip(line: str) -> str | None:
    """What pip is at, from a line of its output; `Progress` lines are those of `--progress-bar raw`."""
    if found := _PROGRESS.match(line):
        return f"downloading, {100 * int(found[1]) // max(1, int(found[2]))} % of {show_size(int(found[2]))}"
    for start in (
        "Collecting ",
        "Downloading ",
        "Installing collected packages",
        "Building wheel for ",
        "Preparing metadata",
    ):
        if line.startswith(start):
            text = line.partition(" from ")[0].partition(": started")[0]
            return text[:1].lower() + text[1:90]
    return None
