"""A server that listens to nobody, for tests of the window."""

from concurrent.futures import Future
from typing import TYPE_CHECKING

from layadesk.domain.errors import ErrorReport
from layadesk.domain.server import KeyHash, ServedRequest, ServerState, ServerStatus
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings

if TYPE_CHECKING:
    from tests.fakes.usecases import Lane


class FakeServe:
    """`error` is why it cannot be switched on; `serve` is a request of another program."""

    def __init__(self, lane: "Lane", settings: Settings) -> None:
        self._lane = lane
        self._settings = settings
        self.status_feed: Feed[ServerStatus] = Feed()
        self.log_feed: Feed[ServedRequest] = Feed()
        self.status = ServerStatus(ServerState.OFF, "127.0.0.1", 8000)
        self.error: ErrorReport | None = None
        self.key: KeyHash | None = None
        self._served: list[ServedRequest] = []

    def requests(self) -> tuple[ServedRequest, ...]:
        return tuple(self._served)

    def serve(self, request: ServedRequest) -> None:
        self._served.append(request)
        self.log_feed.publish(request)

    def switch(self, *, on: bool) -> Future[ServerStatus]:
        return self._lane.run(lambda: self._switch(on))

    def make_key(self) -> Future[str]:
        def make() -> str:
            self.key = KeyHash(b"salt", b"digest", "wxyz")
            return "ld-very-secret-wxyz"

        return self._lane.run(make)

    def drop_key(self) -> Future[KeyHash | None]:
        return self._lane.run(self._drop)

    def look_at_key(self) -> Future[KeyHash | None]:
        return self._lane.run(lambda: self.key)

    def _drop(self) -> None:
        self.key = None

    def _switch(self, on: bool) -> ServerStatus:
        port = self._settings.get(definitions.SERVER_PORT)
        state = ServerState.OFF if not on else ServerState.ON if self.error is None else ServerState.FAILED
        error = self.error if state is ServerState.FAILED else None
        self.status = ServerStatus(state, "127.0.0.1", port, error)
        self.status_feed.publish(self.status)
        return self.status
