"""The engine process: its whole life, from the spawn to its last word. Entered through `workers/spawn.py`."""

import logging
import os
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.worker_state import EXIT_BAD_BUILD, EXIT_PYTHON_ERROR, WorkerKind
from layadesk.engine.backend import Backend
from layadesk.engine.loop import EngineLoop, LoopMessage
from layadesk.engine.scripted_backend import ScriptedBackend, act_out
from layadesk.engine.self_test import run_self_test
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import EngineCommand
from layadesk.protocol.events import EngineEvent, EngineReady
from layadesk.protocol.native_log import (
    SELF_TEST_BEGIN,
    SELF_TEST_LACKS,
    SELF_TEST_OK,
    log_to_file,
    native_log_file,
    redirect_native_output,
)
from layadesk.protocol.options import EngineOptions

log = logging.getLogger(__name__)

FLUSH_S = 1.0
_BAD_BUILDS = frozenset({ErrorCode.ENGINE_BAD_BUILD, ErrorCode.ENGINE_CPU_TOO_OLD})


def run(connection: "Connection[Any, Any]", options: EngineOptions) -> None:
    """Serve the app until Shutdown; returns then, and the process ends with 0.

    It ends at once when the app is gone, with EXIT_BAD_BUILD when the self-test fails in words, by a signal when native
    code dies (between the two self-test lines of the native log: a bad build too), else with EXIT_PYTHON_ERROR.
    """
    line: ChildLine[LoopMessage, EngineEvent] = ChildLine(connection, EngineCommand)
    line.start()  # first of all: from here on the app's death is seen
    threading.current_thread().name = "decode"
    log_dir = Path(options.log_dir)
    redirect_native_output(native_log_file(log_dir, WorkerKind.ENGINE))
    log_to_file(log_dir / "engine.log")
    try:
        is_quiet = _serve(line, options)
    except LayaDeskError as failure:
        log.critical("the engine cannot start: %s", failure)
        if failure.code is ErrorCode.ENGINE_CPU_TOO_OLD:
            print(f"{SELF_TEST_LACKS}{failure.facts['detail']}", file=sys.stderr, flush=True)  # noqa: T201
        _leave(EXIT_BAD_BUILD if failure.code in _BAD_BUILDS else EXIT_PYTHON_ERROR)
    except Exception:
        log.critical("the engine failed", exc_info=True)
        line.flush(FLUSH_S)  # what was said before is worth keeping
        _leave(EXIT_PYTHON_ERROR)
    line.close(FLUSH_S)
    if not is_quiet:
        _leave(0)  # a thread sits in native code; unloading the library under it would be a crash


def _serve(line: ChildLine[LoopMessage, EngineEvent], options: EngineOptions) -> bool:
    backend, self_test_ms = _open_backend(options)
    ready = EngineReady(
        protocol_version=PROTOCOL_VERSION,
        pid=os.getpid(),
        backend=backend.name,
        devices=backend.devices,
        modules=backend.modules,
        supports_gpu_offload=backend.supports_gpu_offload,
        self_test_ms=self_test_ms,
    )
    log.info("engine ready: %s", ready)
    line.set_phase("idle", 0)
    line.send(ready)
    loop = EngineLoop(
        backend,
        line.inbox,
        line.send,
        set_phase=line.set_phase,
        before_load=lambda: line.flush(FLUSH_S),
        cells_dir=Path(options.cache_dir) / "cells",
    )
    return loop.run()


def _open_backend(options: EngineOptions) -> tuple[Backend, float]:
    """The backend and the milliseconds of its self-test, 0 where there is no native code to test."""
    if options.backend == ScriptedBackend.name:
        if options.scripted is not None and options.scripted.at_start is not None:
            act_out(options.scripted.at_start)
        return ScriptedBackend(options.scripted), 0.0
    if options.backend != "llama":
        raise fail(ErrorCode.BAD_PARAMETER, parameter="backend", value=options.backend)
    print(SELF_TEST_BEGIN, file=sys.stderr, flush=True)  # noqa: T201  # the native log, see native_log.py
    backend = _open_llama()
    self_test_ms = run_self_test(backend, Path(options.cache_dir))
    print(SELF_TEST_OK, file=sys.stderr, flush=True)  # noqa: T201  # the native log
    return backend, self_test_ms


def _open_llama() -> Backend:
    try:
        # Here, because it loads the shared library, which the scripted engine must do without.
        from layadesk.engine.llama_backend import LlamaBackend  # noqa: PLC0415

        return LlamaBackend()
    except (ImportError, OSError, RuntimeError, AttributeError) as error:  # what loading a broken library raises
        log.exception("llama.cpp cannot be loaded")
        raise fail(ErrorCode.ENGINE_BAD_BUILD, detail=str(error)[:300]) from error


def _leave(exit_code: int) -> None:
    """End the process without waiting for any thread."""
    logging.shutdown()
    os._exit(exit_code)
