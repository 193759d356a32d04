"""Windows' performance counters through pdh.dll, by ctypes: English names on any Windows, the query kept open.

A first call takes 0.2 s, every other 0.1 ms or less. Layouts are tested everywhere; the calls run on Windows only.
"""

import ctypes
import logging
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)

MORE_ROOM = 0x800007D2  # PDH_MORE_DATA
FORMAT = 0x200 | 0x8000  # PDH_FMT_DOUBLE | PDH_FMT_NOCAP100
_VALID = (0, 1)  # PDH_CSTATUS_VALID_DATA, PDH_CSTATUS_NEW_DATA
_TRIES = 3


class CounterValue(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE with its union read as a double."""

    _fields_ = [("status", ctypes.c_uint32), ("value", ctypes.c_double)]


class CounterItem(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W; `name` points into the same buffer."""

    _fields_ = [("name", ctypes.c_void_p), ("value", CounterValue)]


class PdhQuery:
    """Some counters that are collected together. One thread."""

    def __init__(self, counters: Mapping[str, str], library: Any = None) -> None:
        r"""`counters` maps our name to a path such as `\GPU Engine(*)\Utilization Percentage`.

        `library` has the functions of pdh.dll. A counter that does not exist on this Windows is left out.
        """
        self._library: Any = library if library is not None else ctypes.CDLL("pdh.dll")
        self._paths = dict(counters)
        self._query: ctypes.c_void_p | None = None
        self._counters: dict[str, ctypes.c_void_p] = {}

    def collect(self) -> dict[str, dict[str, float]]:
        """Per counter the value of each instance. Rates are missing in the first call."""
        if self._query is None:
            self._open()
        if self._query is None or self._library.PdhCollectQueryData(self._query):
            return {}
        return {name: self._values(counter) for name, counter in self._counters.items()}

    def close(self) -> None:
        """End the query; the next `collect` opens it anew."""
        query, self._query, self._counters = self._query, None, {}
        if query is not None:
            self._library.PdhCloseQuery(query)

    def _open(self) -> None:
        query = ctypes.c_void_p()
        status = self._library.PdhOpenQueryW(None, ctypes.c_void_p(0), ctypes.byref(query))
        if status:
            log.info("performance counters are not available: 0x%08X", status & 0xFFFFFFFF)
            return
        self._query = query
        for name, path in self._paths.items():
            counter = ctypes.c_void_p()
            status = self._library.PdhAddEnglishCounterW(query, path, ctypes.c_void_p(0), ctypes.byref(counter))
            if status:
                log.info("no performance counter %s: 0x%08X", path, status & 0xFFFFFFFF)
            else:
                self._counters[name] = counter

    def _values(self, counter: ctypes.c_void_p) -> dict[str, float]:
        """Asked twice: for the size, and for the items; again when instances came in between."""
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        ask = self._library.PdhGetFormattedCounterArrayW
        buffer: Any = None
        for _ in range(_TRIES):
            status = ask(counter, FORMAT, ctypes.byref(size), ctypes.byref(count), buffer)
            if not status:
                break
            if status & 0xFFFFFFFF != MORE_ROOM:
                return {}
            buffer = ctypes.create_string_buffer(size.value)
        else:
            return {}
        if buffer is None or not count.value:
            return {}
        items = ctypes.cast(buffer, ctypes.POINTER(CounterItem * count.value)).contents
        return {ctypes.wstring_at(item.name): float(item.value.value) for item in items if item.value.status in _VALID}
