"""The router process: one decision model, asked one request at a time."""

import logging
import os
from collections import deque
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.worker_state import WorkerKind
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import Cancel, Ping, RouterCommand, RouteText, Shutdown
from layadesk.protocol.events import Failed, RouteAnswered, RouterEvent, RouterReady
from layadesk.protocol.native_log import log_to_file, native_log_file, redirect_native_output
from layadesk.protocol.options import RouterOptions
from layadesk.router.decision_model import DecisionModel
from layadesk.router.no_opinion import NoOpinion

log = logging.getLogger(__name__)

_FLUSH_S = 1.0


def run(connection: "Connection[Any, Any]", options: RouterOptions) -> None:
    """The process's whole life, on its main thread; returns after Shutdown."""
    line: ChildLine[RouterCommand, RouterEvent] = ChildLine(connection, RouterCommand)
    line.start()
    log_dir = Path(options.log_dir)
    redirect_native_output(native_log_file(log_dir, WorkerKind.ROUTER))
    log_to_file(log_dir / "router.log")
    model = load_decision_model(options.router)
    line.send(RouterReady(PROTOCOL_VERSION, os.getpid(), model.router_id))
    serve(line, model)
    line.close(_FLUSH_S)


def load_decision_model(router: str) -> DecisionModel:
    """The decision model of that name. Raises BAD_PARAMETER for one that does not exist."""
    if router == NoOpinion.router_id:
        return NoOpinion()
    raise fail(ErrorCode.BAD_PARAMETER, parameter="router", value=router)


def serve(line: ChildLine[RouterCommand, RouterEvent], model: DecisionModel) -> None:
    """Answer until Shutdown. What was cancelled before its turn is not answered."""
    waiting: deque[RouteText] = deque()
    line.set_phase("idle", 0)
    while True:
        while not waiting or not line.inbox.empty():
            command = line.inbox.get()
            match command:
                case RouteText():
                    waiting.append(command)
                case Cancel(request_id):
                    waiting = deque(one for one in waiting if one.request_id != request_id)
                case Shutdown():
                    return
                case Ping():  # the inbox thread has answered it
                    pass
        line.send(_answer(model, waiting.popleft()))


def _answer(model: DecisionModel, question: RouteText) -> RouterEvent:
    try:
        return RouteAnswered(question.request_id, model.answer(question.text, question.history))
    except Exception as error:  # noqa: BLE001  # one it cannot read must not take the router away from the others
        # The error's own words may quote the request, and logs never do.
        log.warning("request %s was not routed: %s", question.request_id, type(error).__name__)
        report = ErrorReport(ErrorCode.INTERNAL, {"reason": "router", "detail": type(error).__name__})
        return Failed(question.request_id, report)
