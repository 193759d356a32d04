"""What this processor can do, against what the library was compiled for: more than it can is death by SIGILL.

Asked before anything is computed, so that the user reads which instructions are missing instead of a signal's name.
Functions of ggml that tell what the build uses: `ggml_cpu_has_*` in ggml-cpu.h.
"""

import ctypes
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

# name in ggml_cpu_has_*, flag in /proc/cpuinfo, Windows' number (winnt.h, PF_*; None: it has no word for it)
_KNOWN: Final = (
    ("avx", "avx", 39),
    ("avx2", "avx2", 40),
    ("bmi2", "bmi2", None),
    ("f16c", "f16c", None),
    ("fma", "fma", None),
    ("avx512", "avx512f", 41),
    ("avx512_vnni", "avx512_vnni", None),
)
_CPUINFO: Final = Path("/proc/cpuinfo")


def missing_instructions(library: Any, *, has: Callable[[str], bool | None] | None = None) -> tuple[str, ...]:
    """Names such as `avx2` that `library` uses and this processor lacks; what cannot be told is not missing.

    `has(name)` says whether the processor has it, None where that is unknown.
    """
    has = has or _has_here()
    return tuple(name for name, _, _ in _KNOWN if _uses(library, name) and has(name) is False)


def flags_of(cpuinfo: str) -> frozenset[str] | None:
    """The flags of the first processor in the text of /proc/cpuinfo; None on processors that are no x86."""
    line = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    return None if line is None else frozenset(line.partition(":")[2].split())


def _uses(library: Any, name: str) -> bool:
    try:
        function = getattr(library, f"ggml_cpu_has_{name}")
    except AttributeError:  # a build whose CPU part is a module of its own, or that does not export it
        return False
    return bool(function())


def _has_here() -> Callable[[str], bool | None]:
    if sys.platform == "win32":
        numbers = {name: number for name, _, number in _KNOWN}
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return lambda name: None if numbers[name] is None else bool(present(numbers[name]))
    flags = _flags_here()
    if flags is None:
        return lambda name: None
    written = {name: flag for name, flag, _ in _KNOWN}
    return lambda name: written[name] in flags


def _flags_here() -> Iterable[str] | None:
    try:
        return flags_of(_CPUINFO.read_text(encoding="utf-8", errors="replace"))
    except OSError:  # macOS: its x86 machines that run it all have AVX2
        return None
