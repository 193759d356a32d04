"""Which llama.cpp, and getting it: a ready wheel where pip finds one, else a build; then proof that it decodes.

A build for "this" processor (GGML_NATIVE, the default) dies at the first prompt on some, and pip's cache hands out an
old wheel whatever flags it was built with. So: always GGML_NATIVE=OFF, always a few tokens decoded, and built again
without the cache where that fails. The wheel is kept in .cache: a new environment does not cost another ten minutes.
"""

import json
import os
import re
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path

from setup_steps.environment import Environment, describe_pip
from setup_steps.failures import explain
from setup_steps.machine import Machine
from setup_steps.progress import Progress, SetupFailure

LLAMA = "0.3.36"
BACKENDS = ("auto", "cpu", "cuda", "vulkan", "metal")
_HOW_LONG = "five to ten minutes on two cores for the CPU, longer for a graphics card"
_GPU_BACKENDS = ("cuda", "vulkan", "metal")
_COMPILING = re.compile(r"\[\s*(\d+)\s*/\s*(\d+)\s*\]|^\[\s*(\d+)%\]")


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A backend, and why it was chosen, for the newcomer."""

    backend: str
    why: str


def choose_backend(requested: str, machine: Machine) -> BackendChoice:
    """CUDA where there are a card and nvcc, Vulkan where there are a card and what builds for it, else the CPU."""
    if requested != "auto":
        return BackendChoice(requested, "as asked for")
    if machine.system == "darwin":
        chip = machine.arch in ("arm64", "aarch64")
        return BackendChoice("metal", "Apple silicon") if chip else BackendChoice("cpu", "a Mac without Apple silicon")
    lacking = []
    if machine.nvidia:
        if machine.has_nvcc:
            return BackendChoice("cuda", f"{machine.nvidia[0]}, and nvcc is there")
        lacking.append(f"for {machine.nvidia[0]} the CUDA toolkit (nvcc) is missing")
    if machine.vulkan.devices:
        card = machine.vulkan.devices[0]
        if machine.vulkan.has_glslc and machine.vulkan.has_headers:
            return BackendChoice("vulkan", f"{card}, and Vulkan's headers and glslc are there")
        lacking.append(f"for {card} Vulkan's glslc or headers (new enough for VK_EXT_layer_settings) are missing")
    return BackendChoice("cpu", "; ".join(lacking) or "no graphics card with CUDA or Vulkan found")


def cmake_args(backend: str, machine: Machine, users: str = "") -> str:
    """CMAKE_ARGS for the build; what the user has set comes last and so wins."""
    flags = ["-DGGML_NATIVE=OFF"]
    if backend == "cuda":
        flags.append("-DGGML_CUDA=on")
        if machine.nvidia:
            flags.append("-DCMAKE_CUDA_ARCHITECTURES=native")  # one card's code instead of that of all generations
    elif backend == "vulkan":
        flags.append("-DGGML_VULKAN=on")
    elif machine.system == "darwin" and backend == "cpu":
        flags.append("-DGGML_METAL=off")
    return " ".join([*flags, users]).strip()


def describe_build(line: str) -> str | None:
    """How far the compiler is, from ninja's `[12/345]` or make's `[ 45%]`; else what pip is at."""
    found = _COMPILING.search(line)
    if found is None:
        return describe_pip(line)
    if found[1] is not None:
        return f"compiling {found[1]} of {found[2]}"
    return f"compiling, {found[3]} %"


@dataclass(frozen=True, slots=True)
class LlamaCheck:
    """Whether the installed llama.cpp decodes; `problem` says what happened where it does not."""

    problem: str | None
    has_gpu: bool = False


def read_check(status: int, output: str) -> LlamaCheck:
    """The outcome of `check_llama.py`. A process ended by a signal has a negative status (POSIX)."""
    last = output.strip().splitlines()[-1:] or [""]
    if status == 0 and last[0].startswith("{"):
        facts = json.loads(last[0])
        problem = None if facts["n_decoded"] > 0 else "it decodes nothing"
        return LlamaCheck(problem, bool(facts["gpu_offload"]))
    if status < 0:
        name = next((one.name for one in signal.Signals if one.value == -status), f"signal {-status}")
        return LlamaCheck(f"it dies with {name} when it decodes")
    return LlamaCheck(f"it fails to decode: {last[0][:200] or f'exit status {status}'}")


def is_settled(stamped: dict[str, str] | None, choice: BackendChoice, *, was_asked_for: bool) -> bool:
    """Whether the stamp says that this choice was provided, or that it failed before and the CPU took its place."""
    if not stamped or stamped.get("llama") != LLAMA:
        return False
    return stamped["backend"] == choice.backend or (not was_asked_for and stamped.get("instead_of") == choice.backend)


class LlamaStep:
    """Gets llama-cpp-python into the environment and proves it on `model`, a small GGUF."""

    def __init__(self, environment: Environment, machine: Machine, progress: Progress, model: Path) -> None:
        self._environment = environment
        self._machine = machine
        self._progress = progress
        self._model = model

    def ensure(self, requested: str, *, rebuild: bool) -> None:
        """Raises SetupFailure; a GPU backend nobody asked for by name gives way to the CPU instead."""
        choice = choose_backend(requested, self._machine)
        stamped = self._environment.stamp.read().get("llama") or {}
        settled = is_settled(stamped, choice, was_asked_for=requested != "auto")
        if settled and not rebuild and self._environment.version_of("llama-cpp-python") == LLAMA:
            self._progress.note(f"llama-cpp-python {LLAMA} for {stamped['backend']} is there")
            return
        self._progress.note(f"backend {choice.backend}: {choice.why}")
        facts = {"llama": LLAMA, "backend": choice.backend}
        try:
            self._provide(choice.backend, rebuild=rebuild)
        except SetupFailure as failure:
            if requested != "auto" or choice.backend not in ("cuda", "vulkan"):
                raise
            self._progress.note(
                f"{failure} So llama.cpp for the CPU instead (to try again: --backend {choice.backend})."
            )
            self._provide("cpu", rebuild=False)
            facts = {"llama": LLAMA, "backend": "cpu", "instead_of": choice.backend}
        self._environment.stamp.write(llama=facts)

    def _provide(self, backend: str, *, rebuild: bool) -> None:
        here = f"{backend}-{self._machine.system}-{self._machine.arch}"
        kept = self._environment.repo / ".cache" / "wheels" / here
        if not rebuild:
            wheel, is_built_now = self._ready_wheel(kept, backend)
            problem = self._try(wheel, backend)
            if problem is None:
                return
            if is_built_now:
                raise SetupFailure(f"llama.cpp was built, but {problem}.", "Please report this with the log.")
            self._progress.note(f"the ready wheel is no good here: {problem}")
        shutil.rmtree(kept, ignore_errors=True)
        wheel, _ = self._make_wheel(kept, backend, fresh=True)
        problem = self._try(wheel, backend)
        if problem is not None:
            raise SetupFailure(f"llama.cpp was built, but {problem}.", "Please report this with the log.")

    def _ready_wheel(self, kept: Path, backend: str) -> tuple[Path, bool]:
        wheels = sorted(kept.glob(f"llama_cpp_python-{LLAMA}-*.whl"))
        if wheels:
            self._progress.note(f"using the wheel kept in {kept.relative_to(self._environment.repo)}")
            return wheels[-1], False
        return self._make_wheel(kept, backend, fresh=False)

    def _make_wheel(self, kept: Path, backend: str, *, fresh: bool) -> tuple[Path, bool]:
        arguments = ["wheel", "-v", "--progress-bar", "raw", "--no-input", "--no-deps"]
        if fresh:
            self._progress.note(f"building llama.cpp from source: {_HOW_LONG}")
            arguments += ["--no-cache-dir", "--no-binary", "llama-cpp-python"]
        else:
            self._progress.note(f"asking pip for a ready wheel; where there is none it is built: {_HOW_LONG}")
        part = kept.with_name(f"{kept.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        env = {**os.environ, "CMAKE_ARGS": cmake_args(backend, self._machine, os.environ.get("CMAKE_ARGS", ""))}
        asked = [*arguments, "--wheel-dir", str(part), f"llama-cpp-python=={LLAMA}"]
        status, output = self._environment.pip(*asked, describe=describe_build, env=env)
        wheels = sorted(part.glob("*.whl"))
        if status != 0 or not wheels:
            raise SetupFailure(f"llama-cpp-python {LLAMA} could not be had or built. {explain(output)}")
        shutil.rmtree(kept, ignore_errors=True)
        part.rename(kept)
        return kept / wheels[-1].name, "Building wheel for llama-cpp-python" in output

    def _try(self, wheel: Path, backend: str) -> str | None:
        self._environment.install("--force-reinstall", "--no-deps", str(wheel), what="llama-cpp-python")
        self._environment.install(str(wheel), what="what llama-cpp-python needs")
        check = read_check(*self._environment.python_output([_CHECK_LLAMA, str(self._model)]))
        if check.problem is None and backend in _GPU_BACKENDS and not check.has_gpu:
            return f"it was built without {backend}"
        if check.problem is None:
            self._progress.note("decodes" + (", and can use the graphics card" if check.has_gpu else ""))
        return check.problem


_CHECK_LLAMA = str(Path(__file__).with_name("check_llama.py"))
