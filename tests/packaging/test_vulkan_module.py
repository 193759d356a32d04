"""The Vulkan module: what it needs is named, it is built once, and what goes wrong is told in a sentence."""

import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from setup_steps import vulkan_module
from setup_steps.llama_build import LLAMA
from setup_steps.machine import Distribution, Machine, VulkanTools
from setup_steps.progress import Progress, SetupFailure
from setup_steps.system_packages import package_names
from setup_steps.vulkan_module import MODULE, VulkanModule, main, missing_for_module, module_path
from tests.packaging.machines import machine

NEW_HEADERS = VulkanTools(has_glslc=True, has_headers=True)
UBUNTU = Distribution(("ubuntu", "debian"), "Ubuntu")


class Commands:
    """Stands for cmake: keeps what was asked, and leaves a module where the real one would."""

    def __init__(self, *, failing: str = "", says: str = "") -> None:
        self.asked: list[list[str]] = []
        self._failing, self._says = failing, says

    def __call__(
        self,
        command: Sequence[str],
        describe: Callable[[str], str | None] = lambda line: None,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> tuple[int, str]:
        self.asked.append(list(command))
        if self._failing and self._failing in command:
            return 1, self._says
        if "--build" in command:
            made = Path(command[command.index("--build") + 1]) / "bin" / MODULE
            made.parent.mkdir(parents=True)
            made.write_bytes(b"module")
        return 0, ""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """An archive as pip hands it out, as far as the script looks at it."""
    return packed(tmp_path, f"llama_cpp_python-{LLAMA}/vendor/llama.cpp/CMakeLists.txt")


@pytest.fixture(autouse=True)
def all_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vulkan_module, "missing_for_module", lambda: ())


def packed(tmp_path: Path, name: str) -> Path:
    path = tmp_path / "source.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return path


def made(repo: Path, run: Commands, said: list[str], on: Machine | None = None) -> VulkanModule:
    progress = Progress(4, write=said.append)
    return VulkanModule(repo, on or machine(vulkan=NEW_HEADERS), progress, run)  # type: ignore[arg-type]  # same call


def test_the_module_is_built_once_and_kept(tmp_path: Path, source: Path) -> None:
    run, said = Commands(), list[str]()
    place = made(tmp_path, run, said).ensure(source=source, headers=None, n_jobs=2)
    assert place == module_path(tmp_path)
    assert place.read_bytes() == b"module"
    configure, build = run.asked
    assert {"-DGGML_VULKAN=ON", "-DGGML_BACKEND_DL=ON", "-DGGML_NATIVE=OFF"} <= set(configure)
    assert build[-4:] == ["--target", "ggml-vulkan", "-j", "2"]
    assert [line[:5] for line in said if line.startswith("[")] == ["[1/4]", "[2/4]", "[3/4]", "[4/4]"]
    assert [path.name for path in place.parent.parent.iterdir()] == [LLAMA], "what the build needed is gone"

    assert made(tmp_path, run, said).ensure(source=None, headers=None, n_jobs=2) == place
    assert len(run.asked) == 2
    assert said[-1] == f"Built before: {place}"


def test_what_is_missing_is_named_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = tuple(one for one in vulkan_module.NEEDED if one.sought in ("glslc", "ninja"))
    monkeypatch.setattr(vulkan_module, "missing_for_module", lambda: missing)
    with pytest.raises(SetupFailure, match=r"Missing on this system: ninja, glslc\.") as caught:
        made(tmp_path, Commands(), []).ensure(source=None, headers=None, n_jobs=1)
    assert caught.value.advice == ("sudo apt-get install ninja-build glslc",)


def test_packages_are_sought_as_programs_and_as_files() -> None:
    names = package_names(missing_for_module(lambda name: None if name == "glslc" else name), "apt")
    assert "glslc" in names
    assert "cmake" not in names
    assert vulkan_module.NEEDED[-1].provides == "/usr/include/spirv/unified1/spirv.hpp"


def test_old_headers_are_refused_with_the_way_out(tmp_path: Path, source: Path) -> None:
    old = machine(distribution=UBUNTU)
    with pytest.raises(SetupFailure, match="too old") as caught:
        made(tmp_path, Commands(), [], old).ensure(source=source, headers=None, n_jobs=1)
    assert "--headers" in caught.value.advice[0]
    with pytest.raises(SetupFailure, match="VK_EXT_layer_settings"):
        made(tmp_path, Commands(), [], old).ensure(source=source, headers=tmp_path, n_jobs=1)


def test_given_headers_go_to_cmake(tmp_path: Path, source: Path) -> None:
    core = tmp_path / "given" / "vulkan" / "vulkan_core.h"
    core.parent.mkdir(parents=True)
    core.write_text("#define VK_EXT_layer_settings 1\n", encoding="utf-8")
    run = Commands()
    made(tmp_path, run, [], machine()).ensure(source=source, headers=tmp_path / "given", n_jobs=1)
    assert run.asked[0][-1] == f"-DVulkan_INCLUDE_DIR={tmp_path / 'given'}"


def test_another_archive_is_refused(tmp_path: Path) -> None:
    wrong = packed(tmp_path, "llama_cpp_python-0.0.1/vendor/llama.cpp/CMakeLists.txt")
    with pytest.raises(SetupFailure, match=f"not the source of llama-cpp-python {LLAMA}"):
        made(tmp_path, Commands(), []).ensure(source=wrong, headers=None, n_jobs=1)


def test_a_failed_build_says_why_and_leaves_no_module(tmp_path: Path, source: Path) -> None:
    run = Commands(failing="--build", says="error: 'LayerSettingEXT' is not a member of 'vk'")
    with pytest.raises(SetupFailure, match=r"could not be built\. The Vulkan headers of this system are too old"):
        made(tmp_path, run, []).ensure(source=source, headers=None, n_jobs=1)
    assert not module_path(tmp_path).exists()


def test_elsewhere_than_on_linux_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(SetupFailure, match="on Linux only"):
        made(tmp_path, Commands(), [], machine(system="win32")).ensure(source=None, headers=None, n_jobs=1)


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--headers" in capsys.readouterr().out
