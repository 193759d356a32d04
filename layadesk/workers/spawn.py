"""The one door to the children: `multiprocessing` spawn with a duplex pipe.

Spawn everywhere, since fork would copy Qt, SQLite and threads. The children's rooms are imported only here and only in
the children: the app never holds them, and its window does not wait for them.
"""

import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from layadesk.domain.models import ExpertSpec
from layadesk.protocol.dry_run import DryRunOptions
from layadesk.protocol.options import EngineOptions, RouterOptions
from layadesk.workers.child_process import ChildProcess

OptionsT = TypeVar("OptionsT")

_one_at_a_time = threading.Lock()  # Process.start() walks a set of all children that belongs to no thread


def start_engine(options: EngineOptions) -> ChildProcess:
    """Start the engine process. Raises OSError when the system has no room for one more."""
    return spawn_child(_run_engine, options, name="layadesk-engine")


def start_router(options: RouterOptions) -> ChildProcess:
    """Start the router process. Raises OSError when the system has no room for one more."""
    return spawn_child(_run_router, options, name="layadesk-router")


def start_dry_run(options: DryRunOptions) -> ChildProcess:
    """Start a dry-run process, which answers and ends. Raises OSError when the system has no room for one more."""
    return spawn_child(_run_dry_run, options, name="layadesk-dry-run")


def start_raw_loop(spec: ExpertSpec) -> ChildProcess:
    """Start the raw decode loop that the bench compares the engine with."""
    return spawn_child(_run_raw_loop, spec, name="layadesk-raw-loop")


def start_moe_bench(spec: ExpertSpec) -> ChildProcess:
    """Start the process that measures what looking at gates costs."""
    return spawn_child(_run_moe_bench, spec, name="layadesk-moe-bench")


def start_llama_server(spec: ExpertSpec) -> ChildProcess:
    """Start llama.cpp's own server, for the same comparison."""
    return spawn_child(_run_llama_server, spec, name="layadesk-llama-server")


def spawn_child(
    target: "Callable[[Connection[Any, Any], OptionsT], None]", options: OptionsT, *, name: str
) -> ChildProcess:
    """Start `target(connection, options)` in a process of its own; both must be picklable."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=True)
    try:
        process = context.Process(target=target, args=(theirs, options), name=name, daemon=True)
        with _one_at_a_time:
            process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()  # or the end of the child would never read as EOF here
    assert process.pid is not None
    return ChildProcess(process, ours, process.pid)


def _run_engine(connection: "Connection[Any, Any]", options: EngineOptions) -> None:
    from layadesk.engine.main import run  # noqa: PLC0415  # in the child, see above

    run(connection, options)


def _run_router(connection: "Connection[Any, Any]", options: RouterOptions) -> None:
    from layadesk.router.main import run  # noqa: PLC0415  # in the child, see above

    run(connection, options)


def _run_dry_run(connection: "Connection[Any, Any]", options: DryRunOptions) -> None:
    from layadesk.engine.dry_run_main import run  # noqa: PLC0415  # in the child, see above

    run(connection, options)


def _run_raw_loop(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    from layadesk.engine.bench_processes import run_raw  # noqa: PLC0415  # in the child, see above

    run_raw(connection, spec)


def _run_moe_bench(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    from layadesk.engine.bench_moe import run_moe  # noqa: PLC0415  # in the child, see above

    run_moe(connection, spec)


def _run_llama_server(connection: "Connection[Any, Any]", spec: ExpertSpec) -> None:
    from layadesk.engine.bench_processes import run_server  # noqa: PLC0415  # in the child, see above

    run_server(connection, spec)
