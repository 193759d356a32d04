"""Typed decisions (choice, score, noul) by the installed Laya checkpoint, in Jev's wire format."""

import uuid
from concurrent.futures import Future

from layadesk.domain.errors import from_report
from layadesk.protocol.commands import Decide as DecideCommand
from layadesk.protocol.events import Decided, Failed
from layadesk.workers.router_client import RouterClient


class Decide:
    """Any thread; returns at once."""

    def __init__(self, router: RouterClient) -> None:
        self._router = router

    def __call__(self, state: str, questions: str) -> "Future[str]":
        """The answers, JSON text in and out. Fails with ROUTER_MODEL_MISSING, ROUTER_AWAY, BAD_PARAMETER."""
        future: Future[str] = Future()

        def on_end(event: Decided | Failed) -> None:
            if not future.set_running_or_notify_cancel():
                return
            if isinstance(event, Decided):
                future.set_result(event.answer)
            else:
                future.set_exception(from_report(event.error))

        self._router.decide(DecideCommand(uuid.uuid4().hex, state, questions), on_end)
        return future
