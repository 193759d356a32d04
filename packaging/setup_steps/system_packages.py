"""System libraries that Qt and llama.cpp load and that no Python package brings: which are missing, and the line that
installs them. Missing means that the loader cannot open it, whatever a package database says.
"""

import ctypes
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from setup_steps.machine import Distribution, Machine, has_compiler
from setup_steps.progress import Progress, SetupFailure
from setup_steps.running import LoggedRun, capture


@dataclass(frozen=True, slots=True)
class SystemPackage:
    """`sought` is a library's soname, a program, or an absolute path; `apt` and `pacman` are names of packages.

    dnf and zypper need no names: they find packages by what these provide.
    """

    sought: str
    apt: str
    pacman: str

    @property
    def provides(self) -> str:
        """The RPM capability: `libEGL.so.1()(64bit)`, or the path of a program or file."""
        if self.sought.startswith("/"):
            return self.sought
        return f"{self.sought}()(64bit)" if ".so." in self.sought else f"/usr/bin/{self.sought}"


LIBRARIES = (
    SystemPackage("libEGL.so.1", "libegl1", "libglvnd"),
    SystemPackage("libGL.so.1", "libgl1", "libglvnd"),
    SystemPackage("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon"),
    SystemPackage("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11"),
    SystemPackage("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor"),
    SystemPackage("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm"),
    SystemPackage("libxcb-util.so.1", "libxcb-util1", "xcb-util"),
    SystemPackage("libxcb-image.so.0", "libxcb-image0", "xcb-util-image"),
    SystemPackage("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms"),
    SystemPackage("libxcb-randr.so.0", "libxcb-randr0", "libxcb"),
    SystemPackage("libxcb-render.so.0", "libxcb-render0", "libxcb"),
    SystemPackage("libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil"),
    SystemPackage("libxcb-shape.so.0", "libxcb-shape0", "libxcb"),
    SystemPackage("libxcb-shm.so.0", "libxcb-shm0", "libxcb"),
    SystemPackage("libxcb-sync.so.1", "libxcb-sync1", "libxcb"),
    SystemPackage("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb"),
    SystemPackage("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb"),
    SystemPackage("libX11-xcb.so.1", "libx11-xcb1", "libx11"),
    SystemPackage("libfontconfig.so.1", "libfontconfig1", "fontconfig"),
    SystemPackage("libfreetype.so.6", "libfreetype6", "freetype2"),
    SystemPackage("libdbus-1.so.3", "libdbus-1-3", "dbus"),
    SystemPackage("libglib-2.0.so.0", "libglib2.0-0", "glib2"),
    SystemPackage("libgomp.so.1", "libgomp1", "gcc-libs"),
)
TEST_PROGRAMS = (
    SystemPackage("Xvfb", "xvfb", "xorg-server-xvfb"),
    SystemPackage("xdotool", "xdotool", "xdotool"),
)
COMPILER = (SystemPackage("g++", "build-essential", "base-devel"),)
_FONT_PACKAGES = {"apt": "fonts-noto-cjk", "pacman": "noto-fonts-cjk", "dnf": "'font(:lang=zh-cn)'"}
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
_FONT_WORDS = ("cjk", "wqy", "wenquanyi", "sourcehan", "source-han", "droidsansfallback", "lxgw", "sarasa")
_TOOL_OF_ID = {
    "apt": ("debian", "ubuntu", "linuxmint", "pop", "raspbian", "kali"),
    "dnf": ("fedora", "rhel", "centos", "rocky", "almalinux"),
    "pacman": ("arch", "manjaro", "endeavouros", "artix"),
    "zypper": ("suse", "opensuse", "opensuse-leap", "opensuse-tumbleweed", "sles"),
}


def package_tool(distribution: Distribution) -> str | None:
    """`apt`, `dnf`, `pacman` or `zypper`, or None where we do not know how packages get installed."""
    for one in distribution.ids:
        for tool, ids in _TOOL_OF_ID.items():
            if one in ids:
                return tool
    return None


def package_names(packages: Iterable[SystemPackage], tool: str) -> tuple[str, ...]:
    """The arguments for `tool`, each once, in the order of the table."""
    if tool in ("apt", "pacman"):
        names = [package.apt if tool == "apt" else package.pacman for package in packages]
    else:
        names = [f"'{package.provides}'" if "(" in package.provides else package.provides for package in packages]
    return tuple(dict.fromkeys(names))


def install_line(names: Sequence[str], tool: str, *, is_root: bool = False) -> str:
    """The one line to type."""
    verb = {"apt": "apt-get install", "dnf": "dnf install", "pacman": "pacman -S", "zypper": "zypper install"}[tool]
    return f"{'' if is_root else 'sudo '}{verb} {' '.join(names)}"


def can_load(soname: str) -> bool:
    """Whether the dynamic loader opens it. It stays open: closing Qt's neighbours again is not worth the risk."""
    try:
        ctypes.CDLL(soname)
    except OSError:
        return False
    return True


def missing_libraries(can_load: Callable[[str], bool] = can_load) -> tuple[SystemPackage, ...]:
    """Those of LIBRARIES that cannot be opened."""
    return tuple(package for package in LIBRARIES if not can_load(package.sought))


def missing_programs(
    programs: Iterable[SystemPackage], find: Callable[[str], str | None] = shutil.which
) -> tuple[SystemPackage, ...]:
    """Those that are not on the PATH."""
    return tuple(package for package in programs if find(package.sought) is None)


def has_cjk_font() -> bool:
    """Asks fontconfig; without its tools, looks for well-known file names."""
    listed = capture(["fc-list", ":lang=zh", "file"])
    if listed is not None:
        return bool(listed.strip())
    folders = (Path(os.path.expanduser(folder)) for folder in _FONT_FOLDERS)
    files = (file.name.lower() for folder in folders if folder.is_dir() for file in folder.rglob("*"))
    return any(word in name for name in files for word in _FONT_WORDS)


def font_advice(distribution: Distribution) -> str | None:
    """The line that brings Chinese characters, for those who want them."""
    tool = package_tool(distribution)
    return install_line([_FONT_PACKAGES.get(tool, _FONT_PACKAGES["dnf"])], tool) if tool else None


def missing_packages(*, for_tests: bool) -> tuple[SystemPackage, ...]:
    """What is missing now: libraries, a compiler, and the programs of the tests where these are to run."""
    programs = () if has_compiler() else COMPILER
    return missing_libraries() + missing_programs(programs + (TEST_PROGRAMS if for_tests else ()))


class SystemPackages:
    """Finds out what is missing; installs it as root on a Debian-like system, else names the line.

    A missing library stops the set-up, since no window could open. A missing compiler does not, since a ready llama.cpp
    may be offered; nor do the programs of the tests that drive a window, which are skipped without them.
    """

    def __init__(
        self, machine: Machine, run: LoggedRun, progress: Progress, look: Callable[[], Sequence[SystemPackage]]
    ) -> None:
        self._machine = machine
        self._run = run
        self._progress = progress
        self._look = look
        self._tool = package_tool(machine.distribution)

    def ensure(self, *, ignore_missing: bool) -> None:
        """Raises SetupFailure where a library stays missing, unless told to go on."""
        if self._machine.system != "linux":
            self._progress.note("nothing to install: the Python packages bring what they need")
            return
        missing = self._look()
        if missing and self._machine.is_root and self._tool == "apt":
            self._install(package_names(missing, self._tool))
            missing = self._look()
        if missing:
            self._tell(missing, ignore_missing=ignore_missing)
        else:
            self._progress.note("all there")

    def suggest_font(self, *, is_there: bool) -> None:
        """One line where no font for Chinese was found; nothing is installed for it."""
        line = font_advice(self._machine.distribution)
        if self._machine.system == "linux" and line and not is_there:
            self._progress.note(f"no font for Chinese found; if you want one: {line}")

    def _install(self, names: Sequence[str]) -> None:
        self._progress.note(f"installing as root: {' '.join(names)}")
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "--no-install-recommends", *names]):
            status, output = self._run(command, env=env)
            if status != 0:
                said = [line for line in output.splitlines() if line.startswith("E:")]
                raise SetupFailure(f"{' '.join(command[:2])} failed. {said[-1] if said else ''}".strip())

    def _tell(self, missing: Sequence[SystemPackage], *, ignore_missing: bool) -> None:
        sought = ", ".join(package.sought for package in missing)
        advice = "install them with your system's package tool"
        if self._tool:
            advice = install_line(package_names(missing, self._tool), self._tool, is_root=self._machine.is_root)
        if any(".so." in package.sought for package in missing) and not ignore_missing:
            raise SetupFailure(f"Missing on this system: {sought}.", advice, "Or go on all the same: --ignore-missing")
        self._progress.note(f"missing: {sought}")
        self._progress.note(f"to install: {advice}")
