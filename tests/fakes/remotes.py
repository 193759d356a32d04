"""Remote experts without a network, for tests of the window: the same calls, answered on another thread."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.remote import EndpointTest, RemoteExpert, RemoteState, checked_url
from layadesk.protocol.feed import Feed
from layadesk.settings.key_store import KeyPlace
from layadesk.usecases.remote_experts import RemoteEntry, Removed, Saved

if TYPE_CHECKING:
    from tests.fakes.usecases import Lane

ResultT = TypeVar("ResultT")
BIG = RemoteExpert("remote:big", "Big", "https://api.example.com/v1", "big-70b", 32768)
DOWN = RemoteState(False, ErrorReport(ErrorCode.REMOTE_UNREACHABLE, {"host": BIG.host, "expert": BIG.model_id}))


class FakeRemotes:
    """Entries in memory; `states` and `found` are what a test says of the servers."""

    def __init__(self, lane: "Lane") -> None:
        self._lane = lane
        self.changed: Feed[None] = Feed()
        self.entries: dict[str, RemoteExpert] = {}
        self.keys: dict[str, str] = {}
        self.states: dict[str, RemoteState] = {}
        self.found = EndpointTest(RemoteState(True, None, ("big-70b", "small")), True, "OK", 420.0)
        self.tested: list[tuple[RemoteEntry, str | None]] = []

    def have(self, *experts: RemoteExpert) -> None:
        """These are there from now on."""
        self.entries |= {one.model_id: one for one in experts}
        self.changed.publish(None)

    def list(self) -> tuple[RemoteExpert, ...]:
        return tuple(self.entries.values())

    def find(self, model_id: str) -> RemoteExpert | None:
        return self.entries.get(model_id)

    def state(self, model_id: str) -> RemoteState:
        return self.states.get(model_id, RemoteState())

    def add(self, entry: RemoteEntry, key: str = "") -> Future[Saved]:
        return self._changing(lambda: self._save(f"remote:{entry.name or entry.model}", entry, key))

    def change(self, model_id: str, entry: RemoteEntry, key: str | None = None) -> Future[Saved]:
        return self._changing(lambda: self._save(model_id, entry, key))

    def remove(self, model_id: str) -> Future[Removed]:
        return self._changing(lambda: Removed(self.entries.pop(model_id), self.keys.pop(model_id, None)))

    def restore(self, removed: Removed) -> Future[None]:
        def restore() -> None:
            self.entries[removed.expert.model_id] = removed.expert
            if removed.key:
                self.keys[removed.expert.model_id] = removed.key

        return self._changing(restore)

    def test(self, entry: RemoteEntry, key: str | None = None, *, model_id: str | None = None) -> Future[EndpointTest]:
        checked_url(entry.base_url)
        self.tested.append((entry, key))
        return self._lane.run(lambda: self.found)

    def _save(self, model_id: str, entry: RemoteEntry, key: str | None) -> Saved:
        if not entry.model:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="model", value="")
        url = checked_url(entry.base_url)
        expert = RemoteExpert(model_id, entry.name or entry.model, url, entry.model, entry.n_ctx, entry.strengths)
        self.entries[model_id] = expert
        if key:
            self.keys[model_id] = key
        return Saved(expert, KeyPlace.KEYRING if key else None)

    def _changing(self, call: Callable[[], ResultT]) -> Future[ResultT]:
        def change() -> ResultT:
            result = call()
            self.changed.publish(None)
            return result

        return self._lane.run(change)
