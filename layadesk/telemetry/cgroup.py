"""The memory limit of the container or service this program runs in (reported faults A32, psutil #2100).

Where a cgroup limits memory below what the machine has, that limit is what a load will meet.
"""

from dataclasses import dataclass
from pathlib import Path

_LIMITS_EVERY_S = 60.0
_CACHE_EVERY_S = 2.0  # memory.stat makes the kernel add up counters of all CPUs


@dataclass(frozen=True, slots=True)
class CgroupLimit:
    """The limit nearest to being met. `used_bytes` is without page cache that can be dropped; None: not told."""

    limit_bytes: int
    used_bytes: int | None


@dataclass(slots=True)
class _Group:
    folder: Path
    limit_bytes: int
    usage_file: str
    cache_label: str
    cache_bytes: int = 0


class CgroupMemory:
    """Reads cgroup v2 and v1, the own group and all above it. One thread."""

    def __init__(self, proc_root: Path, cgroup_root: Path) -> None:
        self._own = proc_root / "self" / "cgroup"
        self._root = cgroup_root
        self._groups: list[_Group] = []
        self._limits_at: float | None = None
        self._cache_at: float | None = None
        self._tightest: _Group | None = None

    def read(self, now: float) -> CgroupLimit | None:
        """The limit with the least room, or None where nothing limits."""
        if self._limits_at is None or now - self._limits_at >= _LIMITS_EVERY_S:
            self._limits_at, self._cache_at = now, None
            self._groups = self._limited_groups()
        if not self._groups:
            self._tightest = None
            return None
        if self._cache_at is None or now - self._cache_at >= _CACHE_EVERY_S:
            self._cache_at = now
            for group in self._groups:
                group.cache_bytes = _stat(group.folder / "memory.stat", group.cache_label) or 0
        self._tightest, limit = min(((group, _current(group)) for group in self._groups), key=lambda one: _room(one[1]))
        return limit

    def tightest_folder(self) -> Path | None:
        """The group whose limit `read` gave last; it has files of its own about pressure."""
        return None if self._tightest is None else self._tightest.folder

    def _limited_groups(self) -> list[_Group]:
        groups: list[_Group] = []
        for line in (_text(self._own) or "").splitlines():
            _, controllers, path = (*line.split(":", 2), "", "")[:3]
            if controllers == "":
                groups += self._walk(self._root, path, ("memory.max", "memory.current", "inactive_file"))
            elif "memory" in controllers.split(","):
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                groups += self._walk(self._root / "memory", path, names)
        return groups

    def _walk(self, root: Path, path: str, names: tuple[str, str, str]) -> list[_Group]:
        """The groups with a limit from `path` up to the root, which is the container's own where it sees no more."""
        limit_file, usage_file, cache_label = names
        groups: list[_Group] = []
        outside = ".." in path.split("/")  # a group above what a container's namespace shows
        folder = root if outside else root / path.strip("/")
        for group in (folder, *folder.parents):
            limit = _number(group / limit_file)
            if limit is not None:
                groups.append(_Group(group, limit, usage_file, cache_label))
            if group == root:
                break
        return groups


def _current(group: _Group) -> CgroupLimit:
    used = _number(group.folder / group.usage_file)
    return CgroupLimit(group.limit_bytes, None if used is None else max(used - group.cache_bytes, 0))


def _room(limit: CgroupLimit) -> int:
    return limit.limit_bytes - (limit.used_bytes or 0)


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None


def _number(path: Path) -> int | None:
    text = (_text(path) or "").strip()
    return int(text) if text.isdigit() else None  # "max" is no limit


def _stat(path: Path, label: str) -> int | None:
    for line in (_text(path) or "").splitlines():
        name, _, value = line.partition(" ")
        if name == label:
            return int(value) if value.isdigit() else None
    return None
