"""The five functions of pdh.dll that are used, with the answers a test gives."""

import ctypes
from collections.abc import Mapping
from typing import Any

from layadesk.telemetry.pdh import MORE_ROOM, CounterItem


class FakePdh:
    """`counters` maps a path to its instances. The items' names lie in the caller's buffer, as Windows does it."""

    def __init__(self, counters: Mapping[str, Mapping[str, float]], *, refuses: bool = False, grows_once: bool = False):
        self._counters = counters
        self._paths: list[str] = []
        self._refuses = refuses
        self._grows = grows_once
        self.n_opened = self.n_collected = self.n_closed = 0
        self.answers: list[int] = []

    def PdhOpenQueryW(self, source: object, data: object, query: Any) -> int:  # noqa: N802 - Windows' name
        """Opens, unless counters are switched off."""
        self.n_opened += 1
        query._obj.value = 1
        return 0xC0000BB8 if self._refuses else 0

    def PdhAddEnglishCounterW(self, query: object, path: str, data: object, counter: Any) -> int:  # noqa: N802
        """PDH_CSTATUS_NO_COUNTER for what this Windows does not have."""
        if path not in self._counters:
            return 0xC0000BB9
        self._paths.append(path)
        counter._obj.value = len(self._paths)
        return 0

    def PdhCollectQueryData(self, query: object) -> int:  # noqa: N802 - Windows' name
        """Counted."""
        self.n_collected += 1
        return 0

    def PdhCloseQuery(self, query: object) -> int:  # noqa: N802 - Windows' name
        """Counted."""
        self.n_closed += 1
        return 0

    def PdhGetFormattedCounterArrayW(self, counter: Any, form: int, size: Any, count: Any, buffer: Any) -> int:  # noqa: N802
        """First the size, then the items; with `grows_once` an instance comes in between."""
        status = self._give(self._counters[self._paths[counter.value - 1]], size, count, buffer)
        self.answers.append(status)
        return status

    def _give(self, values: Mapping[str, float], size: Any, count: Any, buffer: Any) -> int:
        names = [ctypes.create_unicode_buffer(name) for name in values]
        needed = len(values) * ctypes.sizeof(CounterItem) + sum(ctypes.sizeof(name) for name in names)
        if buffer is None and self._grows:
            self._grows, needed = False, needed - 8
        if buffer is None or size._obj.value < needed:
            size._obj.value = needed
            return MORE_ROOM
        items = (CounterItem * len(values)).from_buffer(buffer)
        at = len(values) * ctypes.sizeof(CounterItem)
        for item, name, value in zip(items, names, values.values(), strict=True):
            ctypes.memmove(ctypes.addressof(buffer) + at, name, ctypes.sizeof(name))
            item.name, item.value.status, item.value.value = ctypes.addressof(buffer) + at, 0, value
            at += ctypes.sizeof(name)
        count._obj.value = len(values)
        return 0
