"""Fake /proc, /sys and cgroup trees."""

import os
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30


def write(path: Path, text: object) -> None:
    """A file of one text and a line break, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="ascii")


def make_proc(
    proc: Path,
    *,
    total: int = 16 * GIB,
    available: int = 9 * GIB,
    swap: tuple[int, int] = (0, 0),
    pages_in: int = 0,
    pages_out: int = 0,
) -> None:
    """meminfo and vmstat; `swap` is total and used."""
    swap_total, swap_used = swap
    sizes = {
        "MemTotal": total,
        "MemFree": available // 4,
        "MemAvailable": available,
        "Cached": available // 2,
        "SwapCached": 0,
        "SwapTotal": swap_total,
        "SwapFree": swap_total - swap_used,
    }
    write(proc / "meminfo", "\n".join(f"{name + ':':16}{size // 1024:8} kB" for name, size in sizes.items()))
    write(proc / "vmstat", f"nr_free_pages 1\npswpin {pages_in}\npswpout {pages_out}\npgmajfault 0")


def make_pid(proc: Path, pid: int, *, anon: int = GIB, mapped: int = 4 * GIB) -> None:
    """/proc/<pid>/status of a child with private memory and a mapped model."""
    sizes = {"VmSize": 2 * (anon + mapped), "VmRSS": anon + mapped, "RssAnon": anon, "RssFile": mapped, "RssShmem": 0}
    lines = "\n".join(f"{name}:\t{size // 1024} kB" for name, size in sizes.items())
    write(proc / str(pid) / "status", f"Name:\tpython\nPid:\t{pid}\n{lines}")


def make_cgroup_v2(
    proc: Path, root: Path, path: str, *, limits: tuple[object, ...], current: int, cache: int = 0
) -> None:
    """The groups of `path` with one limit each (bytes or `max`), and the process in the last of them."""
    write(proc / "self" / "cgroup", f"0::{path}")
    folder = root
    for part, limit in zip(path.strip("/").split("/"), limits, strict=True):
        folder /= part
        write(folder / "memory.max", limit)
        write(folder / "memory.current", current)
        write(folder / "memory.stat", f"anon 1\nfile 1\ninactive_file {cache}\nworkingset_refault_file 0")


def make_cgroup_v1(proc: Path, root: Path, *, limit: int, current: int, cache: int = 0) -> None:
    """A container of the first version: its path is the host's, its files lie at the root of the mount."""
    write(proc / "self" / "cgroup", "4:memory:/docker/0123\n3:cpuset:/\n0::/")
    folder = root / "memory"
    write(folder / "memory.limit_in_bytes", limit)
    write(folder / "memory.usage_in_bytes", current)
    write(folder / "memory.stat", f"cache 1\ninactive_file 1\ntotal_inactive_file {cache}")


def make_nvidia_pci(sys_root: Path, address: str = "0000:01:00.0", *, status: str = "active") -> None:
    """A GPU and its sound device on the PCI bus."""
    for function, kind in (("0", "0x030000"), ("1", "0x040300")):
        device = sys_root / "bus" / "pci" / "devices" / f"{address[:-1]}{function}"
        write(device / "vendor", "0x10de")
        write(device / "class", kind)
        write(device / "power" / "runtime_status", status if function == "0" else "active")


def break_file(path: Path, how: str) -> None:
    """`missing`, `folder` (any OSError when read), `empty`, `garbage`, or `hang` (a pipe: opening it blocks)."""
    path.unlink(missing_ok=True)
    match how:
        case "folder":
            path.mkdir()
        case "empty":
            path.write_text("", encoding="ascii")
        case "garbage":
            path.write_text("N/A\n", encoding="ascii")
        case "hang":
            os.mkfifo(path)
        case _:
            assert how == "missing"
