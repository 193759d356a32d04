"""A whole small app to be killed: `python -m tests.fakes.workers_app DIR`.

Starts both children, says on stdout as JSON which processes there are, and then does nothing until it is killed.
"""

import functools
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil

from layadesk.domain.inference import PromptMessage, Role
from layadesk.domain.worker_state import WorkerState, WorkerStatus
from layadesk.protocol.commands import Generate
from layadesk.protocol.options import RouterOptions
from layadesk.workers.engine_client import EngineClient
from layadesk.workers.router_client import RouterClient
from layadesk.workers.spawn import start_router
from tests.fakes.workers_lab import Starts
from tests.fakes.workers_listener import Heard, RequestListener


def main() -> None:
    """Run until killed."""
    home = Path(sys.argv[1])
    engine = EngineClient(Starts(home), log_dir=home / "logs", run_dir=home / "run")
    router = RouterClient(
        functools.partial(start_router, RouterOptions("none", str(home / "logs"))),
        log_dir=home / "logs",
        run_dir=home / "run",
    )
    statuses: Heard[WorkerStatus] = Heard()
    for feed in (engine.status_feed, router.status_feed):
        feed.subscribe(statuses)
    engine.start()
    router.start()
    statuses.wait_until(lambda all_: len([one for one in all_ if one.state is WorkerState.READY]) == 2)
    stream = RequestListener("q1")
    engine.generate(Generate("q1", "endless", (PromptMessage(Role.USER, "hello"),)), stream)
    stream.wait_text()
    # A program that the app started, a browser say, lives on; it must hold nothing that keeps the children alive.
    bystander = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait(60)"])
    print(
        json.dumps(
            {
                "engine": engine.status.pid,
                "router": router.status.pid,
                "bystander": bystander.pid,
                "all": [child.pid for child in psutil.Process().children(recursive=True)],
            }
        ),
        flush=True,
    )
    threading.Event().wait(600)
    os._exit(1)


if __name__ == "__main__":
    main()
