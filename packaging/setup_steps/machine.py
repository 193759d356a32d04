"""What this machine is and has, looked at once; nothing is changed by looking."""

import functools
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from setup_steps.running import capture

_HEADER_PLACES = ("/usr/include", "/usr/local/include", "/opt/homebrew/include")


@dataclass(frozen=True, slots=True)
class Distribution:
    """A Linux distribution by its /etc/os-release: `ids` is its own id, then those it says it is like."""

    ids: tuple[str, ...] = ()
    name: str = "Linux"


def parse_os_release(text: str) -> Distribution:
    """Lines of NAME=value, the value perhaps in quotes; anything else is passed over."""
    values = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and not key.startswith("#"):
            values[key] = value.strip().strip("\"'")
    ids = (values.get("ID", ""), *values.get("ID_LIKE", "").split())
    return Distribution(
        tuple(one.lower() for one in ids if one), values.get("PRETTY_NAME") or values.get("NAME", "Linux")
    )


@dataclass(frozen=True, slots=True)
class VulkanTools:
    """`devices` are graphics cards with a Vulkan driver, software renderers not counted."""

    devices: tuple[str, ...] = ()
    has_glslc: bool = False
    has_headers: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts the decisions are made from. `system` is `linux`, `win32` or `darwin`; `nvidia` names the NVIDIA cards."""

    system: str
    arch: str
    distribution: Distribution
    is_root: bool
    nvidia: tuple[str, ...]
    has_nvcc: bool
    vulkan: VulkanTools


def look_at_machine() -> Machine:
    """Takes up to a second where there is a graphics driver to ask."""
    return Machine(
        system=sys.platform,
        arch=platform.machine().lower(),
        distribution=_distribution(),
        is_root=hasattr(os, "geteuid") and os.geteuid() == 0,
        nvidia=_nvidia_cards(),
        has_nvcc=shutil.which("nvcc") is not None or bool(os.environ.get("CUDACXX")),
        vulkan=VulkanTools(_vulkan_devices(), _glslc() is not None, _has_vulkan_headers()),
    )


def _distribution() -> Distribution:
    for path in (Path("/etc/os-release"), Path("/usr/lib/os-release")):
        if path.is_file():
            return parse_os_release(path.read_text(encoding="utf-8", errors="replace"))
    return Distribution()


def parse_nvidia_smi(text: str) -> tuple[str, ...]:
    """The card names of `nvidia-smi -L`, whose lines read `GPU 0: NAME (UUID: ...)`."""
    cards = []
    for line in text.splitlines():
        head, _, rest = line.partition(":")
        if head.startswith("GPU ") and head[4:].strip().isdigit():
            cards.append(rest.partition("(UUID")[0].strip())
    return tuple(cards)


def _nvidia_cards() -> tuple[str, ...]:
    places = (shutil.which("nvidia-smi"), "/usr/lib/wsl/lib/nvidia-smi")
    program = next((place for place in places if place and Path(place).is_file()), None)
    text = capture([program, "-L"]) if program else None
    return parse_nvidia_smi(text or "")


def has_compiler() -> bool:
    """Whether a C and a C++ compiler can be found where CMake will look."""
    if sys.platform == "win32":
        return shutil.which("cl") is not None or _visual_studio() is not None
    if sys.platform == "darwin":
        return capture(["xcode-select", "-p"]) is not None
    c = any(shutil.which(name) for name in (os.environ.get("CC"), "cc", "gcc", "clang") if name)
    return c and any(shutil.which(name) for name in (os.environ.get("CXX"), "c++", "g++", "clang++") if name)


def _visual_studio() -> str | None:
    root = os.environ.get("PROGRAMFILES(X86)", r"C:\Program Files (x86)")
    vswhere = Path(root) / "Microsoft Visual Studio" / "Installer" / "vswhere.exe"
    tools = "Microsoft.VisualStudio.Component.VC.Tools.x86.x64"
    text = capture([str(vswhere), "-latest", "-products", "*", "-requires", tools, "-property", "installationPath"])
    return (text or "").strip() or None


def _sdk_folder(name: str) -> tuple[Path, ...]:
    sdk = os.environ.get("VULKAN_SDK")
    return (Path(sdk) / name, Path(sdk) / name.capitalize()) if sdk else ()


def _glslc() -> str | None:
    inside = (str(folder) for folder in _sdk_folder("bin"))
    return shutil.which("glslc") or next((found for one in inside if (found := shutil.which("glslc", path=one))), None)


def _has_vulkan_headers() -> bool:
    """Headers new enough for llama.cpp, which uses VK_EXT_layer_settings unguarded (Debian 12's are older)."""
    places = (*_sdk_folder("include"), *(Path(place) for place in _HEADER_PLACES))
    files = (place / "vulkan" / "vulkan_core.h" for place in places)
    return any("VK_EXT_layer_settings" in _text(file) for file in files if file.is_file())


@functools.cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _vulkan_devices() -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ()  # Metal is the way there
    probe = Path(__file__).with_name("vulkan_probe.py")
    text = capture([sys.executable, "-I", str(probe)])  # a broken driver may end the probe, not the set-up
    return tuple(line for line in (text or "").splitlines() if line)
