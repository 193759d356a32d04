"""The checks that the `test` command runs, in order, until one fails."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from setup_steps.progress import Progress

_ALL_PASSED = 0
_MOST_WORKERS = 4  # each may have an engine with a model in memory


@dataclass(frozen=True, slots=True)
class Check:
    """A name for the newcomer and the command, its program being a module of the environment."""

    name: str
    arguments: tuple[str, ...]


def checks(pytest_arguments: Sequence[str]) -> tuple[Check, ...]:
    """Quick ones first. `pytest_arguments` are what the newcomer wrote after `--`; without any, all tests run."""
    return (
        Check("ruff format", ("-m", "ruff", "format", "--check", ".")),
        Check("ruff check", ("-m", "ruff", "check", ".")),
        Check("lint-imports", ("-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-logo")),
        Check("mypy", ("-m", "mypy")),
        Check("pytest", ("-m", "pytest", *(pytest_arguments or _side_by_side(os.cpu_count() or 1)))),
    )


def _side_by_side(n_cores: int) -> tuple[str, ...]:
    """Half of the tests' time is waiting for processes and windows; each file stays on one worker, in its order."""
    n_workers = min(n_cores, _MOST_WORKERS)
    if n_workers < 2:
        return ()
    return ("-n", str(n_workers), "--dist", "loadfile", "--max-worker-restart", "0")  # else xdist waits for ever


def check_environment(base: Mapping[str, str], models: Path) -> dict[str, str]:
    """Nothing of the newcomer's Python settings gets in; the tests find the small models and draw off screen."""
    kept = {key: value for key, value in base.items() if key not in ("PYTHONPATH", "PYTHONHOME", "QT_QPA_PLATFORM")}
    return {**kept, "LAYADESK_TEST_MODELS": str(models), "PYTHONUTF8": "1"}


def run_checks(python: Path, repo: Path, models: Path, progress: Progress, pytest_arguments: Sequence[str]) -> int:
    """Each check prints what it prints; the first that fails ends the run with its status."""
    for check in checks(pytest_arguments):
        with progress.step(check.name):
            status = subprocess.call(
                [str(python), *check.arguments],
                cwd=repo,
                env=check_environment(os.environ, models),
                stdin=subprocess.DEVNULL,
            )
        if status != _ALL_PASSED:
            print(f"{check.name} failed.", file=sys.stderr, flush=True)
            return status
    return _ALL_PASSED
