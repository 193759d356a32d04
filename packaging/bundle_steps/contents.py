"""What goes into the bundle and what stays out; read by layadesk.spec, inside PyInstaller's own process.

Left out is what nothing of ours can reach: other GUI toolkits, Qt's parts for web pages and 3D, torch's headers and
compilers, whatever only training, tests and builds import.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle_steps.identity import APP_ID, NAME, PROGRAM, version_of

REPO = Path(__file__).resolve().parent.parent.parent
ENTRY = REPO / "layadesk" / "__main__.py"
WORK = REPO / ".cache" / "bundle"
STARTER_VARIABLE = "LAYADESK_BUNDLE_STARTER"  # set by build.py: the GGUF of the starter expert
BACKEND_VARIABLE = "LAYADESK_BUNDLE_BACKEND"  # set by build.py: what llama.cpp itself computes on
MODULES_VARIABLE = "LAYADESK_BUNDLE_BACKENDS"  # set by build.py: backends of ggml, separated as in PATH

_EXCLUDED = (
    "layadesk.router.training", "tkinter", "matplotlib", "IPython", "pytest", "setuptools", "pip", "wheel", "PIL",
    "torch.utils.tensorboard", "tensorflow", "jax", "flax", "sklearn", "pandas", "scipy", "torchvision", "torchaudio",
    "PySide6.QtQml", "PySide6.QtQuick", "PySide6.QtSql",
    "PySide6.QtDesigner", "PySide6.QtUiTools", "PySide6.QtHelp", "xllamacpp", "hypothesis", "mypy", "openai", "hf_xet",
    "readline",  # GPL, and nobody types into this Python
)  # fmt: skip
_UNWANTED_PARTS = (
    "PySide6/Qt/qml/", "PySide6/Qt/plugins/qmltooling/", "PySide6/Qt/plugins/sqldrivers/", "PySide6/Qt/libexec/",
    "libQt6Qml", "libQt6Quick", "libQt6VirtualKeyboard", "libQt6Pdf", "platforminputcontexts/libqtvirtualkeyboard",
    "torch/include/", "torch/share/", "torch/test/", "torch/bin/", "torch/utils/benchmark/", "/tests/",
    "torch/lib/libjitbackend_test", "torch/lib/libtorchbind_test", "torch/lib/libbackend_with_compiler",
    "PySide6/Qt/plugins/networkinformation/", "PySide6/Qt/plugins/egldeviceintegrations/", "platforms/libqeglfs",
    "libQt6EglFS", "libQt6EglFs",
)  # fmt: skip
# Qt's look of GTK, and what it alone brings: half of GTK, which the other half, of the user's system, would be loaded
# with. Without it Qt asks the desktop's portal for file dialogs and for dark or light.
_GTK_PARTS = (
    "platformthemes/libqgtk3", "libgdk_pixbuf-", "libpango", "libcairo", "libpixman-", "libatk-", "libharfbuzz.",
    "libgraphite2.", "libfribidi.", "libthai.", "libdatrie.", "libgio-", "libgobject-", "libgmodule-", "libmount.",
    "libblkid.", "libselinux.", "libjpeg.so", "libXrender.",
)  # fmt: skip
# The system's own are at least as new; older ones in the bundle would keep its graphics drivers from loading.
_SYSTEMS_OWN = ("libstdc++.so.6", "libgcc_s.so.1")
_UNASKED = ("libcudart.so",)  # torch names it without needing it; a builder with a CUDA toolkit would give it away
_TORCHS_CUDA_PARTS = ("libtorch_cuda", "libcudnn", "libnccl", "torch_cuda.dll", "nvidia/", "triton/")
_LLAMAS_CUDA_PARTS = ("libcublas", "cublas64", "cublasLt64", "libcudart.so.", "cudart64")


@dataclass(frozen=True, slots=True)
class OfSystem:
    """What differs between the systems, as PyInstaller's arguments."""

    icon: str
    hide_console: str | None = None
    version_file: str | None = None
    mac_bundle: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Content:
    """The arguments of PyInstaller: pairs of a file and its folder in the bundle, and names of modules."""

    datas: list[tuple[str, str]]
    binaries: list[tuple[str, str]]
    hidden_imports: list[str]
    of_system: OfSystem
    excluded: tuple[str, ...] = _EXCLUDED
    program: str = PROGRAM
    folder: str = NAME


def content_of(system: str) -> Content:
    """`system` is `linux`, `win32` or `darwin`. Inside PyInstaller only."""
    return Content(_datas(), _binaries(), _hidden_imports(), of_system(system, WORK))


def of_system(system: str, work: Path) -> OfSystem:
    """`work` has the drawn icons, and gets the resource with Windows' version."""
    icons = work / "icons"
    if system == "win32":
        version_file = work / "version.txt"
        version_file.write_text(_windows_version(), encoding="utf-8")
        return OfSystem(str(icons / "layadesk.ico"), hide_console="hide-early", version_file=str(version_file))
    if system == "darwin":
        return OfSystem(str(icons / "layadesk.icns"), mac_bundle=_mac_bundle(str(icons / "layadesk.icns")))
    return OfSystem(str(icons / "256.png"))


def is_wanted(place: str, backend: str) -> bool:
    """Whether a file belongs into the bundle, by the place it would get there.

    The router computes on the processor whatever llama.cpp's `backend` is.
    """
    written = place.replace("\\", "/")
    needs_cuda = backend == "cuda" or written.startswith("backends/")
    parts = (*_UNWANTED_PARTS, *_GTK_PARTS, *_TORCHS_CUDA_PARTS, *(() if needs_cuda else _LLAMAS_CUDA_PARTS))
    return written not in (*_SYSTEMS_OWN, *_UNASKED) and not any(part in written for part in parts)


def left_out_packages(providers: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The packages of the modules that stay out; `providers` are names of packages by what they are imported as."""
    return frozenset(_plain(name) for module in _EXCLUDED for name in providers.get(module, ()))


def tells_of(place: str, packages: frozenset[str]) -> bool:
    """Whether a file lies in the `NAME-VERSION.dist-info` of one of them: libraries believe what that says is there."""
    top = place.replace("\\", "/").partition("/")[0]
    return top.endswith(".dist-info") and _plain(top.partition("-")[0]) in packages


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _datas() -> list[tuple[str, str]]:
    from PyInstaller.utils.hooks import copy_metadata  # noqa: PLC0415 - only where PyInstaller is

    found = [(str(REPO / "assets" / part), f"assets/{part}") for part in ("icons", "i18n", "router")]
    found += [(str(REPO / "models.json"), "."), (str(REPO / "LICENSE"), ".")]
    found += copy_metadata(PROGRAM, recursive=True)  # versions and licences, for Health and About
    starter = os.environ.get(STARTER_VARIABLE)
    return found + ([(starter, "starter")] if starter else [])


def _binaries() -> list[tuple[str, str]]:
    from PyInstaller.utils.hooks import collect_dynamic_libs  # noqa: PLC0415 - only where PyInstaller is

    modules = os.environ.get(MODULES_VARIABLE, "").split(os.pathsep)
    return [*collect_dynamic_libs("llama_cpp"), *((module, "backends") for module in modules if module)]


def _hidden_imports() -> list[str]:
    """What is imported by name inside libraries: PyInstaller reads only the code."""
    from PyInstaller.utils.hooks import collect_submodules  # noqa: PLC0415 - only where PyInstaller is

    laya = [f"transformers.models.{family}" for family in ("auto", "modernbert", "bert", "xlm_roberta")]
    return [name for package in ("laya", "pygments.lexers", *laya) for name in collect_submodules(package)]


def _windows_version() -> str:
    numbers = tuple(int(part) for part in version_of(REPO).split(".")[:3])
    strings = {
        "FileDescription": NAME,
        "ProductName": NAME,
        "FileVersion": version_of(REPO),
        "ProductVersion": version_of(REPO),
        "OriginalFilename": f"{PROGRAM}.exe",
    }
    told = ", ".join(f"StringStruct({name!r}, {text!r})" for name, text in strings.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={(*numbers, 0)}, prodvers={(*numbers, 0)}), kids=["
        f"StringFileInfo([StringTable('040904B0', [{told}])]), VarFileInfo([VarStruct('Translation', [1033, 1200])])])"
    )


def _mac_bundle(icon: str) -> dict[str, Any]:
    """Info.plist: what the Finder shows, and that `.gguf` files can be opened with it."""
    return {
        "name": f"{NAME}.app",
        "icon": icon,
        "bundle_identifier": APP_ID,
        "version": version_of(REPO),
        "info_plist": {
            "CFBundleDisplayName": NAME,
            "NSHighResolutionCapable": True,
            "LSMinimumSystemVersion": "13.0",
            "CFBundleDocumentTypes": [
                {
                    "CFBundleTypeName": "GGUF model",
                    "CFBundleTypeRole": "Viewer",
                    "LSHandlerRank": "Alternate",
                    "LSItemContentTypes": ["org.ggml.gguf"],
                }
            ],
            "UTImportedTypeDeclarations": [
                {
                    "UTTypeIdentifier": "org.ggml.gguf",
                    "UTTypeDescription": "GGUF model",
                    "UTTypeConformsTo": ["public.data"],
                    "UTTypeTagSpecification": {"public.filename-extension": ["gguf"]},
                }
            ],
        },
    }
