"""The router process: one decision model, asked one request at a time."""

import logging
import os
from collections import deque
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.worker_state import WorkerKind
from layadesk.protocol import PROTOCOL_VERSION
from layadesk.protocol.child import ChildLine
from layadesk.protocol.commands import Cancel, Decide, Ping, RouterCommand, RouteText, Shutdown
from layadesk.protocol.events import Decided, Failed, RouteAnswered, RouterEvent, RouterReady
from layadesk.protocol.native_log import log_to_file, native_log_file, redirect_native_output
from layadesk.protocol.options import RouterOptions
from layadesk.router.bundled import BUNDLED, BundledRouter
from layadesk.router.calibration import NOTHING_LEARNED
from layadesk.router.decision_model import DecisionModel
from layadesk.router.laya_model import LAYA, LayaModel, prepare_environment
from layadesk.router.learned_file import read_learned
from layadesk.router.no_opinion import NoOpinion
from layadesk.router.standing_in import StandingIn

log = logging.getLogger(__name__)

_FLUSH_S = 1.0


def run(connection: "Connection[Any, Any]", options: RouterOptions) -> None:
    """The process's whole life, on its main thread; returns after Shutdown."""
    line: ChildLine[RouterCommand, RouterEvent] = ChildLine(connection, RouterCommand)
    line.start()
    log_dir = Path(options.log_dir)
    redirect_native_output(native_log_file(log_dir, WorkerKind.ROUTER))
    log_to_file(log_dir / "router.log")
    model = load_decision_model(options)
    line.send(RouterReady(PROTOCOL_VERSION, os.getpid(), model.router_id))
    serve(line, model)
    line.close(_FLUSH_S)


def load_decision_model(options: RouterOptions) -> DecisionModel:
    """The decision model that is asked for, or what stands in for one that cannot be loaded; its answers say so.

    Raises ROUTER_UNKNOWN for a name that means nothing.
    """
    if options.router == NoOpinion.router_id:
        return NoOpinion()
    if options.router.startswith(LAYA) and len(options.router) > len(LAYA):
        prepare_environment(use_gpu=options.use_gpu)
        directory = Path(options.router.removeprefix(LAYA))
        load = partial(_load_laya, directory, use_gpu=options.use_gpu)
        return StandingIn(options.router, load, _bundled(options), deadline_ms=options.deadline_ms)
    if options.router != BUNDLED:
        raise fail(ErrorCode.ROUTER_UNKNOWN, router=options.router)
    return _bundled(options)


def _load_laya(directory: Path, *, use_gpu: bool) -> LayaModel:
    try:
        return LayaModel(directory, use_gpu=use_gpu)
    except Exception as error:
        log.warning("Laya cannot be loaded, the bundled router stands in: %s", error)
        raise


def _bundled(options: RouterOptions) -> DecisionModel:
    learned = read_learned(Path(options.learned_file)) if options.learned_file else NOTHING_LEARNED
    try:
        return BundledRouter(Path(options.assets_dir), learned)
    except LayaDeskError as error:
        log.error("the bundled router cannot be loaded: %s", error)  # noqa: TRY400  # its place is no news
        return NoOpinion(wanted=BUNDLED, lack=str(error.code))


def serve(line: ChildLine[RouterCommand, RouterEvent], model: DecisionModel) -> None:
    """Answer until Shutdown. What was cancelled before its turn is not answered."""
    waiting: deque[RouteText | Decide] = deque()
    line.set_phase("idle", 0)
    while True:
        while not waiting or not line.inbox.empty():
            command = line.inbox.get()
            match command:
                case RouteText() | Decide():
                    waiting.append(command)
                case Cancel(request_id):
                    waiting = deque(one for one in waiting if one.request_id != request_id)
                case Shutdown():
                    return
                case Ping():  # the inbox thread has answered it
                    pass
        line.send(_answer(model, waiting.popleft()))


def _answer(model: DecisionModel, question: RouteText | Decide) -> RouterEvent:
    try:
        if isinstance(question, Decide):
            return _decide(model, question)
        return RouteAnswered(question.request_id, model.answer(question.text, question.history))
    except Exception as error:  # noqa: BLE001  # one it cannot read must not take the router away from the others
        # The error's own words may quote the request, and logs never do.
        log.warning("request %s was not routed: %s", question.request_id, type(error).__name__)
        report = ErrorReport(ErrorCode.INTERNAL, {"reason": "router", "detail": type(error).__name__})
        return Failed(question.request_id, report)


def _decide(model: DecisionModel, question: Decide) -> RouterEvent:
    """Only Laya answers questions that nobody has foreseen."""
    try:
        if not isinstance(model, StandingIn):
            raise fail(ErrorCode.ROUTER_MODEL_MISSING)
        return Decided(question.request_id, model.decide(question.state, question.questions))
    except LayaDeskError as refusal:
        return Failed(question.request_id, refusal.report)
