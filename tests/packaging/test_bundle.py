"""Building what people install: what goes in and stays out, the packages, the desktop entry, the installer's script."""

import platform
import re
import shutil
import struct
import subprocess
import tarfile
from pathlib import Path

import pytest

from bundle_steps import contents, linux, windows
from bundle_steps.check import exec_line, processes_in
from bundle_steps.commands import parse
from bundle_steps.freeze import Part, parts_of
from bundle_steps.identity import APP_ID, ICON_SIZES, PROGRAM, version_of
from layadesk import __version__
from setup_steps.progress import SetupFailure
from setup_steps.running import LoggedRun

REPO = Path(__file__).resolve().parents[2]
LINUX = REPO / "packaging" / "linux"


@pytest.fixture
def run(tmp_path: Path) -> LoggedRun:
    """Runs commands for real."""
    return LoggedRun(tmp_path / "log", print)


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A folder like PyInstaller's, with next to nothing in it."""
    folder = tmp_path / "目录 with space" / "LayaDesk"
    (folder / "_internal" / "torch").mkdir(parents=True)
    (folder / "_internal" / "torch" / "weights.bin").write_bytes(b"x" * 5000)
    (folder / "_internal" / "lib.so").write_bytes(b"y" * 300)
    program = folder / PROGRAM
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


@pytest.fixture
def icons(tmp_path: Path) -> Path:
    """Stand-ins for the drawn icons."""
    folder = tmp_path / "icons"
    folder.mkdir()
    for size in ICON_SIZES:
        (folder / f"{size}.png").write_bytes(b"png")
    return folder


def small_icon() -> bytes:
    """A Windows icon of 16 × 16 transparent pixels: a bitmap whose height counts the mask too."""
    pixels, mask = bytes(16 * 16 * 4), b"\xff" * 16 * 4
    bitmap = struct.pack("<IiiHHIIiiII", 40, 16, 32, 1, 32, 0, 0, 0, 0, 0, 0) + pixels + mask
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(bitmap), 22) + bitmap


def test_the_version_is_that_of_the_program() -> None:
    assert version_of(REPO) == __version__


@pytest.mark.parametrize(
    "place",
    ["torch/lib/libtorch_cuda.so", "nvidia/cublas/lib/libcublas.so.12", "libstdc++.so.6", "PySide6/Qt/qml/QtQml/x.so",
     "torch\\include\\c10\\x.h", "torch/lib/libcudnn.so.9", "libcudart.so", "libgio-2.0.so.0",
     "PySide6/Qt/plugins/platformthemes/libqgtk3.so", "libharfbuzz.so.0"],
)  # fmt: skip
def test_cuda_and_what_nobody_reaches_stay_out(place: str) -> None:
    assert not contents.is_wanted(place, "cpu")


@pytest.mark.parametrize(
    "place",
    ["torch/lib/libtorch_cpu.so", "PySide6/Qt/plugins/platforms/libqxcb.so", "llama_cpp/lib/libllama.so", "models.json",
     "PySide6/Qt/plugins/platforms/libqwayland.so", "backends/libggml-cuda.so", "backends/libcudart.so.12",
     "libglib-2.0.so.0", "libfreetype.so.6", "PySide6/Qt/plugins/platformthemes/libqxdgdesktopportal.so"],
)  # fmt: skip
def test_what_the_program_needs_goes_in(place: str) -> None:
    assert contents.is_wanted(place, "cpu")


@pytest.mark.parametrize(
    "place", ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12", "llama_cpp\\lib\\cublas64_12.dll"]
)
def test_what_llama_cpp_needs_of_cuda_goes_only_with_it(place: str) -> None:
    assert contents.is_wanted(place, "cuda")
    assert not contents.is_wanted(place, "cpu")
    assert not contents.is_wanted("torch/lib/libtorch_cuda.so", "cuda")


@pytest.mark.parametrize(
    ("place", "is_left_out"),
    [("hf_xet-1.8.0.dist-info/METADATA", True), ("Pillow-13.0.0.dist-info\\licenses\\LICENSE", True),
     ("more_itertools-11.2.dist-info/METADATA", True), ("numpy-2.4.6.dist-info/METADATA", False),
     ("torch-2.13.0+cpu.dist-info/METADATA", False), ("pillow/data.bin", False)],
)  # fmt: skip
def test_nothing_says_that_a_package_is_there_which_was_left_out(place: str, is_left_out: bool) -> None:
    """`huggingface_hub` takes the metadata of hf_xet for hf_xet."""
    providers = {"hf_xet": ["hf-xet"], "PIL": ["pillow"], "wheel": ["more-itertools"], "torch": ["torch"]}
    assert contents.tells_of(place, contents.left_out_packages(providers)) is is_left_out


def test_parts_are_told_by_size_the_largest_first(bundle: Path) -> None:
    assert parts_of(bundle) == (Part("torch", 5000), Part("libraries and the program", 310))


def test_the_archive_unpacks_to_one_folder_that_is_roots(bundle: Path, tmp_path: Path) -> None:
    made = linux.archive(bundle, REPO, tmp_path)
    with tarfile.open(made) as packed:
        names = packed.getnames()
        assert {name.split("/")[0] for name in names} == {f"LayaDesk-{__version__}"}
        program = packed.getmember(f"LayaDesk-{__version__}/{PROGRAM}")
        assert (program.mode & 0o111, program.uid) == (0o111, 0)
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not there: not a Debian-like system")
def test_the_package_has_program_menu_entry_icons_and_file_type(
    bundle: Path, icons: Path, tmp_path: Path, run: LoggedRun
) -> None:
    made = linux.package(bundle, icons, REPO, tmp_path, run)
    listed = subprocess.run(["dpkg-deb", "-c", str(made)], capture_output=True, text=True, check=True).stdout
    for place in (
        f"./usr/lib/{PROGRAM}/{PROGRAM}\n",
        f"./usr/bin/{PROGRAM} -> ../lib/{PROGRAM}/{PROGRAM}",
        "./usr/share/applications/layadesk.desktop",
        "./usr/share/mime/packages/layadesk.xml",
        f"./usr/share/metainfo/{APP_ID}.metainfo.xml",
        *(f"./usr/share/icons/hicolor/{size}x{size}/apps/layadesk.png" for size in ICON_SIZES),
        "./usr/share/icons/hicolor/scalable/apps/layadesk.svg",
        "./usr/share/doc/layadesk/copyright",
    ):
        assert place in listed
    owners = {line.split()[1] for line in listed.splitlines()}
    assert owners == {"root/root"}
    asked = subprocess.run(["dpkg-deb", "-f", str(made)], capture_output=True, text=True, check=True).stdout
    assert f"Version: {__version__}\n" in asked
    assert f"libc6 (>= {platform.libc_ver()[1]})" in asked


def test_a_refusing_dpkg_is_told(
    bundle: Path, icons: Path, tmp_path: Path, run: LoggedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "dpkg-deb"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'dpkg-deb: error: no space left'; exit 2\n", encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    with pytest.raises(SetupFailure, match="no space left"):
        linux.package(bundle, icons, REPO, tmp_path, run)


def test_the_exec_line_of_the_entry_starts_the_program() -> None:
    assert exec_line((LINUX / "layadesk.desktop").read_text(encoding="utf-8")) == [PROGRAM]
    with pytest.raises(SetupFailure, match="no Exec line"):
        exec_line("[Desktop Entry]\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("desktop-file-validate", ["layadesk.desktop"]),
        ("appstreamcli", ["validate", "--no-net", f"{APP_ID}.metainfo.xml"]),
    ],
)
def test_what_the_desktop_reads_is_valid(tool: str, arguments: list[str]) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run([tool, *arguments], cwd=LINUX, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_release_in_the_metadata_is_this_version() -> None:
    text = (LINUX / f"{APP_ID}.metainfo.xml").read_text(encoding="utf-8")
    assert re.search(r'<release version="([^"]+)"', text)[1] == __version__  # type: ignore[index]


@pytest.mark.skipif(windows.find_compiler() is None, reason="makensis is not installed")
def test_the_windows_installer_compiles_without_a_warning(bundle: Path, tmp_path: Path, run: LoggedRun) -> None:
    folder = tmp_path / "drawn"
    folder.mkdir()
    (folder / "layadesk.ico").write_bytes(small_icon())
    made = windows.installer(bundle, folder, REPO, tmp_path, run)
    assert made.read_bytes()[:2] == b"MZ"


def test_without_a_compiler_for_installers_it_is_named(
    bundle: Path, tmp_path: Path, run: LoggedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows, "find_compiler", lambda: None)
    with pytest.raises(SetupFailure, match="makensis"):
        windows.installer(bundle, tmp_path, REPO, tmp_path, run)


@pytest.mark.parametrize("system", ["linux", "win32", "darwin"])
def test_every_system_has_its_icon_and_no_branch_is_linux_only(system: str, tmp_path: Path) -> None:
    found = contents.of_system(system, tmp_path)
    assert Path(found.icon).name == {"linux": "256.png", "win32": "layadesk.ico", "darwin": "layadesk.icns"}[system]
    assert (found.hide_console is not None) == (system == "win32")  # elsewhere a double click brings no console
    assert (found.mac_bundle is not None) == (system == "darwin")
    if found.version_file is not None:
        compile(Path(found.version_file).read_text(encoding="utf-8"), "version", "eval")


@pytest.mark.parametrize("system", ["linux", "win32", "darwin"])
def test_every_system_has_its_kinds(system: str) -> None:
    asked = parse([], system)
    assert asked.kinds == {"linux": ("archive", "deb"), "win32": ("installer",), "darwin": ()}[system]
    assert parse(["--only", "bundle"], system).kinds == ()


@pytest.mark.skipif(not Path("/proc/self/exe").exists(), reason="processes are found through /proc")
def test_processes_of_a_bundle_are_found_by_their_program(tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    shutil.copyfile(shutil.which("sleep") or "", sleeper)
    sleeper.chmod(0o755)
    process = subprocess.Popen([sleeper, "30"])
    try:
        assert processes_in(tmp_path) == (process.pid,)
    finally:
        process.kill()
        process.wait()
    assert processes_in(tmp_path) == ()
