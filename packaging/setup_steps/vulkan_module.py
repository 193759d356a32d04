"""ggml's Vulkan backend as a module of its own (GGML_BACKEND_DL), which a llama.cpp built for the CPU can load.

The module is made from the very source that the installed llama-cpp-python was built from, so that both speak the same
ABI. llama.cpp needs Vulkan headers with VK_EXT_layer_settings: where those of the system are older (Debian 12), newer
ones are unpacked inside `.cache`, and nothing of the system is replaced.
"""

import argparse
import os
import shutil
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from setup_steps.failures import explain
from setup_steps.llama_build import LLAMA, describe_build
from setup_steps.machine import Machine, has_compiler, look_at_machine
from setup_steps.outcome import outcome
from setup_steps.progress import Progress, SetupFailure, show_size
from setup_steps.running import LoggedRun, capture
from setup_steps.system_packages import (
    COMPILER,
    SystemPackage,
    SystemPackages,
    install_line,
    missing_programs,
    package_names,
    package_tool,
)

MODULE = "libggml-vulkan.so"
NEEDED = (
    SystemPackage("cmake", "cmake", "cmake"),
    SystemPackage("ninja", "ninja-build", "ninja"),
    SystemPackage("glslc", "glslc", "shaderc"),
    SystemPackage("/usr/include/vulkan/vulkan.h", "libvulkan-dev", "vulkan-headers"),
    SystemPackage("/usr/include/spirv/unified1/spirv.hpp", "spirv-headers", "spirv-headers"),
)
SOFTWARE_DEVICE = SystemPackage("/usr/share/vulkan/icd.d", "mesa-vulkan-drivers", "vulkan-swrast")
CMAKE_FLAGS = (
    *("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", "-DGGML_NATIVE=OFF", "-DGGML_CPU=OFF"),
    *("-DGGML_VULKAN=ON", "-DGGML_BACKEND_DL=ON"),
    *(f"-DLLAMA_BUILD_{part}=OFF" for part in ("COMMON", "TESTS", "TOOLS", "EXAMPLES", "SERVER", "APP")),
)
_REPO = Path(__file__).resolve().parent.parent.parent
_N_STEPS = 4
_NEWER_DEBIAN = "trixie"  # the first release whose headers are new enough
_DEBIAN_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def module_path(repo: Path) -> Path:
    """Where the finished module lies; a module of another llama.cpp lies elsewhere."""
    return repo / ".cache" / "vulkan-module" / LLAMA / MODULE


def missing_for_module(find: Callable[[str], str | None] = shutil.which) -> tuple[SystemPackage, ...]:
    """What the build or the software device lacks. What is sought with a path is a file or a folder."""

    def look(sought: str) -> str | None:
        if sought.startswith("/"):
            return sought if Path(sought).exists() else None
        return find(sought)

    compiler = () if has_compiler() else COMPILER
    return missing_programs((*compiler, *NEEDED, SOFTWARE_DEVICE), look)


class VulkanModule:
    """The steps; each looks first whether it is done."""

    def __init__(self, repo: Path, machine: Machine, progress: Progress, run: LoggedRun) -> None:
        self._machine = machine
        self._progress = progress
        self._run = run
        self._target = module_path(repo)
        self._work = self._target.parent.parent

    def ensure(self, *, source: Path | None, headers: Path | None, n_jobs: int) -> Path:
        """The place of the module. Raises SetupFailure at the first step that cannot be done."""
        if self._machine.system != "linux":
            raise SetupFailure("The Vulkan module is built on Linux only; elsewhere use run.py --backend vulkan.")
        if self._target.is_file():
            self._progress.say(f"Built before: {self._target}")
            return self._target
        with self._progress.step("system packages"):
            self._ensure_packages()
        with self._progress.step(f"source of llama-cpp-python {LLAMA}"):
            unpacked = self._source(source)
        with self._progress.step("Vulkan headers"):
            include = self._headers(headers)
        with self._progress.step("building the module (about four minutes of one core)"):
            self._build(unpacked / "vendor" / "llama.cpp", include, n_jobs)
        return self._target

    def _ensure_packages(self) -> None:
        SystemPackages(self._machine, self._run, self._progress, missing_for_module).ensure(ignore_missing=True)
        missing = [package for package in missing_for_module() if package is not SOFTWARE_DEVICE]
        if missing:
            tool = package_tool(self._machine.distribution)
            line = install_line(package_names(missing, tool), tool, is_root=self._machine.is_root) if tool else ""
            raise SetupFailure(
                f"Missing on this system: {', '.join(one.sought for one in missing)}.", *[line] * bool(tool)
            )

    def _source(self, given: Path | None) -> Path:
        name = f"llama_cpp_python-{LLAMA}"
        folder = self._work / "src"
        unpacked = folder / name
        if (unpacked / "vendor" / "llama.cpp" / "CMakeLists.txt").is_file():
            self._progress.note("unpacked before")
            return unpacked
        archive = given or self._download(f"{name}.tar.gz")
        shutil.rmtree(folder, ignore_errors=True)
        part = self._work / "src.part"
        shutil.rmtree(part, ignore_errors=True)
        try:
            with tarfile.open(archive) as packed:
                packed.extractall(part, filter="data")
        except (OSError, tarfile.TarError) as problem:
            raise SetupFailure(f"{archive} cannot be unpacked: {problem}") from problem
        if not (part / name / "vendor" / "llama.cpp" / "CMakeLists.txt").is_file():
            raise SetupFailure(f"{archive} is not the source of llama-cpp-python {LLAMA}.")
        part.rename(folder)
        self._progress.note(f"unpacked {archive.name} ({show_size(archive.stat().st_size)})")
        return unpacked

    def _download(self, name: str) -> Path:
        self._progress.note("asking pip for the source (0.1 GiB)")
        arguments = ["-m", "pip", "download", "--no-deps", "--no-binary", "llama-cpp-python", "--no-input"]
        asked = [sys.executable, *arguments, "--dest", str(self._work), f"llama-cpp-python=={LLAMA}"]
        status, output = self._run(asked)
        archive = self._work / name
        if status != 0 or not archive.is_file():
            raise SetupFailure(f"pip could not get the source. {explain(output)}", "Or give it: --source FILE.tar.gz")
        return archive

    def _headers(self, given: Path | None) -> Path | None:
        """The folder to hand to CMake; None where those of the system are new enough."""
        unpacked = self._work / "headers" / "usr" / "include"
        for place in (given, unpacked):
            if place is not None and _are_new_enough(place):
                self._progress.note(f"taking those in {place}")
                return place
        if given is not None:
            raise SetupFailure(f"{given} has no vulkan/vulkan_core.h with VK_EXT_layer_settings.")
        if self._machine.vulkan.has_headers:
            self._progress.note("those of the system are new enough")
            return None
        if self._machine.distribution.ids[:1] != ("debian",):
            told = "The Vulkan headers of this system are too old for llama.cpp (it needs VK_EXT_layer_settings)."
            raise SetupFailure(told, "Unpack newer ones (1.3.261 or later) somewhere, and give: --headers FOLDER")
        self._unpack_newer_debian_headers()
        if not _are_new_enough(unpacked):
            raise SetupFailure("The package libvulkan-dev did not bring new enough headers.")
        return unpacked

    def _unpack_newer_debian_headers(self) -> None:
        """From the mirror that this system uses, with lists of our own: the system's packages stay as they are."""
        mirror = capture(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"]) or ""
        uri = next((line for line in mirror.split() if line.rstrip("/").endswith("/debian")), None)
        if uri is None:
            raise SetupFailure("apt names no Debian mirror.", "Unpack newer headers, and give: --headers FOLDER")
        self._progress.note(f"those of the system are too old; unpacking Debian {_NEWER_DEBIAN}'s in {self._work}")
        apt = self._work / "apt"
        for folder in ("lists/partial", "cache/archives/partial"):
            (apt / folder).mkdir(parents=True, exist_ok=True)
        keys = f"[signed-by={_DEBIAN_KEYS}] " if _DEBIAN_KEYS.is_file() else ""
        (apt / "sources.list").write_text(f"deb {keys}{uri} {_NEWER_DEBIAN} main\n", encoding="utf-8")
        settings = {
            "Dir::Etc::SourceList": apt / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::State::Lists": apt / "lists",
            "Dir::Cache": apt / "cache",
            "APT::Sandbox::User": "root",
        }
        options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
        for command in (["update"], ["download", "libvulkan-dev"]):
            self._must(["apt-get", *options, *command], "Newer Vulkan headers could not be had", cwd=apt)
        (package,) = sorted(apt.glob("libvulkan-dev_*.deb"))[-1:]
        self._must(["dpkg-deb", "-x", str(package), str(self._work / "headers")], "The headers cannot be unpacked")
        shutil.rmtree(apt)

    def _build(self, source: Path, include: Path | None, n_jobs: int) -> None:
        build = self._work / "build"
        flags = [*CMAKE_FLAGS, *([f"-DVulkan_INCLUDE_DIR={include}"] if include else [])]
        configure = ["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", *flags]
        self._must(configure, "CMake could not prepare the build")
        make = ["cmake", "--build", str(build), "--target", "ggml-vulkan", "-j", str(n_jobs)]
        self._must(make, "The module could not be built", describe_build)
        made = build / "bin" / MODULE
        if not made.is_file():
            raise SetupFailure(f"The build ended without {MODULE}.")
        self._target.parent.mkdir(parents=True, exist_ok=True)
        part = self._target.with_suffix(".part")
        shutil.copyfile(made, part)
        os.replace(part, self._target)
        for name in ("build", "src", "headers"):
            shutil.rmtree(self._work / name, ignore_errors=True)
        for archive in self._work.glob("*.tar.gz"):
            archive.unlink()
        self._progress.note(f"{self._target} ({show_size(self._target.stat().st_size)})")

    def _must(
        self,
        command: Sequence[str],
        problem: str,
        describe: Callable[[str], str | None] = lambda line: None,
        *,
        cwd: Path | None = None,
    ) -> None:
        status, output = self._run(command, describe, cwd=cwd)
        if status != 0:
            raise SetupFailure(f"{problem}. {explain(output)}")


def _are_new_enough(include: Path) -> bool:
    core = include / "vulkan" / "vulkan_core.h"
    return core.is_file() and "VK_EXT_layer_settings" in core.read_text(encoding="utf-8", errors="replace")


def main(arguments: Sequence[str]) -> int:
    """The exit status: 0, 1 where a step failed, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="vulkan_module.py",
        description="Builds ggml's Vulkan backend as a module for the llama.cpp that is installed; kept in .cache.",
    )
    parser.add_argument(
        "--source", type=Path, metavar="FILE", help=f"llama_cpp_python-{LLAMA}.tar.gz; else pip is asked"
    )
    parser.add_argument("--headers", type=Path, metavar="FOLDER", help="an include folder with newer Vulkan headers")
    parser.add_argument(
        "-j", "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once (default: cores)"
    )
    asked = parser.parse_args(arguments)
    log = _REPO / ".cache" / "vulkan-module.log"
    progress = Progress(_N_STEPS)
    module = VulkanModule(_REPO, look_at_machine(), progress, LoggedRun(log, progress.note))

    def make() -> int:
        place = module.ensure(source=asked.source, headers=asked.headers, n_jobs=max(1, asked.jobs))
        progress.say("LayaDesk loads it when it is started with these variables (the second admits a software device):")
        progress.say(f"  LAYADESK_BACKEND_MODULES={place} GGML_VK_VISIBLE_DEVICES=0")
        return 0

    return outcome(make, log)
