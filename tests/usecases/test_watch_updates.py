"""Asking for a new version: never while it is off, once a day while it is on, and silent where it is in vain."""

import queue
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from layadesk import __version__
from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.releases import Release
from layadesk.model_library.web import Stop, Stopped
from layadesk.paths import DataPaths
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.ui.texts.findings import finding_remedy, finding_words
from layadesk.usecases.check_installation import Level, _updates
from layadesk.usecases.update_file import Asked, UpdateFile
from layadesk.usecases.watch_updates import DAY_S, UpdateNotice, WatchUpdates
from tests.fakes.http_peer import Exchange, HttpPeer, http_peer

FEED = "https://releases.example/latest"
PAGE = "https://example.org/9.0"
NEWER = Release("9.0", PAGE)
NOON = 1_800_000_000.0
PATIENCE_S = 10.0


class Place:
    """A data directory over several runs of the program, with a clock and a server of its own."""

    def __init__(self, root: Path) -> None:
        self.paths = DataPaths(root)
        self.settings = Settings(self.paths)
        self.clock = NOON
        self.answer: Release | Exception | None = NEWER
        self.asked: list[tuple[str, str]] = []
        self.told: queue.Queue[UpdateNotice | None] = queue.Queue()
        self.running: list[WatchUpdates] = []

    def switch(self, is_on: bool, feed: str = FEED) -> None:
        self.settings.set(definitions.UPDATE_FEED, feed)
        self.settings.set(definitions.UPDATE_NOTICE, is_on)

    def run(self, ask: Callable[[str, str, Stop], Release | None] | None = None) -> WatchUpdates:
        """A start of the program."""
        watch = WatchUpdates(
            self.settings, UpdateFile(self.paths.updates), ask=ask or self._ask, now=lambda: self.clock
        )
        watch.feed.subscribe(self.told.put)
        self.running.append(watch)
        watch.start()
        return watch

    def next(self) -> UpdateNotice | None:
        """What is told next."""
        return self.told.get(timeout=PATIENCE_S)

    def _ask(self, address: str, proxy: str, stop: Stop) -> Release | None:
        self.asked.append((address, proxy))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for watch in place.running:
        watch.close()
    place.settings.flush()


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every address that anything in this process connects to, or looks up."""
    seen: list[object] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def watched_connect(self: socket.socket, address: Any) -> None:
        seen.append(address)
        connect(self, address)

    def watched_look_up(host: str, *more: Any, **named: Any) -> Any:
        seen.append(host)
        return look_up(host, *more, **named)

    monkeypatch.setattr(socket.socket, "connect", watched_connect)
    monkeypatch.setattr(socket, "getaddrinfo", watched_look_up)
    return seen


def one_run(place: Place, peer: HttpPeer, *, is_on: bool) -> None:
    """The real request, to a real server; over when the thread has nothing more to do."""
    place.switch(is_on, feed=f"http://127.0.0.1:{peer.port}/latest")
    watch = WatchUpdates(place.settings, UpdateFile(place.paths.updates))
    watch.feed.subscribe(place.told.put)
    watch.start()
    if is_on:
        place.next()
    else:
        place.settings.set(definitions.UPDATE_FEED, f"http://127.0.0.1:{peer.port}/another")
        place.settings.set("downloads.n_parallel", 3)
    watch.close()


def answers(exchange: Exchange) -> None:
    exchange.answer("200 OK", {"tag_name": "v9.0", "html_url": PAGE})


@pytest.mark.parametrize("is_on", [False, True])
def test_no_socket_is_opened_unless_it_is_on(place: Place, sockets: list[object], is_on: bool) -> None:
    with http_peer(answers) as peer:
        one_run(place, peer, is_on=is_on)
    assert bool(sockets) is is_on
    assert len(peer.asked) == int(is_on)
    assert place.paths.updates.exists() is is_on


def test_it_is_off_as_it_comes(place: Place) -> None:
    assert place.settings.get(definitions.UPDATE_NOTICE) is False
    assert definitions.UPDATE_FEED.default == definitions.RELEASE_FEED
    watch = place.run()
    assert (watch.asked(), watch.notice, place.asked) == (None, None, [])
    assert not any(thread.name == "updates" for thread in threading.enumerate())


@pytest.mark.parametrize("feed", ["", "   "])
def test_on_without_an_address_asks_nobody(place: Place, feed: str) -> None:
    place.switch(True, feed)
    watch = place.run()
    assert (watch.asked(), watch.notice, place.asked) == (None, None, [])


def test_a_newer_version_is_told_with_its_page_and_who_said_so(place: Place) -> None:
    place.switch(True)
    place.settings.set(definitions.DOWNLOAD_PROXY, "http://proxy.example:3128")
    watch = place.run()
    assert place.next() == watch.notice == UpdateNotice("9.0", PAGE, "releases.example", __version__)
    assert place.asked == [(FEED, "http://proxy.example:3128")]


@pytest.mark.parametrize("version", [__version__, "0.0.1", f"{__version__}.dev1", f"{__version__}rc1"])
def test_a_version_that_is_not_newer_is_no_news(place: Place, version: str) -> None:
    place.answer = Release(version, PAGE)
    place.switch(True)
    watch = place.run()
    assert place.next() is None
    assert watch.notice is None
    asked = watch.asked()
    assert asked is not None
    assert (asked.version, asked.problem, asked.at) == (version, "", NOON)


def test_it_is_asked_once_a_day_however_often_the_program_starts(place: Place) -> None:
    place.switch(True)
    place.run()
    place.next()
    for later in (1.0, DAY_S / 2, DAY_S - 1.0):
        place.running[-1].close()
        place.clock = NOON + later
        assert place.run().notice is not None  # known from before
    assert len(place.asked) == 1
    place.running[-1].close()
    place.clock = NOON + DAY_S
    place.run()
    place.next()
    assert len(place.asked) == 2


def test_a_day_later_it_is_asked_in_the_same_run_too(place: Place) -> None:
    place.switch(True)
    watch = place.run()
    place.next()
    place.answer = Release("9.1", PAGE)
    place.clock += DAY_S
    watch.dismiss("8.0")  # any news wakes it, as the passing of an hour would
    told = place.next()
    assert told is not None
    assert told.version == "9.1"


def test_an_hour_of_a_clock_that_was_wrong_does_not_keep_it_silent_for_years(place: Place) -> None:
    UpdateFile(place.paths.updates).write(Asked(FEED, "releases.example", NOON + 365 * DAY_S))
    place.switch(True)
    place.run()
    assert place.next() is not None


def test_another_address_is_asked_at_once(place: Place) -> None:
    place.switch(True)
    watch = place.run()
    place.next()
    place.answer = None
    place.settings.set(definitions.UPDATE_FEED, "https://other.example/")
    assert place.next() is None  # what the first one said does not count for the second
    assert place.next() is None
    asked = watch.asked()
    assert asked is not None
    assert (asked.host, asked.version) == ("other.example", "")
    assert [address for address, _ in place.asked] == [FEED, "https://other.example/"]


def test_what_was_dismissed_stays_away_until_there_is_something_newer(place: Place) -> None:
    place.switch(True)
    watch = place.run()
    place.next()
    watch.dismiss("9.0")
    assert watch.notice is None
    watch.close()
    assert place.run().notice is None
    place.running[-1].close()
    place.clock += DAY_S
    place.run()
    assert place.next() is None
    place.running[-1].close()
    place.clock += DAY_S
    place.answer = Release("9.1", "")
    place.run()
    assert place.next() == UpdateNotice("9.1", "", "releases.example", __version__)


def test_in_vain_is_kept_with_the_reason_and_counts_for_the_day(place: Place) -> None:
    place.answer = fail(ErrorCode.HUB_UNREACHABLE, host="releases.example", reason="HTTP 503")
    place.switch(True)
    watch = place.run()
    assert place.next() is None
    asked = watch.asked()
    assert asked is not None
    assert (asked.host, asked.problem, asked.at) == ("releases.example", "HTTP 503", NOON)
    watch.close()
    place.run()
    assert len(place.asked) == 1


def test_what_was_found_is_still_told_after_a_day_in_vain(place: Place) -> None:
    place.switch(True)
    place.run()
    place.next()
    place.running[-1].close()
    place.clock += DAY_S
    place.answer = fail(ErrorCode.HUB_UNREACHABLE, host="releases.example", reason="HTTP 503")
    watch = place.run()
    told = place.next()
    assert told is not None
    asked = watch.asked()
    assert asked is not None
    assert (told.version, asked.problem) == ("9.0", "HTTP 503")


class SlowServer:
    """Answers late, unless the request is broken off."""

    def __init__(self) -> None:
        self.is_asked, self.was_stopped = threading.Event(), threading.Event()

    def __call__(self, address: str, proxy: str, stop: Stop) -> Release | None:
        self.is_asked.set()
        try:
            stop.wait(PATIENCE_S)
        except Stopped:
            self.was_stopped.set()
            raise
        return NEWER


def test_switching_it_off_takes_the_notice_away_and_breaks_off_the_request(place: Place) -> None:
    slow = SlowServer()
    place.switch(True)
    watch = place.run(slow)
    assert slow.is_asked.wait(PATIENCE_S)
    place.switch(False)
    assert slow.was_stopped.wait(PATIENCE_S)
    assert place.next() is None
    assert watch.asked() is None


def test_the_end_of_the_program_does_not_wait_for_a_server(place: Place) -> None:
    slow = SlowServer()
    place.switch(True)
    watch = place.run(slow)
    assert slow.is_asked.wait(PATIENCE_S)
    watch.close()
    assert slow.was_stopped.is_set()
    asked = watch.asked()
    assert asked is not None
    assert asked.problem == "no answer"


def test_where_the_day_cannot_be_noted_nobody_is_asked(place: Place) -> None:
    """Else each start would ask."""
    place.switch(True)
    place.settings.flush()
    place.paths.updates.mkdir()  # in the way of the file
    (place.paths.updates / "something").touch()
    watch = place.run()
    assert place.next() is None
    assert place.asked == []
    asked = watch.asked()
    assert asked is not None
    assert asked.problem


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"at": "never"}', b'{"version": "9.0"', b"\xff\xfe"])
def test_a_record_that_cannot_be_read_counts_as_never_asked(place: Place, content: bytes) -> None:
    place.paths.root.mkdir(parents=True, exist_ok=True)
    place.paths.updates.write_bytes(content)
    place.switch(True)
    place.run()
    assert place.next() is not None
    assert UpdateFile(place.paths.updates).read().version == "9.0"


def test_a_version_that_somebody_has_written_into_the_record_is_no_news_where_it_is_none(place: Place) -> None:
    UpdateFile(place.paths.updates).write(Asked(FEED, "releases.example", NOON, version="the best one"))
    place.switch(True)
    assert place.run().notice is None


def test_health_tells_whom_this_program_has_asked_and_also_that_it_was_nobody() -> None:
    asked = Asked(FEED, "releases.example", NOON, version="9.0")
    found = [_updates(one) for one in (None, Asked(), asked, replace(asked, version=""), replace(asked, problem="no"))]
    assert [one.level for one in found] == [Level.OK, Level.OK, Level.OK, Level.OK, Level.WARN]
    said = [finding_words(one) for one in found]
    assert said[0] == "New versions: nobody is asked, as it is off in the settings"
    assert said[1] == "New versions: not asked yet"
    assert all("releases.example was asked" in one for one in said[2:])
    assert said[2].endswith("the newest is 9.0")
    assert said[3].endswith("and has none")
    assert said[4].endswith("in vain: no.")
    assert "settings" in finding_remedy(found[4])
