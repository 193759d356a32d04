"""The server's thread: a socket, uvicorn, and an asyncio loop of its own."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any, Final

import uvicorn

from layadesk.api_server.application import Application
from layadesk.api_server.connection import MAX_HEAD_BYTES, PatientProtocol
from layadesk.api_server.gate import Gate
from layadesk.api_server.listening import BACKLOG, open_socket
from layadesk.domain.server import Listening, ServedRequest
from layadesk.usecases.answer_request import AnswerRequest
from layadesk.usecases.decide import Decide
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.serve import RunningServer

log = logging.getLogger(__name__)

MAX_CONNECTIONS: Final = 512
IDLE_S: Final = 30
STOP_S: Final = 2
_JOIN_S: Final = 10.0


def listen(
    plan: Listening,
    served: Callable[[ServedRequest], None],
    *,
    answers: AnswerRequest,
    pool: ExpertPool,
    decide: Decide,
) -> RunningServer:
    """Listen, on a thread "api" until it is stopped. `served` is called there. Raises as `open_socket`."""
    listener = open_socket(plan.host, plan.port)
    application = Application(answers, pool, decide)
    config = uvicorn.Config(
        Gate(application, plan, served),
        http=PatientProtocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level=logging.CRITICAL,  # its own words may quote a request
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=IDLE_S,
        timeout_graceful_shutdown=STOP_S,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
    )
    server = uvicorn.Server(config)

    async def serve() -> None:
        asyncio.get_running_loop().set_exception_handler(_complain)
        await server.serve(sockets=[listener])

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="api", daemon=True)
    thread.start()
    host, port = listener.getsockname()[:2]

    def stop() -> None:
        server.should_exit = True
        application.stop()
        thread.join(_JOIN_S)
        listener.close()
        log.info("the server has ended")

    log.info("the server listens on %s, port %d", host, port)
    return RunningServer(plan.host, port, stop)


def _complain(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What no request is to blame for; without its words, which may quote one."""
    log.error("the server's loop failed: %s", type(context.get("exception")).__name__)
