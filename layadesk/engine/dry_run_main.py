"""The dry-run process: it answers one question and ends. Entered through `workers/spawn.py`.

No inbox, no supervisor: it lives for a second, and when the app is gone its next answer ends it.
"""

import contextlib
import logging
import os
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.domain.worker_state import EXIT_PYTHON_ERROR
from layadesk.engine.own_memory import private_bytes
from layadesk.protocol.channel import Channel
from layadesk.protocol.child import die_quickly
from layadesk.protocol.dry_run import DeviceSeen, DevicesSeen, DryRunEvent, DryRunOptions, NotPriced, Priced
from layadesk.protocol.native_log import redirect_native_output

log = logging.getLogger(__name__)

LOG_NAME = "dry-run-native.log"
NICENESS = 5  # an answer that is being made goes first

Say = Callable[[DryRunEvent], None]


def run(connection: "Connection[Any, Any]", options: DryRunOptions) -> None:
    """Say what there is to compute on, then the bill for each of the parameters; ends with 0, or by a signal."""
    die_quickly()
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    redirect_native_output(Path(options.log_dir) / LOG_NAME)
    channel: Channel[DryRunEvent, Any] = Channel(connection, Any)
    try:
        _answer(channel.send, options)
    except OSError:
        os._exit(0)  # nobody listens any more
    except Exception:
        log.exception("the dry run failed")
        os._exit(EXIT_PYTHON_ERROR)
    os._exit(0)  # nothing here is worth an orderly end


def _answer(say: Say, options: DryRunOptions) -> None:
    from layadesk.engine.llama_dry_run import DryRun  # noqa: PLC0415 - loads the shared library
    from layadesk.engine.llama_library import LlamaLibrary  # noqa: PLC0415

    library = LlamaLibrary()
    say(DevicesSeen(tuple(DeviceSeen(*seen) for seen in library.devices.seen())))
    if not options.params:
        return
    if options.is_real:
        _load_in_earnest(say, DryRun(library, options.path, allocates=True), options)
        return
    dry_run = DryRun(library, options.path)
    for index, params in enumerate(options.params):
        began = time.perf_counter()
        try:
            bill = dry_run.price(params)
        except LayaDeskError as error:
            say(NotPriced(index, error.report))
        else:
            say(Priced(index, bill, (time.perf_counter() - began) * 1000))


def _load_in_earnest(say: Say, dry_run: Any, options: DryRunOptions) -> None:
    began, before = time.perf_counter(), private_bytes()
    try:
        bill = dry_run.price(options.params[0])
        dry_run.fill()
    except LayaDeskError as error:
        say(NotPriced(0, error.report))
        return
    except MemoryError:
        say(NotPriced(0, ErrorReport(ErrorCode.OUT_OF_MEMORY, {"path": options.path, "detail": "MemoryError"})))
        return
    say(Priced(0, bill, (time.perf_counter() - began) * 1000, private_bytes() - before))
