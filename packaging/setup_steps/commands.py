"""The two commands, step by step.

Each step first looks whether it is done already; so a second run takes seconds, and an interrupted one goes on where it
stopped.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from setup_steps.checks import checks, run_checks
from setup_steps.environment import Environment, project_recipe
from setup_steps.llama_build import BACKENDS, LlamaStep
from setup_steps.machine import Machine, look_at_machine
from setup_steps.outcome import outcome
from setup_steps.progress import Progress, SetupFailure, show_size
from setup_steps.running import LoggedRun
from setup_steps.small_models import GEMMA3_270M, SMOLLM2, SmallModels
from setup_steps.system_packages import SystemPackages, has_cjk_font, missing_packages
from setup_steps.torch_build import NO_TORCH_INDEX, TorchStep

_REPO = Path(__file__).resolve().parent.parent.parent
_CHECK_IMPORTS = str(Path(__file__).with_name("check_imports.py"))
_INVENTORY = (
    "import pathlib, sys; from layadesk.paths import DataPaths, default_data_dir as default; "
    "print(DataPaths(pathlib.Path(sys.argv[1]) if sys.argv[1:] else default()).inventory)"
)
_N_SETUP_STEPS = 7
_NEEDED_BYTES = 4 << 30  # measured: 1.8 GiB with the tests, plus what a build leaves in the temporary folder
_NEEDED_WITH_CUDA_BYTES = 12 << 30  # 2.6 GiB of packed files, unpacked beside pip's copies of them


@dataclass(frozen=True, slots=True)
class Options:
    """What the newcomer asked for; `passed_on` stood after `--` and goes to the program or to pytest."""

    command: str
    backend: str
    torch_index: str
    rebuild: bool
    ignore_missing: bool
    no_window: bool
    passed_on: tuple[str, ...]


def parse(arguments: Sequence[str]) -> Options:
    """Exits with argparse's own message for what it does not know."""
    own, passed_on = list(arguments), list[str]()
    if "--" in own:
        place = own.index("--")
        own, passed_on = own[:place], own[place + 1 :]
    parser = argparse.ArgumentParser(
        prog="run.py", description="Sets LayaDesk up in .venv and starts or tests it; a second run takes seconds."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="start | test")
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--backend", choices=BACKENDS, default="auto", help="what llama.cpp computes on (default: auto)"
    )
    shared.add_argument(
        "--torch-index",
        metavar="PLACE",
        default=os.environ.get("LAYADESK_TORCH_INDEX", NO_TORCH_INDEX),
        help="index or folder with CPU builds of torch, for machines without an NVIDIA card whose pip finds none; "
        f"{NO_TORCH_INDEX}: take what pip finds (default: $LAYADESK_TORCH_INDEX, or {NO_TORCH_INDEX})",
    )
    shared.add_argument("--rebuild", action="store_true", help="build llama.cpp again, whatever is cached")
    shared.add_argument("--ignore-missing", action="store_true", help="go on although system libraries are missing")
    start = commands.add_parser(
        "start", parents=[shared], help="set up and open the window; -- ARGUMENTS go to layadesk"
    )
    start.add_argument("--no-window", action="store_true", help="set up only")
    commands.add_parser("test", parents=[shared], help="set up and run all checks; -- ARGUMENTS go to pytest")
    found = parser.parse_args(own)
    return Options(
        command=found.command,
        backend=found.backend,
        torch_index=found.torch_index,
        rebuild=found.rebuild,
        ignore_missing=found.ignore_missing,
        no_window=getattr(found, "no_window", False),
        passed_on=tuple(passed_on),
    )


def data_dir_of(passed_on: Sequence[str]) -> str | None:
    """The data directory among the program's own arguments: the starter expert goes where the window will look."""
    for place, argument in enumerate(passed_on):
        if argument.startswith("--data-dir="):
            return argument.partition("=")[2]
        if argument == "--data-dir" and place + 1 < len(passed_on):
            return passed_on[place + 1]
    return None


class SetUp:
    """Everything before the window opens or the checks run."""

    def __init__(self, options: Options, machine: Machine, progress: Progress, run: LoggedRun) -> None:
        self._options = options
        self._machine = machine
        self._progress = progress
        self._run = run
        self._is_test = options.command == "test"
        self.environment = Environment(_REPO, run, progress.note)
        self.models = _REPO / ".cache" / "test-models"

    def all_steps(self) -> Path:
        """The file of the starter expert. Raises SetupFailure at the first step that cannot be done."""
        step, options = self._progress.step, self._options
        with step("system libraries"):
            look = partial(missing_packages, for_tests=self._is_test)
            packages = SystemPackages(self._machine, self._run, self._progress, look)
            packages.ensure(ignore_missing=options.ignore_missing)
            packages.suggest_font(is_there=has_cjk_font())
        with step("Python environment"):
            self._check_disk()
            self.environment.ensure(self._machine)
        with step("torch"):
            TorchStep(self.environment, self._machine, self._progress).ensure(options.torch_index)
        with step("small models"):
            small = SmallModels(self.environment, self._progress, self.models)
            starter = small.ensure(SMOLLM2)
            if self._is_test:
                small.ensure(GEMMA3_270M)
        with step("llama.cpp"):
            llama = LlamaStep(self.environment, self._machine, self._progress, starter)
            llama.ensure(options.backend, rebuild=options.rebuild)
        with step("LayaDesk and the other packages"):
            self._install_project()
            self.environment.make_source_path_relative()
        with step("checking what is installed"):
            self._check_installed()
        return starter

    def _check_disk(self) -> None:
        if "project" in self.environment.stamp.read():
            return
        needed = _NEEDED_WITH_CUDA_BYTES if self._machine.nvidia else _NEEDED_BYTES
        free = shutil.disk_usage(_REPO).free
        if free < needed:
            sizes = f"needs {show_size(needed)} of disk space, and {show_size(free)} are free"
            raise SetupFailure(f"Setting up {sizes} in {_REPO}.")

    def _install_project(self) -> None:
        recipe = project_recipe(_REPO / "pyproject.toml")
        wanted = {"recipe": recipe, "test": self._is_test}
        stamped = self.environment.stamp.read().get("project") or {}
        if stamped.get("recipe") == recipe and (stamped["test"] or not self._is_test):
            self._progress.note("all there")
            return
        wanted["test"] = self._is_test or bool(stamped.get("test"))
        target = f"{_REPO}[test]" if wanted["test"] else str(_REPO)
        self.environment.install("--editable", target, what="LayaDesk")
        self.environment.stamp.write(project=wanted, imported=False)

    def _check_installed(self) -> None:
        thorough = not self.environment.stamp.read().get("imported")
        extra = (("test",) if self._is_test else ()) + (("thorough",) if thorough else ())
        status, output = self.environment.python_output([_CHECK_IMPORTS, *extra])
        last = output.strip().splitlines()[-1:] or [""]
        facts = json.loads(last[0]) if status == 0 and last[0].startswith("{") else {"missing": {"Python": last[0]}}
        if facts["missing"]:
            self.environment.stamp.write(project=None, llama=None)
            names = "; ".join(f"{name} ({why})" for name, why in facts["missing"].items())
            again = f"Run the same command again; if that does not help, remove {self.environment.root} first."
            raise SetupFailure(f"Not usable after installing: {names}.", again)
        if facts["old_pynvml"]:
            raise SetupFailure(
                "The old package pynvml is installed and overwrites files of nvidia-ml-py.",
                f"Remove {self.environment.root} and run the same command again.",
            )
        self.environment.stamp.write(imported=True)
        self._progress.note("everything can be imported")

    def install_starter(self, starter: Path) -> None:
        """Into the data directory that the window will use, unless something was installed there before."""
        data_dir = data_dir_of(self._options.passed_on)
        place = (os.path.abspath(data_dir),) if data_dir else ()
        asked = [str(self.environment.python), "-I", "-c", _INVENTORY, *place]
        inventory = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
        if inventory.exists():  # also when the starter was removed on purpose: then it stays away
            return
        chosen = ("--data-dir", *place) if place else ()
        command = ["-m", "layadesk", "models", "import", str(starter), "--origin", "starter", *chosen]
        status, output = self.environment.python_output(command)
        if status != 0:
            reason = (output.strip().splitlines() or ["no reason given"])[-1]
            raise SetupFailure(f"The starter expert could not be installed: {reason}")
        self._progress.note(f"starter expert SmolLM2 installed (tiny, English) in {inventory.parent}")


def _open_window(environment: Environment, passed_on: Sequence[str]) -> NoReturn:
    command = [str(environment.python), "-P", "-m", "layadesk", *passed_on]
    if sys.platform == "win32":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)  # the program takes this process's place: exit status and Ctrl-C are its own


def _run(options: Options, log: Path) -> int:
    n_checks = len(checks(())) if options.command == "test" else 0
    progress = Progress(_N_SETUP_STEPS + n_checks)
    run = LoggedRun(log, progress.note)
    set_up = SetUp(options, look_at_machine(), progress, run)
    starter = set_up.all_steps()
    if options.command == "start":
        set_up.install_starter(starter)
    environment = set_up.environment
    progress.say(f"Set up in {progress.elapsed}.")
    if options.command == "test":
        status = run_checks(environment.python, _REPO, set_up.models, progress, options.passed_on)
        progress.say(f"{'All checks passed' if status == 0 else 'A check failed'} after {progress.elapsed}.")
        return status
    if options.no_window:
        return 0
    progress.say("Opening the window.")
    _open_window(environment, options.passed_on)


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0, 1 where the set-up failed, that of the first failed check, or 130 after Ctrl-C."""
    options = parse(arguments)
    log = _REPO / ".cache" / "setup.log"
    return outcome(lambda: _run(options, log), log)
