"""What the children hold: `python -m tests.fakes.workers_modules DIR` starts them from a program that has Qt loaded.

Says as JSON on stdout, for each child, the modules of its room and what of a library it has mapped.
"""

import json
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.protocol.options import EngineOptions, RouterOptions
from layadesk.workers.child_process import ChildProcess
from layadesk.workers.spawn import spawn_child, start_engine, start_router


def tell_engine_modules(connection: "Connection[Any, Any]", _: None) -> None:
    """Target of a child that only imports the engine."""
    import layadesk.engine.main  # noqa: F401

    connection.send_bytes(json.dumps(sorted(sys.modules)).encode())


def tell_router_modules(connection: "Connection[Any, Any]", _: None) -> None:
    """Target of a child that only imports the router."""
    import layadesk.router.main  # noqa: F401

    connection.send_bytes(json.dumps(sorted(sys.modules)).encode())


def mapped(child: ChildProcess) -> list[str]:
    """The files a child has mapped, from its first word on."""
    child.connection.recv_bytes()
    maps = Path(f"/proc/{child.pid}/maps").read_text(encoding="utf-8").splitlines()
    child.connection.close()
    return sorted({Path(line.split(maxsplit=5)[5]).name for line in maps if "/" in line})


def main() -> None:
    """Ask both children both questions."""
    import PySide6.QtCore  # noqa: F401  # the program has a window; not above, since spawn runs that part again

    logs = str(Path(sys.argv[1]) / "logs")
    modules = [spawn_child(tell, None, name="layadesk-fake") for tell in (tell_engine_modules, tell_router_modules)]
    children = [start_engine(EngineOptions("scripted", logs, logs)), start_router(RouterOptions("none", logs))]
    print(
        json.dumps(
            {
                "engine": json.loads(modules[0].connection.recv_bytes()),
                "router": json.loads(modules[1].connection.recv_bytes()),
                "mapped": [mapped(child) for child in children],
                "app": sorted(sys.modules),
            }
        )
    )


if __name__ == "__main__":
    main()
