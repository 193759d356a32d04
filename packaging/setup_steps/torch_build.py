"""Which torch: the CPU build where there is no NVIDIA card, else what pip finds; and its size before it is downloaded.

pip is asked first what it would take. Where the machine's own pip configuration offers a CPU build, that is it. The
usual package index has only a CUDA-sized file for Linux; then the CPU build comes from a place the user names, since
PyTorch keeps its CPU builds on an index of its own, whose address its installation page gives.
"""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setup_steps.environment import Environment
from setup_steps.failures import explain
from setup_steps.machine import Machine
from setup_steps.progress import Progress, SetupFailure, show_size

TORCH = "2.13.0"
NO_TORCH_INDEX = "none"
_HEAD_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class TorchPlan:
    """`arguments` go to `pip install`; `is_cuda` says that the download is CUDA-sized; `why` is for the newcomer."""

    arguments: tuple[str, ...]
    is_cuda: bool
    why: str


def needs_cuda_libraries(requires: Iterable[str], *, system: str, arch: str) -> bool:
    """Whether a build of torch drags CUDA in: its requirements name NVIDIA's libraries for this kind of machine."""
    if system != "linux":
        return False
    for one in requires:
        name, _, marker = one.partition(";")
        elsewhere = "platform_machine" in marker and arch not in marker
        if name.startswith(("nvidia-", "cuda-")) and not elsewhere:
            return True
    return False


def plan_torch(offered: dict[str, Any] | None, machine: Machine, torch_index: str) -> TorchPlan:
    """`offered` is what pip would install, an entry of its report, or None where it would find nothing."""
    pin = f"torch=={TORCH}"
    cuda = offered is not None and needs_cuda_libraries(
        offered["metadata"].get("requires_dist") or (), system=machine.system, arch=machine.arch
    )
    if machine.nvidia:
        kind = "with CUDA" if cuda else "without CUDA, which is enough for the router"
        return TorchPlan((pin,), cuda, f"this machine has {machine.nvidia[0]}; torch comes {kind}")
    if offered is not None and not cuda:
        return TorchPlan((pin,), is_cuda=False, why="no NVIDIA card here; pip offers a build for the CPU")
    if torch_index == NO_TORCH_INDEX:
        return TorchPlan((pin,), cuda, "no NVIDIA card here, but pip offers only the build with CUDA")
    source = ("--no-index", "--find-links", torch_index) if Path(torch_index).is_dir() else ("--index-url", torch_index)
    # its dependencies come with the project, from the usual index
    return TorchPlan(
        (pin, "--no-deps", *source), is_cuda=False, why=f"no NVIDIA card here; CPU build from {torch_index}"
    )


def offered_by(report: Path) -> dict[str, Any] | None:
    """torch's entry in a report of `pip install --dry-run`."""
    try:
        entries = json.loads(report.read_text(encoding="utf-8"))["install"]
    except (OSError, ValueError, KeyError):
        return None
    return next((entry for entry in entries if entry["metadata"]["name"].lower() == "torch"), None)


def content_length(url: str) -> int | None:
    """Bytes behind `url`, or None where the server does not say."""
    if not url.startswith("https://"):
        return 0
    try:
        request = urllib.request.Request(url, method="HEAD")
        with urllib.request.urlopen(request, timeout=_HEAD_TIMEOUT_S) as answer:
            return int(answer.headers["Content-Length"])
    except (OSError, ValueError, TypeError):
        return None


def download_bytes(urls: Sequence[str], measure: Callable[[str], int | None] = content_length) -> int | None:
    """The sum over all, or None where one is unknown."""
    with ThreadPoolExecutor(8) as pool:
        sizes = list(pool.map(measure, urls))
    return sum(size for size in sizes if size is not None) if None not in sizes else None


class TorchStep:
    """Installs torch into the environment, before anything else that wants it."""

    def __init__(self, environment: Environment, machine: Machine, progress: Progress) -> None:
        self._environment = environment
        self._machine = machine
        self._progress = progress

    def ensure(self, torch_index: str) -> None:
        """Raises SetupFailure with the ways out."""
        version = self._environment.version_of("torch")
        if version is not None and version.partition("+")[0] == TORCH:
            self._progress.note(f"torch {version} is there")
            return
        plan = plan_torch(self._ask_pip("--no-deps"), self._machine, torch_index)
        self._progress.note(plan.why)
        if plan.is_cuda:
            self._warn_of_size()
        status, output = self._environment.pip("install", "--progress-bar", "raw", "--no-input", *plan.arguments)
        if status != 0:
            raise SetupFailure(
                f"torch {TORCH} could not be installed. {explain(output)}",
                "Another place for the CPU build (an index, or a folder with the wheel): --torch-index PLACE",
                f"Or take what pip finds, CUDA-sized on Linux: --torch-index {NO_TORCH_INDEX}",
            )

    def _ask_pip(self, *arguments: str) -> dict[str, Any] | None:
        report = self._report(*arguments)
        return offered_by(report) if report else None

    def _report(self, *arguments: str) -> Path | None:
        report = self._environment.root / "pip-report.json"
        report.unlink(missing_ok=True)
        asked = ("install", "--dry-run", "--ignore-installed", "--quiet", "--report", str(report))
        status, _ = self._environment.pip(*asked, *arguments, f"torch=={TORCH}")
        return report if status == 0 else None

    def _warn_of_size(self) -> None:
        report = self._report()
        if report is None:
            return
        entries = json.loads(report.read_text(encoding="utf-8"))["install"]
        size = download_bytes([entry["download_info"]["url"] for entry in entries])
        known = f", {show_size(size)} to download" if size else ""
        self._progress.note(f"torch with CUDA: {len(entries)} packages{known}")
        self._progress.note(
            "to avoid it: stop with Ctrl-C and start again with --torch-index ADDRESS, the address that"
        )
        self._progress.note(
            "PyTorch's installation page (pytorch.org, Get Started) shows for pip and CPU; about 0.2 GiB"
        )
