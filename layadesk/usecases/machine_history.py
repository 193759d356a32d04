"""What the machine did before this run: a row a minute in the store, read back as the coarse past of the curves."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

from layadesk.domain.hardware import HardwareSample
from layadesk.domain.machine_minutes import MINUTE_S, MachineMinute, minute_of, roll_up
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store

SHOWN_MINUTES: Final = 31
_EDGE_S: Final = 0.001  # from the end of one minute to the beginning of the next, or of a gap


class MachineHistory:
    """Takes samples on the telemetry thread and hands the store a minute when it is over; `past` from any thread."""

    def __init__(
        self,
        samples: Feed[HardwareSample],
        store: Store,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._clock = clock
        self._wall = wall
        self._began_at = clock()
        self._lock = threading.Lock()
        self._current: list[HardwareSample] = []
        self._unsubscribe = samples.subscribe(self._take)

    def past(self) -> Future[tuple[HardwareSample, ...]]:
        """The last half hour before this run, on this run's monotonic clock, oldest first.

        Two equal samples a minute, at its beginning and its end, so that it is drawn as a step; one without figures
        where nothing is known, and at the end. Empty without a past. Fails as the store's reads do.
        """
        minute = int(self._wall() // MINUTE_S)
        future: Future[tuple[HardwareSample, ...]] = Future()

        def told(minutes: Future[tuple[MachineMinute, ...]]) -> None:
            try:
                future.set_result(tuple(self._steps(minutes.result())))
            except Exception as error:  # noqa: BLE001 - it is the reader's
                future.set_exception(error)

        self._store.machine_minutes(since=minute - SHOWN_MINUTES, until=minute).add_done_callback(told)
        return future

    def close(self) -> None:
        """Keep the minute that is not over, and take no more. Call it before the store is closed."""
        self._unsubscribe()
        with self._lock:
            self._save()

    def _take(self, sample: HardwareSample) -> None:
        if sample.wall_at <= 0.0 or sample.ram_total_bytes is None:
            return  # a break in the curve
        with self._lock:
            if self._current and minute_of(self._current[0]) != minute_of(sample):
                self._save()
            self._current.append(sample)

    def _save(self) -> None:
        if self._current:
            self._store.save_machine_minute(roll_up(self._current))
            self._current = []

    def _steps(self, minutes: Iterable[MachineMinute]) -> Iterator[HardwareSample]:
        offset = self._clock() - self._wall()
        end: float | None = None
        for one in minutes:
            begin = one.minute * MINUTE_S + offset
            if begin >= self._began_at - _EDGE_S:
                break
            if end is not None and begin - end > 2 * _EDGE_S:
                yield HardwareSample(end)
            end = min(begin + MINUTE_S, self._began_at) - _EDGE_S
            yield replace(one.figures, taken_at=begin)
            yield replace(one.figures, taken_at=end - _EDGE_S)
        if end is not None:
            yield HardwareSample(end)
