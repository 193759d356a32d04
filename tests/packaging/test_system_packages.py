"""Which system libraries are missing, and the line that installs them on each kind of Linux."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from setup_steps.machine import Distribution, Machine, parse_os_release
from setup_steps.progress import Progress, SetupFailure
from setup_steps.running import LoggedRun
from setup_steps.system_packages import (
    COMPILER,
    LIBRARIES,
    TEST_PROGRAMS,
    SystemPackage,
    SystemPackages,
    font_advice,
    install_line,
    missing_libraries,
    missing_programs,
    package_names,
    package_tool,
)
from tests.packaging.machines import machine

UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nNAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n'
TUMBLEWEED = 'NAME="openSUSE Tumbleweed"\nID="opensuse-tumbleweed"\nID_LIKE="opensuse suse"\n'
EGL = SystemPackage("libEGL.so.1", "libegl1", "libglvnd")
GL = SystemPackage("libGL.so.1", "libgl1", "libglvnd")


def test_os_release_is_read_with_and_without_quotes() -> None:
    found = parse_os_release(UBUNTU + "# a comment\nnonsense\n")
    assert found == Distribution(("ubuntu", "debian"), "Ubuntu 24.04.1 LTS")
    assert parse_os_release(TUMBLEWEED).ids == ("opensuse-tumbleweed", "opensuse", "suse")


def test_an_empty_os_release_is_some_linux() -> None:
    assert parse_os_release("") == Distribution((), "Linux")


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (UBUNTU, "apt"),
        ("ID=debian\n", "apt"),
        ("ID=neon\nID_LIKE='ubuntu debian'\n", "apt"),
        ("ID=fedora\n", "dnf"),
        ('ID="rocky"\nID_LIKE="rhel centos fedora"\n', "dnf"),
        ("ID=endeavouros\nID_LIKE=arch\n", "pacman"),
        (TUMBLEWEED, "zypper"),
        ("ID=nixos\n", None),
    ],
)
def test_the_package_tool_follows_from_the_distribution_or_what_it_is_like(text: str, tool: str | None) -> None:
    assert package_tool(parse_os_release(text)) == tool


def test_a_library_is_missing_when_the_loader_cannot_open_it() -> None:
    missing = missing_libraries(lambda soname: soname != "libxcb-cursor.so.0")
    assert [package.apt for package in missing] == ["libxcb-cursor0"]


def test_nothing_is_missing_where_everything_opens() -> None:
    assert missing_libraries(lambda soname: True) == ()
    assert missing_programs(TEST_PROGRAMS, find=lambda name: f"/usr/bin/{name}") == ()


def test_the_libraries_named_by_the_qt_documentation_are_in_the_table() -> None:
    names = {package.apt for package in LIBRARIES}
    assert {"libegl1", "libxkbcommon-x11-0", "libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1"} <= names


def test_every_library_is_named_by_its_soname_and_every_program_is_not() -> None:
    assert all(".so." in package.sought for package in LIBRARIES)
    assert all(".so." not in package.sought for package in TEST_PROGRAMS)


def test_a_package_that_brings_two_libraries_is_named_once() -> None:
    assert package_names([EGL, GL], "pacman") == ("libglvnd",)
    assert package_names([EGL, GL], "apt") == ("libegl1", "libgl1")


def test_dnf_and_zypper_are_asked_for_what_packages_provide() -> None:
    wanted = [EGL, *TEST_PROGRAMS]
    assert package_names(wanted, "dnf") == ("'libEGL.so.1()(64bit)'", "/usr/bin/Xvfb", "/usr/bin/xdotool")
    assert package_names(wanted, "zypper") == package_names(wanted, "dnf")


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("apt", "sudo apt-get install libegl1"),
        ("dnf", "sudo dnf install libegl1"),
        ("pacman", "sudo pacman -S libegl1"),
        ("zypper", "sudo zypper install libegl1"),
    ],
)
def test_the_line_to_type_is_one_line(tool: str, line: str) -> None:
    assert install_line(["libegl1"], tool) == line


def test_root_needs_no_sudo() -> None:
    assert install_line(["libegl1"], "apt", is_root=True) == "apt-get install libegl1"


def test_a_font_is_suggested_only_where_we_know_the_line() -> None:
    assert font_advice(parse_os_release(UBUNTU)) == "sudo apt-get install fonts-noto-cjk"
    assert font_advice(Distribution(("nixos",), "NixOS")) is None


class RecordedRun(LoggedRun):
    """Starts nothing; keeps the commands; each ends with `status`."""

    def __init__(self, status: int = 0, output: str = "") -> None:
        super().__init__(Path("unused.log"), lambda text: None)
        self.commands: list[list[str]] = []
        self._answer = status, output

    def __call__(self, command: Sequence[str], describe: object = None, **options: object) -> tuple[int, str]:
        """Nothing is started."""
        self.commands.append(list(command))
        return self._answer


class Scene:
    """A machine where `missing` is missing until something is installed."""

    def __init__(self, here: Machine, *missing: SystemPackage, run: RecordedRun | None = None) -> None:
        self.lines: list[str] = []
        self.run = run or RecordedRun()
        self._missing = missing
        self.packages = SystemPackages(here, self.run, Progress(1, write=self.lines.append), self._look)

    def _look(self) -> tuple[SystemPackage, ...]:
        return () if self.run.commands else self._missing


def test_root_on_debian_gets_the_missing_libraries_installed() -> None:
    scene = Scene(machine(is_root=True), EGL)
    scene.packages.ensure(ignore_missing=False)
    assert scene.run.commands[0] == ["apt-get", "update"]
    assert scene.run.commands[1] == ["apt-get", "install", "-y", "--no-install-recommends", "libegl1"]
    assert scene.lines[-1].strip() == "all there"


def test_a_user_is_told_the_line_and_nothing_is_run() -> None:
    scene = Scene(machine(), EGL, GL)
    with pytest.raises(SetupFailure, match=r"libEGL\.so\.1, libGL\.so\.1") as caught:
        scene.packages.ensure(ignore_missing=False)
    assert caught.value.advice[0] == "sudo apt-get install libegl1 libgl1"
    assert scene.run.commands == []


def test_root_elsewhere_is_told_the_line_too() -> None:
    scene = Scene(machine(is_root=True, distribution=Distribution(("fedora",), "Fedora")), EGL)
    with pytest.raises(SetupFailure) as caught:
        scene.packages.ensure(ignore_missing=False)
    assert caught.value.advice[0] == "dnf install 'libEGL.so.1()(64bit)'"
    assert scene.run.commands == []


def test_an_unknown_linux_is_told_what_is_missing_without_a_line() -> None:
    scene = Scene(machine(distribution=Distribution(("nixos",), "NixOS")), EGL)
    with pytest.raises(SetupFailure, match="libEGL") as caught:
        scene.packages.ensure(ignore_missing=False)
    assert "package tool" in caught.value.advice[0]


def test_whoever_knows_better_goes_on_without_a_library() -> None:
    scene = Scene(machine(), EGL)
    scene.packages.ensure(ignore_missing=True)
    assert any("missing: libEGL.so.1" in line for line in scene.lines)


def test_missing_test_programs_or_a_compiler_stop_nobody() -> None:
    scene = Scene(machine(), *TEST_PROGRAMS, *COMPILER)
    scene.packages.ensure(ignore_missing=False)
    assert any("sudo apt-get install xvfb xdotool build-essential" in line for line in scene.lines)


def test_a_failing_apt_is_told_by_its_own_last_error() -> None:
    run = RecordedRun(100, "Reading...\nE: Could not get lock /var/lib/dpkg/lock\n")
    with pytest.raises(SetupFailure, match=r"apt-get update failed\. E: Could not get lock"):
        Scene(machine(is_root=True), EGL, run=run).packages.ensure(ignore_missing=False)


def test_windows_and_mac_need_no_system_libraries() -> None:
    for system in ("win32", "darwin"):
        scene = Scene(machine(system=system), EGL)
        scene.packages.ensure(ignore_missing=False)
        assert scene.run.commands == []


def test_the_readme_names_every_library_of_the_table() -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    assert not [name for name in package_names(LIBRARIES, "apt") if name not in readme.split()]
