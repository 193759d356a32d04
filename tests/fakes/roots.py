"""Fake /proc, /sys and cgroup trees."""

import os
from pathlib import Path

MIB, GIB = 1 << 20, 1 << 30
AMD_ADDRESS = "0000:c5:00.0"


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
    refaults: int = 0,
    psi: tuple[float, float] | None = None,
) -> None:
    """meminfo, vmstat and pressure; `swap` is total and used, `psi` some and full; counters are in pages."""
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
    counters = f"pswpin {pages_in}\npswpout {pages_out}\nworkingset_refault_file {refaults}\npgmajfault {refaults // 8}"
    write(proc / "vmstat", f"nr_free_pages 1\n{counters}")
    if psi is not None:
        averages = zip(("some", "full"), psi, strict=True)
        lines = (f"{kind} avg10={value:.2f} avg60=0.00 avg300=0.00 total=1" for kind, value in averages)
        write(proc / "pressure" / "memory", "\n".join(lines))


def make_pid(proc: Path, pid: int, *, anon: int = GIB, mapped: int = 4 * GIB, swap: int = 0, ticks: int = 0) -> None:
    """/proc/<pid> of a child with private memory and a mapped model, that used `ticks` of the processor."""
    sizes = {"VmSize": 2 * (anon + mapped), "VmRSS": anon + mapped, "RssAnon": anon, "RssFile": mapped, "RssShmem": 0}
    sizes["VmSwap"] = swap
    write(proc / str(pid) / "stat", f"{pid} (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 {ticks} 0 0 0 20")
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


def make_gpu_client(proc: Path, pid: int, fd: int, client: int, **keys: str) -> None:
    """An open render node of a process on the card at AMD_ADDRESS; `keys` as in `drm_resident_gtt="5 MiB"`."""
    links = proc / str(pid) / "fd"
    links.mkdir(parents=True, exist_ok=True)
    (links / str(fd)).symlink_to("/dev/dri/renderD128")
    lines = "\n".join(f"{name.replace('_', '-')}:\t{value}" for name, value in keys.items())
    head = f"pos:\t0\nflags:\t02100002\ndrm-driver:\tamdgpu\ndrm-pdev:\t{AMD_ADDRESS}\ndrm-client-id:\t{client}"
    write(proc / str(pid) / "fdinfo" / str(fd), f"{head}\n{lines}")


def make_amd_card(
    sys_root: Path,
    card: int = 1,
    *,
    vram: tuple[int, int] = (512 * MIB, 148 * MIB),
    gtt: tuple[int, int] = (15 * GIB, 6 * GIB),
    status: str = "active",
    address: str = AMD_ADDRESS,
) -> Path:
    """A 780M unless told otherwise: a carve-out of 512 MiB, GTT of half the RAM; returns its device folder."""
    drm = sys_root / "class" / "drm"
    device = drm / f"card{card}" / "device"
    is_small = vram[0] <= 4 * GIB
    files = {
        "vendor": "0x1002",
        "device": "0x15bf",
        "uevent": f"DRIVER=amdgpu\nPCI_SLOT_NAME={address}",
        "mem_info_vram_total": vram[0],
        "mem_info_vram_used": vram[1],
        "mem_info_gtt_total": gtt[0],
        "mem_info_gtt_used": gtt[1],
        "gpu_busy_percent": 37,
        "power/runtime_status": status,
        "hwmon/hwmon5/name": "amdgpu",
        "hwmon/hwmon5/temp1_input": 61_000,
        "hwmon/hwmon5/power1_input" if is_small else "hwmon/hwmon5/power1_average": 28_000_000,
    }
    for name, text in files.items():
        write(device / name, text)
    for other in (f"card{card}-eDP-1", "renderD128"):  # connectors and render nodes are no cards
        (drm / other / "device").mkdir(parents=True, exist_ok=True)
    return device


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
