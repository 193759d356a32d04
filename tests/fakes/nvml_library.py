"""NVIDIA's library as a compiled stand-in whose GPUs a test changes while they are read."""

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

_SOURCE = Path(__file__).with_name("nvml.c")


def build_library(folder: Path, *flags: str) -> Path:
    """Compile it; skips the test where there is no C compiler or no such libraries."""
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None or os.name != "posix":
        pytest.skip("the stand-in for NVIDIA's library needs a C compiler on Linux or macOS")
    target = folder / ("libnvidia-ml-" + "-".join(["fake", *flags]) + ".so")
    soname = ["-Wl,-soname,libnvidia-ml.so.1"] if os.uname().sysname == "Linux" else []
    command = [compiler, "-O1", "-shared", "-fPIC", *soname, *flags, str(_SOURCE), "-o", str(target)]
    subprocess.run(command, check=True, timeout=60)
    return target


class FakeDriver:
    """The machine's GPUs as the stand-in plays them; `key=value` as nvml.c lists them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._state_file = folder / "gpus"
        self._log_file = folder / "calls"
        self._state: dict[str, object] = {}
        monkeypatch.setenv("FAKE_NVML_STATE", str(self._state_file))
        monkeypatch.setenv("FAKE_NVML_LOG", str(self._log_file))

    def set(self, changes: Mapping[str, object]) -> None:
        """Change some keys; None takes one away. In force at the next call of the library."""
        self._state |= changes
        text = "".join(f"{key}={value}\n" for key, value in self._state.items() if value is not None)
        part = self._state_file.with_suffix(".part")
        part.write_text(text, encoding="ascii")
        part.replace(self._state_file)

    def calls(self) -> list[str]:
        """Names of the functions called since the last `forget_calls`."""
        return self._log_file.read_text(encoding="ascii").split() if self._log_file.exists() else []

    def forget_calls(self) -> None:
        """Begin to count anew."""
        self._log_file.unlink(missing_ok=True)


def put_in_place(library: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """NVIDIA's own Python module, bound to the stand-in."""
    pynvml = pytest.importorskip("pynvml")
    monkeypatch.setattr(pynvml, "nvmlLib", ctypes.CDLL(str(library)))
    monkeypatch.setattr(pynvml, "_nvmlGetFunctionPointer_cache", {})
    return pynvml
