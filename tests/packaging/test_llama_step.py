"""Getting llama.cpp: a ready wheel is taken, proved, and replaced by a fresh build where it dies."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from setup_steps.environment import Environment
from setup_steps.llama_build import LLAMA, LlamaStep
from setup_steps.machine import Machine
from setup_steps.progress import Progress, SetupFailure
from setup_steps.running import LoggedRun
from tests.packaging.machines import machine

RTX = ("NVIDIA GeForce RTX 4090",)
WHEEL = f"llama_cpp_python-{LLAMA}-py3-none-any.whl"
GOOD = (0, json.dumps({"version": LLAMA, "n_decoded": 8, "gpu_offload": False}))
GOOD_ON_GPU = (0, json.dumps({"version": LLAMA, "n_decoded": 8, "gpu_offload": True}))
SEGFAULT = (-11, "")
CACHED = (0, f"Using cached {WHEEL}")
BUILT = (0, "Building wheel for llama-cpp-python (pyproject.toml): finished")
FAILED = (1, "CMake Error: No CMAKE_CUDA_COMPILER could be found.\nerror: subprocess-exited-with-error")


class ScriptedEnvironment(Environment):
    """pip and the proof answer from lists; what pip is asked is kept."""

    def __init__(self, repo: Path, *, wheels: list[tuple[int, str]], proofs: list[tuple[int, str]]) -> None:
        super().__init__(repo, LoggedRun(repo / "log", lambda text: None), lambda text: None)
        self.root.mkdir()
        self.asked: list[tuple[str, ...]] = []
        self.cmake_args: list[str] = []
        self._wheels = wheels
        self._proofs = proofs
        self._installed: str | None = None

    def pip(
        self, *arguments: str, describe: Callable[[str], str | None] | None = None, env: dict[str, str] | None = None
    ) -> tuple[int, str]:
        """`pip wheel`: leaves a wheel where it was told to, when it succeeds."""
        self.asked.append(arguments)
        self.cmake_args.append((env or {})["CMAKE_ARGS"])
        answer = self._wheels.pop(0)
        if answer[0] == 0:
            folder = Path(arguments[arguments.index("--wheel-dir") + 1])
            folder.mkdir(parents=True)
            (folder / WHEEL).write_bytes(b"wheel")
        return answer

    def install(self, *arguments: str, what: str) -> None:
        """Believed."""
        self._installed = LLAMA

    def version_of(self, distribution: str) -> str | None:
        """What `install` left."""
        return self._installed

    def python_output(self, script: object) -> tuple[int, str]:
        """The next proof."""
        return self._proofs.pop(0)


def provide(
    environment: ScriptedEnvironment, here: Machine, requested: str = "auto", *, rebuild: bool = False
) -> list[str]:
    lines: list[str] = []
    progress = Progress(1, write=lines.append)
    LlamaStep(environment, here, progress, Path("model.gguf")).ensure(requested, rebuild=rebuild)
    return lines


def test_a_ready_wheel_that_decodes_is_kept_and_remembered(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[CACHED], proofs=[GOOD])
    provide(environment, machine())
    assert (tmp_path / ".cache" / "wheels" / "cpu-linux-x86_64" / WHEEL).is_file()
    assert environment.stamp.read()["llama"] == {"llama": LLAMA, "backend": "cpu"}
    provide(environment, machine())  # nothing is left in the lists: a second run asks nobody
    assert len(environment.asked) == 1


def test_a_ready_wheel_that_dies_is_built_again_past_the_cache(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[CACHED, BUILT], proofs=[SEGFAULT, GOOD])
    lines = provide(environment, machine())
    assert {"--no-cache-dir", "--no-binary"} <= set(environment.asked[1])
    assert any("dies with SIGSEGV" in line for line in lines)


def test_a_build_of_ours_that_dies_is_not_repeated_for_another_ten_minutes(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[BUILT], proofs=[SEGFAULT])
    with pytest.raises(SetupFailure, match="dies with SIGSEGV"):
        provide(environment, machine())
    assert "llama" not in environment.stamp.read()


def test_a_new_environment_takes_the_kept_wheel_without_asking_pip(tmp_path: Path) -> None:
    kept = tmp_path / ".cache" / "wheels" / "cpu-linux-x86_64"
    kept.mkdir(parents=True)
    (kept / WHEEL).write_bytes(b"wheel")
    environment = ScriptedEnvironment(tmp_path, wheels=[], proofs=[GOOD])
    provide(environment, machine())
    assert environment.asked == []


def test_a_cached_wheel_for_the_cpu_is_no_answer_to_cuda(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[CACHED, BUILT], proofs=[GOOD, GOOD_ON_GPU])
    provide(environment, machine(nvidia=RTX, has_nvcc=True))
    assert "--no-cache-dir" in environment.asked[1]
    assert "-DGGML_CUDA=on" in environment.cmake_args[1]
    assert environment.stamp.read()["llama"]["backend"] == "cuda"


def test_where_the_cuda_build_fails_by_itself_the_cpu_takes_over(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[FAILED, CACHED], proofs=[GOOD])
    lines = provide(environment, machine(nvidia=RTX, has_nvcc=True))
    assert environment.stamp.read()["llama"] == {"llama": LLAMA, "backend": "cpu", "instead_of": "cuda"}
    assert any("--backend cuda" in line for line in lines)
    provide(environment, machine(nvidia=RTX, has_nvcc=True))  # not tried at every start
    assert len(environment.asked) == 2


def test_where_cuda_was_asked_for_its_failure_is_told(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[FAILED], proofs=[])
    with pytest.raises(SetupFailure, match="could not be had or built"):
        provide(environment, machine(), "cuda")


def test_rebuild_asks_for_nothing_ready(tmp_path: Path) -> None:
    environment = ScriptedEnvironment(tmp_path, wheels=[BUILT], proofs=[GOOD])
    provide(environment, machine(), rebuild=True)
    assert "--no-binary" in environment.asked[0]
