"""The experts that run elsewhere: enter, change, test and remove them, and what the pool has to know of them."""

import re
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact, fail
from layadesk.domain.inference import PromptMessage, Role, SamplingParams
from layadesk.domain.remote import EndpointTest, RemoteExpert, RemoteState, checked_url, origin_of
from layadesk.domain.routing import OutReason, PoolExpert
from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import Strengths, guess_remote
from layadesk.model_library.expert_table import ExpertTable, strengths_from
from layadesk.model_library.remote_list import MAX_NAME, N_CTX_LEAST, RemoteList
from layadesk.protocol.commands import Generate
from layadesk.protocol.feed import Feed
from layadesk.settings.key_store import KeyPlace, KeyStore
from layadesk.usecases.futures import flatten, then
from layadesk.workers.remote_client import RemoteClient
from layadesk.workers.remote_loop import RemoteLoop
from layadesk.workers.remote_timing import RemoteTiming
from layadesk.workers.remote_watch import RemoteWatch, WatchPace

_PROBE: Final = "Say: OK"
_SURE: Final = 0.9
_OTHERWISE: Final = 0.4


@dataclass(frozen=True, slots=True)
class RemoteEntry:
    """What a user enters. `name` empty: the model's; `strengths` None: guessed from the names."""

    base_url: str
    model: str
    name: str = ""
    n_ctx: int | None = None
    strengths: Strengths | None = None


def strengths_of(good_at: str, languages: str, cost: float | None) -> Strengths | None:
    """What a user says of an expert in words, separated by commas; None leaves all to a guess by its name.

    Raises BAD_PARAMETER for a task that is none.
    """
    tasks, spoken = _words(good_at), _words(languages)
    if not (tasks or spoken or cost is not None):
        return None
    raw: dict[str, Any] = {"languages": spoken, "effort_ceiling": Effort.HEAVY.value}
    if tasks:
        raw |= {"tasks": dict.fromkeys(tasks, _SURE), "otherwise": _OTHERWISE}
    if cost is not None:
        raw |= {"cost": cost}
    try:
        return strengths_from(raw)
    except ValueError as error:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="good at", value=good_at, detail=str(error)) from error


def _words(text: str) -> list[str]:
    return [word.lower() for word in re.split(r"[\s,，、;]+", text) if word]


@dataclass(frozen=True, slots=True)
class Saved:
    """An entry as it is kept, and where its key is; None: it has none, or its key was left as it was."""

    expert: RemoteExpert
    key_place: KeyPlace | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """All that it takes to put an entry back; the key is in nobody's words."""

    expert: RemoteExpert
    key: str | None

    def __repr__(self) -> str:
        return f"Removed({self.expert.model_id})"


class RemoteExperts:
    """Any thread. What touches disk, keyring or network runs on others and gives a Future.

    `changed` tells that entries or the state of a server have changed.
    """

    def __init__(
        self,
        entries: RemoteList,
        keys: KeyStore,
        table: ExpertTable,
        *,
        timing: RemoteTiming | None = None,
        pace: WatchPace | None = None,
    ) -> None:
        self._entries = entries
        self._keys = keys
        self._table = table
        self._loop = RemoteLoop()
        self.client = RemoteClient(
            self._loop, expert_of=entries.find, key_of=self._key_of, noted=self._noted, timing=timing
        )
        self._watch = RemoteWatch(self._loop, self.client, entries.experts, pace)
        self._executor = ThreadPoolExecutor(1, "remote-experts")
        self.changed: Feed[None] = Feed()
        self._watch.changed.subscribe(lambda _: self.changed.publish(None))

    def start(self) -> None:
        """Begin to look at the servers, in the background; nothing is sent while there are no entries."""
        self._executor.submit(self._watch.start)

    def stop(self) -> None:
        """End what runs; blocks for a moment."""
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.client.stop()

    def list(self) -> tuple[RemoteExpert, ...]:
        """All entries."""
        return self._entries.experts()

    def find(self, model_id: str) -> RemoteExpert | None:
        """One by its id."""
        return self._entries.find(model_id)

    def known(self, model_id: str) -> RemoteExpert:
        """One by its id. Raises UNKNOWN_EXPERT."""
        expert = self._entries.find(model_id)
        if expert is None:
            known = ", ".join(one.model_id for one in self._entries.experts())
            raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id, known=known)
        return expert

    @property
    def problems(self) -> tuple[ErrorReport, ...]:
        """REMOTE_LIST_DAMAGED for each entry that was left out."""
        return self._entries.problems()

    @staticmethod
    def entry_of(expert: RemoteExpert) -> RemoteEntry:
        """As it could have been entered."""
        return RemoteEntry(expert.base_url, expert.model, expert.name, expert.n_ctx, expert.strengths)

    def state(self, model_id: str) -> RemoteState:
        """What the last look at its server found; at once."""
        return self._watch.state(model_id)

    def candidates(self) -> tuple[PoolExpert, ...]:
        """As the route policy sees them; at once, by the last look at each server."""
        table = self._table.table()
        return tuple(self._candidate(expert, table.get(expert.model_id)) for expert in self.list())

    def add(self, entry: RemoteEntry, key: str = "") -> Future[Saved]:
        """Keep a new one. Fails with BAD_ENDPOINT, BAD_PARAMETER, KEY_NOT_KEPT, DISK_FULL & co."""
        return self._executor.submit(self._save, None, entry, key)

    def change(self, model_id: str, entry: RemoteEntry, key: str | None = None) -> Future[Saved]:
        """Change one. `key` None leaves it, "" removes it; a key is never carried over to another server.

        Fails as `add` does, and with UNKNOWN_EXPERT.
        """
        return self._executor.submit(self._save, model_id, entry, key)

    def remove(self, model_id: str) -> Future[Removed]:
        """Take one out, with its key; `restore` brings both back. Fails with UNKNOWN_EXPERT."""
        return self._executor.submit(self._remove, model_id)

    def restore(self, removed: Removed) -> Future[None]:
        """Undo a removal."""
        return self._executor.submit(self._restore, removed)

    def test(self, entry: RemoteEntry, key: str | None = None, *, model_id: str | None = None) -> Future[EndpointTest]:
        """Ask the server what it serves and for a tiny answer. `key` None: the one kept for `model_id`, if it is the
        same server. Fails with BAD_ENDPOINT and BAD_PARAMETER only.
        """
        expert = self._checked(entry, model_id or "")
        probe = Generate(
            "test", "", (PromptMessage(Role.USER, _PROBE),), SamplingParams(temperature=0.0, max_tokens=16)
        )
        kept: Future[str | None] = self._executor.submit(lambda: key if key is not None else self._key_of(expert))
        return flatten(then(kept, lambda found: self._loop.run(lambda: self.client.test(expert, found, probe))))

    def _candidate(self, expert: RemoteExpert, strengths: Strengths | None) -> PoolExpert:
        state = self.state(expert.model_id)
        facts: dict[str, Fact] = {}
        if state.is_up is False:
            facts = {"host": expert.host, "detail": None if state.error is None else state.error.code.value}
        return PoolExpert(
            expert.model_id,
            is_loaded=True,  # nothing has to be loaded here
            out=OutReason.REMOTE_DOWN if state.is_up is False else None,
            out_facts=facts,
            strengths=strengths or expert.strengths or guess_remote(f"{expert.name} {expert.model}"),
            n_ctx=expert.n_ctx,
            host=expert.host,
        )

    def _checked(self, entry: RemoteEntry, model_id: str) -> RemoteExpert:
        """Raises BAD_ENDPOINT, BAD_PARAMETER."""
        url, model = checked_url(entry.base_url), entry.model.strip()
        name = entry.name.strip() or model
        if not model or len(model) > MAX_NAME or len(name) > MAX_NAME:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="model", value=model[:80])
        if entry.n_ctx is not None and not N_CTX_LEAST <= entry.n_ctx <= 2**31:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="context", value=entry.n_ctx)
        return RemoteExpert(model_id, name, url, model, entry.n_ctx, entry.strengths)

    def _save(self, model_id: str | None, entry: RemoteEntry, key: str | None) -> Saved:
        old = None if model_id is None else self.known(model_id)
        expert = self._checked(entry, model_id or self._entries.free_id(entry.name.strip() or entry.model.strip()))
        place = None
        if old is not None and _key_name(old) != _key_name(expert):
            self._keys.drop(_key_name(old))
        if key:
            place = self._keys.put(_key_name(expert), key.strip())
        elif key == "" and old is not None:
            self._keys.drop(_key_name(expert))
        self._entries.put(expert)
        self._entries_changed(expert.model_id)
        return Saved(expert, place)

    def _remove(self, model_id: str) -> Removed:
        expert = self.known(model_id)
        removed = Removed(expert, self._key_of(expert))
        self._entries.drop(model_id)
        self._keys.drop(_key_name(expert))
        self._entries_changed(model_id)
        return removed

    def _restore(self, removed: Removed) -> None:
        if removed.key:
            self._keys.put(_key_name(removed.expert), removed.key)
        self._entries.put(removed.expert)
        self._entries_changed(removed.expert.model_id)

    def _entries_changed(self, model_id: str) -> None:
        self._watch.forget(model_id)
        self._watch.start()
        self.changed.publish(None)

    def _key_of(self, expert: RemoteExpert) -> str | None:
        return self._keys.get(_key_name(expert)) if expert.model_id else None

    def _noted(self, model_id: str, error: ErrorReport | None) -> None:
        self._watch.note(model_id, error)


def _key_name(expert: RemoteExpert) -> str:
    """With the server in it: whoever changes the address in the file does not get the key."""
    return f"{expert.model_id} {origin_of(expert.base_url)}"
