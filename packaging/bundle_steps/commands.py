"""`build.py`: sets the environment up as `run.py` does, freezes it, and wraps the result for this system."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bundle_steps import linux, windows
from bundle_steps.check import check_bundle, check_installed
from bundle_steps.contents import REPO, WORK
from bundle_steps.freeze import Freeze, parts_of
from setup_steps.commands import Options, SetUp
from setup_steps.machine import look_at_machine
from setup_steps.outcome import outcome
from setup_steps.progress import Progress, show_size
from setup_steps.running import LoggedRun

_N_SETUP_STEPS = 7
_KINDS = {"linux": ("archive", "deb"), "win32": ("installer",), "darwin": ()}  # besides the bundle itself
_BACKENDS = ("cpu", "cuda", "vulkan")


@dataclass(frozen=True, slots=True)
class Asked:
    """`modules` are files of more backends of ggml; `kinds` what the bundle is wrapped into."""

    backend: str
    kinds: tuple[str, ...]
    modules: tuple[Path, ...]
    check: bool
    install: bool
    torch_index: str


def parse(arguments: Sequence[str], system: str = sys.platform) -> Asked:
    """Exits with argparse's own message for what it does not know."""
    usual = _KINDS.get(system, ())
    parser = argparse.ArgumentParser(prog="build.py", description="Builds what people install, in .cache/bundle/out.")
    parser.add_argument("--backend", choices=_BACKENDS, default="cpu", help="what llama.cpp computes on (cpu)")
    parser.add_argument(
        "--only", choices=(*usual, "bundle"), help=f"one kind alone; else all of this system: {', '.join(usual)}"
    )
    parser.add_argument(
        "--module", type=Path, action="append", default=[], metavar="FILE", help="a backend of ggml to take along"
    )
    parser.add_argument("--check", action="store_true", help="start what was built, chat, kill its engine, close it")
    parser.add_argument(
        "--install", action="store_true", help="with --check, as root: install the .deb for it, and remove it after"
    )
    parser.add_argument("--torch-index", metavar="PLACE", default=os.environ.get("LAYADESK_TORCH_INDEX", "none"))
    found = parser.parse_args(arguments)
    kinds = usual if found.only is None else tuple(kind for kind in usual if kind == found.only)
    return Asked(found.backend, kinds, tuple(found.module), found.check, found.install, found.torch_index)


def build(asked: Asked, progress: Progress, run: LoggedRun) -> tuple[Path, ...]:
    """Everything asked for; the files that were made. Raises SetupFailure."""
    options = Options(
        command="start",
        backend=asked.backend,
        torch_index=asked.torch_index,
        rebuild=False,
        ignore_missing=False,
        no_window=True,
        passed_on=(),
    )
    set_up = SetUp(options, look_at_machine(), progress, run)
    starter = set_up.all_steps()
    freeze = Freeze(set_up.environment, WORK, run, progress)
    out = WORK / "out"
    out.mkdir(parents=True, exist_ok=True)
    with progress.step("icons"):
        icons = freeze.icons(REPO / "assets" / "icons" / "layadesk.svg")
    with progress.step("the bundle: PyInstaller, some minutes"):
        spec = REPO / "packaging" / "layadesk.spec"
        bundle = freeze.bundle(spec, starter=starter, backend=asked.backend, modules=asked.modules)
        for part in parts_of(bundle)[:8]:
            progress.note(f"{show_size(part.n_bytes):>9}  {part.name}")
    made: list[Path] = []
    makers = {
        "archive": lambda: linux.archive(bundle, REPO, out),
        "deb": lambda: linux.package(bundle, icons, REPO, out, run),
        "installer": lambda: windows.installer(bundle, icons, REPO, out, run),
    }
    for kind in asked.kinds:
        with progress.step(kind):
            made.append(makers[kind]())
            progress.note(f"{made[-1]} ({show_size(made[-1].stat().st_size)})")
    if asked.check:
        with progress.step("checking the bundle as a person would use it"):
            check_bundle(bundle, run, progress)
        debs = [file for file in made if file.suffix == ".deb"]
        if asked.install and debs:
            with progress.step("installing the package and checking it"):
                check_installed(debs[0], run, progress)
    return (bundle, *made)


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0, 1 where a step failed, or 130 after Ctrl-C."""
    asked = parse(arguments)
    log = REPO / ".cache" / "bundle.log"
    n_steps = _N_SETUP_STEPS + 2 + len(asked.kinds) + asked.check + (asked.check and asked.install)
    progress = Progress(n_steps)

    def make() -> int:
        made = build(asked, progress, LoggedRun(log, progress.note))
        progress.say(f"Built in {progress.elapsed}:")
        for file in made:
            progress.say(f"  {file}")
        return 0

    return outcome(make, log)
