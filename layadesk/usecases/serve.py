"""Switch the HTTP server on and off, and watch what it is asked; for the window and `layadesk serve` alike."""

import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.server import KeyHash, Listening, ServedRequest, ServerState, ServerStatus, is_loopback
from layadesk.protocol.feed import Feed
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.usecases.server_key import ServerKey

log = logging.getLogger(__name__)

N_KEPT_REQUESTS = 500


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that listens. `stop` blocks until its answers have ended, a few seconds at most."""

    host: str
    port: int
    stop: Callable[[], None]


Listen = Callable[[Listening, Callable[[ServedRequest], None]], RunningServer]


class Serve:
    """Any thread. `start`, `stop` and what uses them block; a window calls `switch`.

    `status_feed` tells of every change, `log_feed` of every request that has ended (on the server's thread, which must
    not be blocked). A key that was made is asked for from then on, also on this machine, until it is forgotten.
    """

    def __init__(self, settings: Settings, key: ServerKey, listen: Listen) -> None:
        self.status_feed: Feed[ServerStatus] = Feed()
        self.log_feed: Feed[ServedRequest] = Feed()
        self._settings = settings
        self._key = key
        self._listen = listen
        self._lock = threading.RLock()  # of starting and stopping
        self._running: RunningServer | None = None
        self._requests: deque[ServedRequest] = deque(maxlen=N_KEPT_REQUESTS)
        self._executor = ThreadPoolExecutor(1, "serve-switch")
        self._status = ServerStatus(ServerState.OFF, settings.get(definitions.SERVER_HOST), self._wanted_port)

    @property
    def status(self) -> ServerStatus:
        """Where it stands now."""
        return self._status

    @property
    def key(self) -> KeyHash | None:
        """What is known of the key in use; None where none is asked for."""
        return self._key.read()

    def requests(self) -> tuple[ServedRequest, ...]:
        """The last requests, the newest last."""
        return tuple(self._requests)

    def switch(self, *, on: bool) -> "Future[ServerStatus]":
        """As `start` and `stop`, in the background; what is in the way is in the status. Remembered for next time."""
        self._settings.set(definitions.SERVER_ENABLED, on)
        return self._executor.submit(self._switch, on=on)

    def start_if_wanted(self) -> None:
        """At the start of the window: switched on last time is on again."""
        if self._settings.get(definitions.SERVER_ENABLED):
            self._executor.submit(self._switch, on=True)

    def start(self, *, host: str | None = None, port: int | None = None) -> ServerStatus:
        """Listen, at the address of the settings unless told otherwise. Nothing happens when it does already.

        Raises PORT_IN_USE, ADDRESS_UNAVAILABLE, API_KEY_NEEDED.
        """
        with self._lock:
            if self._running is not None:
                return self._status
            host = self._settings.get(definitions.SERVER_HOST) if host is None else host
            port = self._wanted_port if port is None else port
            self._tell(ServerStatus(ServerState.STARTING, host, port))
            try:
                self._running = self._listen(self._plan(host, port), self._served)
            except LayaDeskError as error:
                self._tell(ServerStatus(ServerState.FAILED, host, port, error.report))
                raise
            self._tell(ServerStatus(ServerState.ON, self._running.host, self._running.port))
            return self._status

    def start_with_key(self, *, host: str | None = None, port: int | None = None) -> str:
        """As `start`, with a new key, which is given back; where that fails no key has changed."""
        with self._lock, self._key.as_before_on_failure():
            key = self._key.make()
            self.start(host=host, port=port)
            return key

    def start_without_key(self, *, host: str | None = None, port: int | None = None) -> None:
        """As `start`, and no key is asked for any more; where that fails the key is as before."""
        with self._lock, self._key.as_before_on_failure():
            self._key.forget()
            self.start(host=host, port=port)

    def stop(self) -> None:
        """End it; open answers are cancelled."""
        with self._lock:
            running, self._running = self._running, None
            if running is not None:
                running.stop()
            if self._status.state is not ServerState.OFF:
                self._tell(ServerStatus(ServerState.OFF, self._status.host, self._status.port))

    def new_key(self) -> str:
        """Make a key and ask for it from now on; shown here, and never again. Raises DISK_FULL, DISK_ERROR."""
        key = self._key.make()
        self._restart()
        return key

    def forget_key(self) -> None:
        """Ask for no key any more; a server that others can reach is ended by that."""
        self._key.forget()
        self._restart()

    def make_key(self) -> "Future[str]":
        """As `new_key`, in the background."""
        return self._executor.submit(self.new_key)

    def drop_key(self) -> "Future[KeyHash | None]":
        """As `forget_key`, in the background; what is asked for then."""
        self._executor.submit(self.forget_key)
        return self.look_at_key()

    def look_at_key(self) -> "Future[KeyHash | None]":
        """As `key`, in the background."""
        return self._executor.submit(self._key.read)

    def close(self) -> None:
        """With the program."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.stop()

    @property
    def _wanted_port(self) -> int:
        return self._settings.get(definitions.SERVER_PORT)

    def _plan(self, host: str, port: int) -> Listening:
        key = self._key.read()
        if key is None and not is_loopback(host):
            raise fail(ErrorCode.API_KEY_NEEDED, host=host)
        origins = self._settings.get(definitions.SERVER_ORIGINS).replace(",", " ").split()
        return Listening(host, port, key, tuple(origins))

    def _switch(self, *, on: bool) -> ServerStatus:
        try:
            if on:
                return self.start()
            self.stop()
        except LayaDeskError as error:
            log.info("the server was not started: %s", error.code)
        return self._status

    def _restart(self) -> None:
        with self._lock:
            if self._running is None:
                return
            host, port = self._running.host, self._running.port
            self.stop()
            try:
                self.start(host=host, port=port)
            except LayaDeskError as error:
                log.info("the server was not started again: %s", error.code)

    def _served(self, request: ServedRequest) -> None:
        self._requests.append(request)
        self.log_feed.publish(request)

    def _tell(self, status: ServerStatus) -> None:
        self._status = status
        self.status_feed.publish(status)
