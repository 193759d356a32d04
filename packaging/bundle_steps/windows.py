"""Windows: the installer, compiled by NSIS, whose compiler runs on Linux too: so the script is tried there as well."""

import shutil
from collections.abc import Callable
from pathlib import Path

from bundle_steps.identity import NAME, version_of
from setup_steps.progress import SetupFailure
from setup_steps.running import LoggedRun

_PLACES = (r"C:\Program Files (x86)\NSIS\makensis.exe", r"C:\Program Files\NSIS\makensis.exe")


def find_compiler(look: Callable[[str], str | None] = shutil.which) -> str | None:
    """`makensis`, on the path or where its installer puts it."""
    return look("makensis") or next((place for place in _PLACES if Path(place).is_file()), None)


def installer(bundle: Path, icons: Path, repo: Path, out: Path, run: LoggedRun) -> Path:
    """The setup program. Raises SetupFailure where NSIS is missing or finds a mistake."""
    compiler = find_compiler()
    if compiler is None:
        raise SetupFailure("NSIS (makensis) is not installed.", "Install it, then run the same command again.")
    target = out / f"{NAME}-{version_of(repo)}-windows-x64.exe"
    defined = {
        "VERSION": version_of(repo),
        "BUNDLE": bundle,
        "ICON": icons / "layadesk.ico",
        "LICENSE": repo / "LICENSE",
        "OUT": target,
    }
    script = repo / "packaging" / "windows" / "installer.nsi"
    status, output = run(
        [compiler, "-V2", "-WX", *(f"-D{name}={value}" for name, value in defined.items()), str(script)]
    )
    if status != 0:
        raise SetupFailure(f"NSIS found a mistake: {(output.strip().splitlines() or ['it said nothing'])[-1]}")
    return target
