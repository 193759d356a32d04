"""Entering, testing, watching and removing remote experts, against a scripted server."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from layadesk.domain.errors import ErrorCode, LayaDeskError
from layadesk.domain.routing import OutReason
from layadesk.domain.routing_labels import Effort
from layadesk.domain.strengths import Strengths, guess_remote
from layadesk.model_library.expert_table import ExpertTable
from layadesk.model_library.remote_list import RemoteList
from layadesk.paths import DataPaths
from layadesk.settings.key_store import KeyPlace, KeyStore
from layadesk.usecases.remote_experts import RemoteEntry, RemoteExperts
from layadesk.workers.remote_timing import RemoteTiming
from layadesk.workers.remote_watch import WatchPace
from tests.fakes.http_peer import Exchange, HttpPeer, http_peer
from tests.settings.test_key_store import WorkingRing

PATIENCE_S = 10.0


class Remotes(RemoteExperts):
    """Real ones over a keyring in memory; `until` waits for a change."""

    def __init__(self, paths: DataPaths, ring: WorkingRing) -> None:
        super().__init__(
            RemoteList(paths.remote_experts),
            KeyStore(paths.keys, ring),
            ExpertTable(paths.expert_table),
            timing=RemoteTiming(2.0, 2.0, 2.0),
            pace=WatchPace(0.05, 0.05),
        )
        self._told = threading.Condition()
        self.changed.subscribe(self._tell)

    def _tell(self, _: None) -> None:
        with self._told:
            self._told.notify_all()

    def is_up(self, model_id: str, wanted: bool) -> bool:
        with self._told:
            return self._told.wait_for(lambda: self.state(model_id).is_up is wanted, PATIENCE_S)


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    with http_peer() as made:
        yield made


@pytest.fixture
def ring() -> WorkingRing:
    return WorkingRing()


@pytest.fixture
def remotes(tmp_path: Path, ring: WorkingRing) -> Iterator[Remotes]:
    made = Remotes(DataPaths(tmp_path), ring)
    yield made
    made.stop()


def add(remotes: Remotes, peer: HttpPeer, key: str = "sk-1") -> str:
    return remotes.add(RemoteEntry(peer.url, "big-70b", "Big"), key).result(PATIENCE_S).expert.model_id


def test_a_new_one_is_kept_with_its_key_apart_and_is_looked_at_soon(
    remotes: Remotes, peer: HttpPeer, tmp_path: Path
) -> None:
    saved = remotes.add(RemoteEntry(f"{peer.url}/", "big-70b", "Big"), " sk-1 ").result(PATIENCE_S)
    assert (saved.expert.model_id, saved.expert.base_url, saved.key_place) == (
        "remote:big", peer.url, KeyPlace.KEYRING,
    )  # fmt: skip
    assert remotes.is_up("remote:big", wanted=True)
    assert peer.looks[0].headers["authorization"] == "Bearer sk-1"
    written = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.json"))
    assert "sk-1" not in written


def test_one_that_goes_away_is_out_and_comes_back_by_itself(remotes: Remotes, peer: HttpPeer) -> None:
    model_id = add(remotes, peer)
    assert remotes.is_up(model_id, wanted=True)
    (candidate,) = remotes.candidates()
    assert (candidate.model_id, candidate.out, candidate.host) == (model_id, None, f"127.0.0.1:{peer.port}")
    peer.models = lambda exchange: exchange.answer("500 Oops", {})
    assert remotes.is_up(model_id, wanted=False)
    (candidate,) = remotes.candidates()
    assert candidate.out is OutReason.REMOTE_DOWN
    peer.models = ["big-70b"]
    assert remotes.is_up(model_id, wanted=True)


def test_a_route_never_waits_for_a_look(remotes: Remotes, peer: HttpPeer) -> None:
    arrived = threading.Event()

    def mute(exchange: Exchange) -> None:
        arrived.set()
        exchange.wait_for_hangup()

    peer.models = mute
    add(remotes, peer)
    assert arrived.wait(PATIENCE_S)
    begun = time.monotonic()
    (candidate,) = remotes.candidates()
    assert candidate.out is None, "nobody knows yet, so it may be tried"
    assert time.monotonic() - begun < 1.0


def test_nothing_is_sent_while_there_are_no_entries(remotes: Remotes) -> None:
    remotes.start()
    remotes.remove("remote:x").exception(PATIENCE_S)  # behind it on the same thread
    assert not [thread for thread in threading.enumerate() if thread.name == "remote-client"]


def test_removing_takes_the_key_along_and_undo_brings_both_back(
    remotes: Remotes, peer: HttpPeer, ring: WorkingRing
) -> None:
    model_id = add(remotes, peer)
    removed = remotes.remove(model_id).result(PATIENCE_S)
    assert (remotes.list(), ring.kept) == ((), {})
    assert "sk-1" not in repr(removed)
    remotes.restore(removed).result(PATIENCE_S)
    assert [one.model_id for one in remotes.list()] == [model_id]
    assert list(ring.kept.values()) == ["sk-1"]


def test_a_key_never_goes_to_another_server_than_it_was_entered_for(
    remotes: Remotes, peer: HttpPeer, ring: WorkingRing, tmp_path: Path
) -> None:
    model_id = add(remotes, peer)
    remotes.change(model_id, RemoteEntry(peer.url, "big-70b", "Bigger")).result(PATIENCE_S)
    assert list(ring.kept.values()) == ["sk-1"], "the same server: it stays"
    with http_peer() as other:
        tested = remotes.test(RemoteEntry(other.url, "big-70b"), model_id=model_id).result(PATIENCE_S)
        assert tested.state.is_up
        assert "authorization" not in other.asked[0].headers
        remotes.change(model_id, RemoteEntry(other.url, "big-70b")).result(PATIENCE_S)
        assert ring.kept == {}
        assert remotes.is_up(model_id, wanted=True)
        assert all("authorization" not in look.headers for look in other.looks)


def test_an_edited_file_does_not_get_the_key_either(
    remotes: Remotes, peer: HttpPeer, ring: WorkingRing, tmp_path: Path
) -> None:
    add(remotes, peer)
    path = DataPaths(tmp_path).remote_experts
    with http_peer() as thief:
        edited = path.with_suffix(".edited")  # at once, as editors do: the one that watches it reads it any time
        edited.write_text(path.read_text("utf-8").replace(str(peer.port), f"{thief.port}"), "utf-8")
        edited.replace(path)
        again = Remotes(DataPaths(tmp_path), ring)
        again.start()
        assert again.is_up("remote:big", wanted=True)
        again.stop()
        assert "authorization" not in thief.looks[0].headers


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (RemoteEntry("nowhere", "x"), ErrorCode.BAD_ENDPOINT),
        (RemoteEntry("https://h/v1", "  "), ErrorCode.BAD_PARAMETER),
        (RemoteEntry("https://h/v1", "x", n_ctx=3), ErrorCode.BAD_PARAMETER),
        (RemoteEntry("https://h/v1", "x", name="y" * 500), ErrorCode.BAD_PARAMETER),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_kept(
    remotes: Remotes, entry: RemoteEntry, code: ErrorCode
) -> None:
    with pytest.raises(LayaDeskError) as caught:
        remotes.add(entry, "sk-1").result(PATIENCE_S)
    assert caught.value.code is code
    assert remotes.list() == ()


def test_a_test_of_the_connection_uses_the_kept_key_and_says_what_is_served(remotes: Remotes, peer: HttpPeer) -> None:
    model_id = add(remotes, peer)
    peer.models = ["other-model"]
    found = remotes.test(RemoteEntry(peer.url, "big-70b"), model_id=model_id).result(PATIENCE_S)
    assert (found.state.models, found.serves_model, found.said) == (("other-model",), False, "Hello")
    assert peer.asked[0].headers["authorization"] == "Bearer sk-1"


def test_one_without_strengths_is_guessed_by_its_name() -> None:
    assert guess_remote("qwen-coder-32b").effort_ceiling is Effort.HEAVY
    assert guess_remote("qwen-coder-32b").at("code") > 0.9
    assert guess_remote("tiny 1.5B").effort_ceiling is Effort.LIGHT
    unknown = guess_remote("frontier-5")
    assert (unknown.effort_ceiling, unknown.cost) == (Effort.HEAVY, 0.8)


def test_own_strengths_come_before_the_guess(remotes: Remotes, peer: HttpPeer) -> None:
    own = Strengths({"code": 0.1}, languages=("de",), cost=1.0)
    remotes.add(RemoteEntry(peer.url, "coder-70b", strengths=own)).result(PATIENCE_S)
    assert remotes.candidates()[0].strengths == own
