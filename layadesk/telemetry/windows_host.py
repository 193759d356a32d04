"""What only Windows has: the commit limit, hard faults, and which part of a working set is mapped weights.

Windows refuses memory at the commit limit, with free RAM in sight (ACE-Step #460): so commit is watched, not RAM alone.
"""

from collections.abc import Callable

from layadesk.domain.hardware import Why
from layadesk.telemetry.pdh import PdhQuery
from layadesk.telemetry.sensors import HostDraft
from layadesk.telemetry.windows_api import WindowsApi

PAGE_BYTES = 4096
HOST_COUNTERS = {"pages_input": r"\Memory\Pages Input/sec"}


class WindowsCommit:
    """Commit charge by kernel32; pages read from disk, mapped files included, by PDH."""

    fields: tuple[str, ...] = ("commit_used_bytes", "commit_limit_bytes", "pages_input_bytes_per_s")

    def __init__(self, api: WindowsApi, query: PdhQuery) -> None:
        self._api = api
        self._query = query

    def fill(self, draft: HostDraft, now: float) -> None:
        """Each figure by itself: performance counters can be switched off."""
        try:
            commit = self._api.commit()
        except OSError:
            draft.lack(Why.UNREADABLE, "commit_used_bytes", "commit_limit_bytes")
        else:
            is_possible = 0 < commit.used_bytes <= commit.limit_bytes
            draft.put("commit_limit_bytes", commit.limit_bytes)
            used = commit.used_bytes if is_possible else None
            draft.put("commit_used_bytes", used, None if is_possible else Why.BAD_VALUE)
        pages = next(iter(self._query.collect().get("pages_input", {}).values()), None)
        name = "pages_input_bytes_per_s"
        draft.put(name, None if pages is None else pages * PAGE_BYTES, Why.NOT_YET if pages is None else None)

    def reset(self) -> None:
        """The rate is the system's own."""


class WindowsMapped:
    """What the engine has mapped and in RAM: its working set without the private part."""

    fields: tuple[str, ...] = ("engine_mapped_bytes",)

    def __init__(self, api: WindowsApi, engine_pid: Callable[[], int | None]) -> None:
        self._api = api
        self._engine_pid = engine_pid

    def fill(self, draft: HostDraft, now: float) -> None:
        """One call; psutil's `uss` would walk the whole working set."""
        pid = self._engine_pid()
        if pid is None:
            draft.lack(Why.NOT_RUNNING, *self.fields)
            return
        try:
            found = self._api.working_set(pid)
        except OSError:
            draft.lack(Why.UNREADABLE, *self.fields)
            return
        private = found.private_bytes
        mapped = None if private is None else max(found.total_bytes - private, 0)
        draft.put("engine_mapped_bytes", mapped, Why.UNSUPPORTED if mapped is None else None)

    def reset(self) -> None:
        """Nothing to forget."""
