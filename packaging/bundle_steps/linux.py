"""Linux: a portable archive, and a Debian package with everything a desktop wants to know.

The package is put together as `dpkg-deb` wants it, which is on every Debian-like system; elsewhere only the archive is
made. zstd packs it in seconds, xz in minutes; every dpkg beside a C library that is new enough can read it. Updating
icon, MIME and menu caches is left to the triggers of the packages that own those caches.
"""

import gzip
import hashlib
import os
import platform
import re
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path

from bundle_steps.identity import APP_ID, ICON_SIZES, NAME, PROGRAM, SUMMARY, version_of
from setup_steps.progress import SetupFailure
from setup_steps.running import LoggedRun

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# What PyInstaller leaves to the system, because it belongs to the graphics driver or the C library.
_DEPENDS = ("libstdc++6", "libgcc-s1", "libegl1", "libgl1", "libfontconfig1", "libfreetype6", "libx11-6", "libxcb1")
_RECOMMENDS = ("fonts-noto-cjk", "libwayland-client0", "libwayland-cursor0", "libwayland-egl1")
_GLIBC = re.compile(r"^[\d.]+$")


def archive(bundle: Path, repo: Path, out: Path) -> Path:
    """NAME-VERSION-linux-ARCH.tar.gz: unpack anywhere and start `layadesk`; nothing is installed."""
    top = f"{NAME}-{version_of(repo)}"
    target = out / f"{top}-linux-{platform.machine()}.tar.gz"
    part = target.with_suffix(".part")
    with tarfile.open(part, "w:gz", compresslevel=6) as packed:
        packed.add(bundle, top, filter=_as_root)
        for name in ("layadesk.desktop", "layadesk-mime.xml"):
            packed.add(repo / "packaging" / "linux" / name, f"{top}/share/{name}", filter=_as_root)
    os.replace(part, target)
    return target


def package(bundle: Path, icons: Path, repo: Path, out: Path, run: LoggedRun) -> Path:
    """The .deb, also for Ubuntu and Mint. Raises SetupFailure where `dpkg-deb` is missing or refuses."""
    version = version_of(repo)
    root = out / "deb"
    shutil.rmtree(root, ignore_errors=True)
    _fill(root, bundle, icons, repo)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN" / "control").write_text(_control(version, _installed_kib(root)), encoding="utf-8")
    (root / "DEBIAN" / "md5sums").write_text(_sums(root), encoding="utf-8")
    target = out / f"{PROGRAM}_{version}_{_architecture()}.deb"
    status, output = run(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", str(root), str(target)])
    if status != 0:
        raise SetupFailure(f"dpkg-deb refused: {(output.strip().splitlines() or ['it said nothing'])[-1]}")
    shutil.rmtree(root)
    return target


def _fill(root: Path, bundle: Path, icons: Path, repo: Path) -> None:
    share, source = root / "usr" / "share", repo / "packaging" / "linux"
    shutil.copytree(bundle, root / "usr" / "lib" / PROGRAM, symlinks=True)
    (root / "usr" / "bin").mkdir()
    (root / "usr" / "bin" / PROGRAM).symlink_to(f"../lib/{PROGRAM}/{PROGRAM}")
    placed: list[tuple[Path, Path]] = [
        (source / "layadesk.desktop", share / "applications" / "layadesk.desktop"),
        (source / "layadesk-mime.xml", share / "mime" / "packages" / "layadesk.xml"),
        (source / f"{APP_ID}.metainfo.xml", share / "metainfo" / f"{APP_ID}.metainfo.xml"),
        (repo / "assets" / "icons" / "layadesk.svg", share / "icons/hicolor/scalable/apps/layadesk.svg"),
        (source / "copyright", share / "doc" / PROGRAM / "copyright"),
    ]
    placed += [(icons / f"{n}.png", share / f"icons/hicolor/{n}x{n}/apps/layadesk.png") for n in ICON_SIZES]
    for here, there in placed:
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(here, there)
    changes = share / "doc" / PROGRAM / "changelog.gz"
    changes.write_bytes(gzip.compress(_changelog(repo).encode(), mtime=0))
    for path in root.rglob("*"):  # whatever umask it was built under
        if not path.is_symlink():
            is_open = path.is_dir() or os.access(path, os.X_OK)
            path.chmod(0o755 if is_open else 0o644)


def _control(version: str, installed_kib: int) -> str:
    glibc = platform.libc_ver()[1]
    needed = (f"libc6 (>= {glibc})" if _GLIBC.match(glibc) else "libc6", *_DEPENDS)
    return (
        f"Package: {PROGRAM}\nVersion: {version}\nArchitecture: {_architecture()}\nSection: net\nPriority: optional\n"
        f"Maintainer: The {NAME} authors <noreply@layadesk.org>\nInstalled-Size: {installed_kib}\n"
        f"Depends: {', '.join(needed)}\nRecommends: {', '.join(_RECOMMENDS)}\n"
        f"Description: {SUMMARY}\n"
        " Several language models stay on this machine, and a small router picks the one\n"
        " that suits each request. Every load is priced before it is paid, and an answer\n"
        " survives a crash of the engine. Works without a network.\n"
    )


def _changelog(repo: Path) -> str:
    return f"{PROGRAM} ({version_of(repo)}) stable; urgency=medium\n\n  * See the README of the project.\n"


def _installed_kib(root: Path) -> int:
    return sum(path.stat().st_size for path in _files(root)) // 1024 + 1


def _sums(root: Path) -> str:
    lines = []
    for path in _files(root):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
        lines.append(f"{digest}  {path.relative_to(root)}\n")
    return "".join(lines)


def _files(root: Path) -> Iterable[Path]:
    found = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return (path for path in found if root / "DEBIAN" not in path.parents)


def _architecture() -> str:
    return _ARCHITECTURES.get(platform.machine(), platform.machine())


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry
