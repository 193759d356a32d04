"""The requests that have not ended: the one place that knows who is still owed a terminal event."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from layadesk.domain.errors import ErrorReport
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import Failed, Finished, PromptBuilt, RequestEvent

log = logging.getLogger(__name__)


@dataclass(slots=True)
class OpenRequest:
    """One request and who listens.

    `is_sent` once it was given to a child; until then it outlives the child's death. `has_prompt` once the child
    computes for it.
    """

    request: Generate
    on_event: Callable[[RequestEvent], None]
    is_sent: bool = False
    has_prompt: bool = False


class OpenRequests:
    """Owned by the client thread. Every request that is added gets exactly one terminal event, and nothing after it."""

    def __init__(self) -> None:
        self._open: dict[str, OpenRequest] = {}

    def add(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> OpenRequest | None:
        """Open one; None when there is one of that id already."""
        if request.request_id in self._open:
            return None
        opened = OpenRequest(request, on_event)
        self._open[request.request_id] = opened
        return opened

    def get(self, request_id: str) -> OpenRequest | None:
        """The open request of that id."""
        return self._open.get(request_id)

    def __iter__(self) -> Iterator[OpenRequest]:
        """All that are open now, oldest first; they may end meanwhile."""
        return iter(list(self._open.values()))

    def only_beginner(self) -> tuple[str, ...]:
        """The one expert that all requests wait for, if there is just one and nothing is computed for any of them."""
        models = {opened.request.model_id for opened in self if opened.is_sent}
        is_computing = any(opened.has_prompt for opened in self)
        return tuple(models) if len(models) == 1 and not is_computing else ()

    def deliver(self, event: RequestEvent) -> None:
        """Hand an event to its listener. Silent for ids that are unknown or have ended."""
        opened = self._open.get(event.request_id or "")
        if opened is None:
            return
        if isinstance(event, PromptBuilt):
            opened.has_prompt = True
        elif isinstance(event, Finished | Failed):
            del self._open[opened.request.request_id]
        deliver_to(opened.on_event, event)

    def fail(self, request_id: str, error: ErrorReport) -> None:
        """End one."""
        self.deliver(Failed(request_id, error))


def deliver_to(on_event: Callable[[RequestEvent], None], event: RequestEvent) -> None:
    """Call a listener; one that raises is logged and harms nobody else."""
    try:
        on_event(event)
    except Exception:
        log.exception("a listener failed at %s of request %s", type(event).__name__, event.request_id)
