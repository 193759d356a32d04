"""Looks in the background whether the servers of remote experts are there; a route asks only what was found last."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.remote import RemoteExpert, RemoteState
from layadesk.protocol.feed import Feed
from layadesk.workers.remote_client import RemoteClient
from layadesk.workers.remote_loop import RemoteLoop

log = logging.getLogger(__name__)

_AWAY = (ErrorCode.REMOTE_UNREACHABLE, ErrorCode.REMOTE_TIMED_OUT, ErrorCode.REMOTE_KEY_REFUSED)


@dataclass(frozen=True, slots=True)
class WatchPace:
    """Seconds between looks at servers that are there, and at one that is not."""

    up_s: float = 60.0
    down_s: float = 15.0


class RemoteWatch:
    """Any thread; `changed` is published on the thread "remote-client" with the id of an expert."""

    def __init__(
        self,
        loop: RemoteLoop,
        client: RemoteClient,
        experts: Callable[[], Sequence[RemoteExpert]],
        pace: WatchPace | None = None,
    ) -> None:
        self._loop = loop
        self._client = client
        self._experts = experts
        self._pace = pace or WatchPace()
        self._lock = threading.Lock()
        self._states: Mapping[str, RemoteState] = {}
        self._wake: asyncio.Event | None = None
        self._is_running = False
        self.changed: Feed[str] = Feed()

    def start(self) -> None:
        """Look now, and from now on; does nothing while there are no remote experts."""
        if not self._experts():
            return
        with self._lock:
            is_first, self._is_running = not self._is_running, True
        if is_first:
            self._loop.run(self._run)
        else:
            self._loop.call(self._look_now)

    def state(self, model_id: str) -> RemoteState:
        """What was found last; returns at once."""
        return self._states.get(model_id, RemoteState())

    def note(self, model_id: str, error: ErrorReport | None) -> None:
        """What a request found out, which is newer than the last look. On the loop's thread."""
        known = self.state(model_id)
        if error is None:
            self._set(model_id, RemoteState(True, None, known.models))
        elif error.code in _AWAY:
            self._set(model_id, RemoteState(False, error, known.models))
            self._look_now()
        elif error.code is ErrorCode.REMOTE_CUT_OFF:
            self._look_now()

    def forget(self, model_id: str) -> None:
        """Its entry has changed: nobody has looked at that yet."""
        with self._lock:
            self._states = {name: state for name, state in self._states.items() if name != model_id}

    def _look_now(self) -> None:
        if self._wake is not None:
            self._wake.set()

    async def _run(self) -> None:
        self._wake = asyncio.Event()
        while True:
            self._wake.clear()
            experts = tuple(self._experts())
            await asyncio.gather(*(self._look(expert) for expert in experts))
            is_all_up = all(self.state(expert.model_id).is_up for expert in experts)
            try:
                async with asyncio.timeout(self._pace.up_s if is_all_up else self._pace.down_s):
                    await self._wake.wait()
            except TimeoutError:
                continue
            await asyncio.sleep(min(1.0, self._pace.down_s))  # one that fails at once is not asked without end

    async def _look(self, expert: RemoteExpert) -> None:
        try:
            state = await self._client.look(expert)
        except Exception:  # the watch goes on whatever one server does
            log.exception("a look at a server failed")
            return
        if expert in self._experts():  # it may have been changed or removed meanwhile
            self._set(expert.model_id, state)

    def _set(self, model_id: str, state: RemoteState) -> None:
        with self._lock:
            before = self._states.get(model_id)
            self._states = {**self._states, model_id: state}
        if before != state:
            self.changed.publish(model_id)
