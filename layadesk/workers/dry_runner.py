"""Asks a short-lived child what loads would take; answers are kept by file and parameters.

A process for each question, so that a hostile file ends nothing but its own price. Blocks for the fraction of a second
that llama.cpp needs for the metadata: call it on a thread that may wait.
"""

import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.worker_state import classify_exit
from layadesk.protocol.channel import Channel
from layadesk.protocol.dry_run import DeviceSeen, DevicesSeen, DryRunEvent, DryRunOptions, NotPriced, Priced
from layadesk.workers import spawn
from layadesk.workers.child_process import ChildProcess

log = logging.getLogger(__name__)

TIMEOUT_S = 30.0
N_KEPT = 512

Start = Callable[[DryRunOptions], ChildProcess]
Answer = Priced | NotPriced


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells a file from another one at the same place."""

    path: str
    size_bytes: int
    modified_ns: int

    @classmethod
    def of(cls, path: str) -> "FileIdentity | None":
        """None where there is no file."""
        try:
            status = os.stat(path)
        except OSError:
            return None
        return cls(path, status.st_size, status.st_mtime_ns)


class DryRunner:
    """Any thread; questions about one file at once are asked one after the other."""

    def __init__(self, log_dir: Path, *, start: Start = spawn.start_dry_run) -> None:
        self._log_dir = str(log_dir)
        self._start = start
        self._kept: OrderedDict[tuple[FileIdentity, LoadParams], Answer] = OrderedDict()
        self._devices: tuple[DeviceSeen, ...] = ()
        self._lock = threading.Lock()
        self._asking = threading.Lock()

    @property
    def devices(self) -> tuple[DeviceSeen, ...]:
        """What llama.cpp computes on, as seen with the last question; `free_bytes` is of that moment."""
        return self._devices

    def kept(self, path: str, params: LoadParams) -> Answer | None:
        """An answer that is known already; returns at once."""
        identity = FileIdentity.of(path)
        with self._lock:
            return None if identity is None else self._kept.get((identity, params))

    def price(self, path: str, wanted: Sequence[LoadParams]) -> tuple[Answer, ...]:
        """The answer for each of `wanted`; blocks. Never raises: what cannot be priced says why."""
        identity = FileIdentity.of(path)
        if identity is None:
            missing = ErrorReport(ErrorCode.MODEL_FILE_MISSING, {"path": path})
            return tuple(NotPriced(i, missing) for i in range(len(wanted)))
        with self._asking:
            with self._lock:
                unknown = [params for params in dict.fromkeys(wanted) if (identity, params) not in self._kept]
            if unknown:
                answers = self._ask(DryRunOptions(path, tuple(unknown), self._log_dir))
                self._keep(identity, unknown, answers)
            with self._lock:
                return tuple(self._kept[identity, params] for params in wanted)

    def load_in_earnest(self, path: str, params: LoadParams, *, timeout_s: float = 300.0) -> Answer:
        """Load it in a process of its own, decode once, measure, and let it go."""
        options = DryRunOptions(path, (params,), self._log_dir, is_real=True)
        return self._ask(options, timeout_s)[0]

    def look_at_devices(self) -> tuple[DeviceSeen, ...]:
        """What there is to compute on, seen now; blocks."""
        self._ask(DryRunOptions("", (), self._log_dir))
        return self._devices

    def _keep(self, identity: FileIdentity, asked: Sequence[LoadParams], answers: Sequence[Answer]) -> None:
        with self._lock:
            for params, answer in zip(asked, answers, strict=True):
                self._kept[identity, params] = answer
            while len(self._kept) > max(N_KEPT, len(asked)):
                self._kept.popitem(last=False)

    def _ask(self, options: DryRunOptions, timeout_s: float | None = None) -> tuple[Answer, ...]:
        try:
            child = self._start(options)
        except OSError as error:
            lost = ErrorReport(ErrorCode.MODEL_LOAD_FAILED, {"path": options.path, "detail": str(error)[:200]})
            return tuple(NotPriced(i, lost) for i in range(len(options.params)))
        answers: dict[int, Answer] = {}
        try:
            self._read(child, answers, deadline=time.monotonic() + (timeout_s or TIMEOUT_S))
            ending = partial(_why_silent, child, options.path)
            return tuple(answers[i] if i in answers else NotPriced(i, ending()) for i in range(len(options.params)))
        finally:
            child.end()

    def _read(self, child: ChildProcess, answers: dict[int, Answer], *, deadline: float) -> None:
        channel: Channel[object, DryRunEvent] = Channel(child.connection, DryRunEvent)
        try:
            while child.connection.poll(max(0.0, deadline - time.monotonic())):
                event = channel.receive()
                if isinstance(event, DevicesSeen):
                    self._devices = event.devices
                else:
                    answers[event.index] = event
        except (EOFError, OSError):
            pass
        except LayaDeskError as error:
            log.warning("the dry run said what is no answer: %s", error)


def _why_silent(child: ChildProcess, path: str) -> ErrorReport:
    code = child.wait_exit_code(1.0)
    ended = None if code is None else classify_exit(code, asked_to_stop=False)
    detail = "no answer in time" if ended is None else f"{ended.kind}: {ended.detail}"
    return ErrorReport(ErrorCode.MODEL_LOAD_FAILED, {"path": path, "detail": detail})
