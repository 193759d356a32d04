import threading
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial

import pytest
from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from layadesk.domain.chat import Message, MessageStatus
from layadesk.domain.errors import ErrorCode, ErrorReport, fail
from layadesk.domain.inference import Role
from layadesk.protocol.feed import Feed
from layadesk.ui.bridge import Bridge
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnPhase, TurnProgress, TurnStarted, TurnText
from tests.fakes.usecases import Lane


class Ear(QObject):
    """Keeps what it hears, and on which thread."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[object] = []
        self.threads: set[int] = set()

    @Slot(object)
    def on_event(self, event: object) -> None:
        self.heard.append(event)
        self.threads.add(threading.get_ident())

    @Slot(object)
    def on_failing_event(self, event: object) -> None:
        raise ValueError(event)

    def texts(self, message_id: str) -> str:
        return "".join(e.text for e in self.heard if isinstance(e, TurnText) and e.message_id == message_id)


@pytest.fixture
def bridge(qtbot: QtBot) -> Iterator[Bridge]:
    bridge = Bridge()
    yield bridge
    bridge.close()


@pytest.fixture
def lane() -> Iterator[Lane]:
    lane = Lane("elsewhere")
    yield lane
    lane.close()


def answer(message_id: str, text: str = "", status: MessageStatus = MessageStatus.STREAMING) -> Message:
    return Message(message_id, "c", None, Role.ASSISTANT, text, 0.0, status)


def stream(feed: Feed[TurnEvent], message_id: str, n: int) -> str:
    """Publish a whole answer; returns its text."""
    text = ""
    feed.publish(TurnStarted("c", None, answer(message_id)))
    for i in range(n):
        piece = f"{message_id}{i} "
        feed.publish(TurnText("c", message_id, piece, len(text), i + 1))
        text += piece
    feed.publish(TurnEnded("c", message_id, answer(message_id, text, MessageStatus.COMPLETE)))
    return text


def test_three_hundred_tokens_arrive_complete_in_order_and_in_fewer_steps(
    bridge: Bridge, lane: Lane, qtbot: QtBot
) -> None:
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    text = lane.wait(lambda: stream(feed, "m", 300))
    qtbot.waitUntil(lambda: any(isinstance(e, TurnEnded) for e in ear.heard))
    assert ear.texts("m") == text
    assert isinstance(ear.heard[0], TurnStarted)
    assert isinstance(ear.heard[-1], TurnEnded)
    assert len(ear.heard) < 100
    assert ear.threads == {threading.get_ident()}


def test_two_interleaved_streams_keep_their_own_text(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    for i in range(50):
        for message_id in ("a", "b"):
            lane.wait(partial(feed.publish, TurnText("c", message_id, f"{message_id}{i}", 0, i)))
    qtbot.waitUntil(lambda: ear.texts("b").endswith("b49"))
    assert ear.texts("a") == "".join(f"a{i}" for i in range(50))
    assert ear.texts("b") == "".join(f"b{i}" for i in range(50))


def test_merged_text_keeps_the_offset_of_its_beginning(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    for offset in (4, 6, 8):
        lane.wait(partial(feed.publish, TurnText("c", "m", "ab", offset, offset)))
    qtbot.waitUntil(lambda: bool(ear.heard))
    assert ear.heard == [TurnText("c", "m", "ababab", 4, 8)]


def test_nothing_of_an_answer_comes_after_its_end(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    lane.wait(lambda: stream(feed, "m", 3))
    lane.wait(lambda: feed.publish(TurnText("c", "m", "late", 99, 4)))
    lane.wait(lambda: feed.publish(TurnProgress("c", "m", TurnPhase.DECODE)))
    lane.wait(lambda: feed.publish(TurnText("c", "other", "x", 0, 1)))
    qtbot.waitUntil(lambda: ear.texts("other") == "x")
    assert [e for e in ear.heard if not isinstance(e, TurnText)][-1] == TurnEnded(
        "c", "m", answer("m", "m0 m1 m2 ", MessageStatus.COMPLETE)
    )
    assert "late" not in ear.texts("m")


def test_of_progress_only_the_newest_is_told(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    for i in range(11):
        lane.wait(partial(feed.publish, TurnProgress("c", "m", TurnPhase.PREFILL, i / 10)))
    qtbot.waitUntil(lambda: bool(ear.heard))
    assert ear.heard == [TurnProgress("c", "m", TurnPhase.PREFILL, 1.0)]


def test_an_event_published_on_the_gui_thread_does_not_enter_its_receiver_at_once(bridge: Bridge, qtbot: QtBot) -> None:
    feed: Feed[str] = Feed()
    ear = Ear()
    bridge.follow(feed, ear.on_event)
    feed.publish("now")
    assert ear.heard == []
    qtbot.waitUntil(lambda: ear.heard == ["now"])


def test_a_receiver_that_fails_is_logged_and_costs_the_others_nothing(
    bridge: Bridge, lane: Lane, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    feed: Feed[str] = Feed()
    ear = Ear()
    bridge.follow(feed, ear.on_failing_event)
    bridge.follow(feed, ear.on_event)
    lane.wait(lambda: feed.publish("x"))
    qtbot.waitUntil(lambda: ear.heard == ["x"])
    assert "a receiver in the window failed" in caplog.text


def test_a_receiver_that_is_gone_is_skipped(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    feed: Feed[str] = Feed()
    gone, ear = Ear(), Ear()
    bridge.follow(feed, gone.on_event)
    bridge.follow(feed, ear.on_event)
    lane.wait(lambda: feed.publish("x"))
    gone.deleteLater()
    qtbot.waitUntil(lambda: ear.heard == ["x"])
    lane.wait(lambda: feed.publish("y"))
    qtbot.waitUntil(lambda: ear.heard == ["x", "y"])


def test_the_result_of_a_future_comes_on_the_gui_thread(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    good, bad = Ear(), Ear()
    bridge.deliver(lane.run(lambda: 7), good.on_event, on_error=bad.on_event)
    qtbot.waitUntil(lambda: good.heard == [7])
    assert bad.heard == []
    assert good.threads == {threading.get_ident()}


def test_an_error_of_ours_comes_as_its_report(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    def refuse() -> None:
        raise fail(ErrorCode.CONVERSATION_BUSY)

    good, bad = Ear(), Ear()
    bridge.deliver(lane.run(refuse), good.on_event, on_error=bad.on_event)
    qtbot.waitUntil(lambda: bad.heard == [ErrorReport(ErrorCode.CONVERSATION_BUSY)])
    assert good.heard == []


def test_a_foreign_error_is_logged_and_told_as_internal(
    bridge: Bridge, lane: Lane, qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    def break_down() -> None:
        raise ZeroDivisionError

    bad = Ear()
    bridge.deliver(lane.run(break_down), Ear().on_event, on_error=bad.on_event)
    qtbot.waitUntil(lambda: bad.heard == [ErrorReport(ErrorCode.INTERNAL, {"detail": "ZeroDivisionError"})])
    assert "a use case failed" in caplog.text


def test_a_cancelled_future_tells_nobody(bridge: Bridge, lane: Lane, qtbot: QtBot) -> None:
    ear = Ear()
    future: Future[int] = Future()
    bridge.deliver(future, ear.on_event, on_error=ear.on_event)
    future.cancel()
    bridge.deliver(lane.run(lambda: "next"), ear.on_event, on_error=ear.on_event)
    qtbot.waitUntil(lambda: ear.heard == ["next"])


def test_after_close_everything_waiting_is_told_and_nothing_comes_any_more(lane: Lane, qtbot: QtBot) -> None:
    bridge = Bridge()
    feed: Feed[TurnEvent] = Feed()
    ear = Ear()
    bridge.follow_turns(feed, ear.on_event)
    lane.wait(lambda: feed.publish(TurnText("c", "m", "last words", 0, 1)))
    bridge.close()
    assert ear.texts("m") == "last words"
    lane.wait(lambda: feed.publish(TurnText("c", "m", "too late", 10, 2)))
    late: Future[int] = Future()
    bridge.deliver(late, ear.on_event, on_error=ear.on_event)
    lane.wait(lambda: late.set_result(1))
    assert ear.texts("m") == "last words"
    assert 1 not in ear.heard
