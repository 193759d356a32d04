"""How much of the experts' files is in RAM: once for each file, whichever processes have it mapped."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from layadesk.domain.hardware import Why
from layadesk.telemetry.sensors import HostDraft

if TYPE_CHECKING:
    from layadesk.telemetry.cachestat import InCache

_EVERY_S = 1.0
_LOOK_EVERY_S = 10.0
_LIBRARIES_BYTES = 2 * 2**30  # what an engine maps besides weights: the libraries of CUDA alone are 1.5 GiB


class WeightsInRam:
    """By `cachestat`; where there is none, by what the engine has mapped. After the engine's memory in the list.

    A file system may answer with nothing at all although the file is in RAM (overlayfs on some kernels): then the
    engine's own mappings are believed.
    """

    fields: tuple[str, ...] = ("weights_bytes", "weights_resident_bytes", "weights_evicted_bytes")

    def __init__(
        self,
        files: Callable[[], Sequence[str]],
        ask: "Callable[[int], InCache] | None" = None,
        is_mapped: Callable[[str], bool] = lambda path: True,
    ) -> None:
        """`files` are the paths the engine may have mapped now; `ask` tells of an open file, where the system can.

        `is_mapped` says whether the engine did: it copies some models instead. Asked when the files change, and every
        10 s after.
        """
        self._files = files
        self._ask = ask
        self._is_mapped = is_mapped
        self._candidates: tuple[str, ...] = ()
        self._mapped: tuple[str, ...] = ()
        self._looked_at: float | None = None
        self._held: dict[str, int] = {}  # path → descriptor, or -1
        self._sizes: dict[str, int] = {}
        self._at: float | None = None
        self._counted: tuple[int, int] | None = None  # resident, evicted

    def fill(self, draft: HostDraft, now: float) -> None:
        """Once a second; files are kept open while they are in use."""
        wanted = self._mapped_files(now)
        if set(wanted) != set(self._held):
            self._hold(wanted)
            self._at = None
        if not self._sizes:
            draft.lack(Why.NOTHING_MAPPED, *self.fields)
            return
        if self._at is None or now - self._at >= _EVERY_S:
            self._at = now
            self._counted = self._count()
        self._put(draft, sum(self._sizes.values()))

    def reset(self) -> None:
        """Look again at once."""
        self._at = self._looked_at = None

    def close(self) -> None:
        """Let go of the files."""
        self._hold(())

    def _mapped_files(self, now: float) -> tuple[str, ...]:
        candidates = tuple(self._files())
        is_due = self._looked_at is None or now - self._looked_at >= _LOOK_EVERY_S
        if candidates != self._candidates or is_due:
            self._candidates, self._looked_at = candidates, now
            self._mapped = tuple(path for path in candidates if self._is_mapped(path))
        return self._mapped

    def _put(self, draft: HostDraft, total: int) -> None:
        draft.put("weights_bytes", total)
        mapped: int | None = draft["engine_mapped_bytes"]
        if self._counted is not None and not _is_blind(self._counted, mapped):
            draft.put("weights_resident_bytes", min(self._counted[0], total))
            draft.put("weights_evicted_bytes", min(self._counted[1], total))
            return
        remark = Why.UNSUPPORTED if mapped is None else Why.FROM_MAPPINGS
        draft.put("weights_resident_bytes", None if mapped is None else min(mapped, total), remark)
        draft.put("weights_evicted_bytes", None, Why.UNSUPPORTED)

    def _count(self) -> tuple[int, int] | None:
        if self._ask is None:
            return None
        resident = evicted = 0
        for descriptor in self._held.values():
            try:
                one = self._ask(descriptor)
            except OSError:
                self._ask = None  # an old kernel, or a container that does not allow it: it will not change
                return None
            resident += one.resident_bytes
            evicted += one.evicted_bytes
        return resident, evicted

    def _hold(self, wanted: Sequence[str]) -> None:
        for path in [path for path in self._held if path not in wanted]:
            descriptor = self._held.pop(path)
            self._sizes.pop(path, None)
            if descriptor >= 0:
                os.close(descriptor)
        for path in wanted:
            if path not in self._held:
                with suppress(OSError):
                    self._sizes[path] = os.stat(path).st_size
                    # an open file cannot be moved on Windows, so it is opened only where that is of use
                    self._held[path] = -1 if self._ask is None else os.open(path, os.O_RDONLY)


def _is_blind(counted: tuple[int, int], mapped: int | None) -> bool:
    """Whether the page cache was asked in vain: nothing of the file was ever there, yet the engine has it in RAM."""
    if mapped is None:
        return False
    return (counted == (0, 0) and mapped > 0) or counted[0] + _LIBRARIES_BYTES < mapped
