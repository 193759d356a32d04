"""The outbox: text is never lost, progress is only the latest, order is kept, and no reader holds up the writer."""

import queue
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.domain.inference import FinishReason, MemoryUse, Timings
from layadesk.domain.models import LoadedModel
from layadesk.protocol.events import (
    EngineEvent,
    EngineStats,
    Failed,
    Finished,
    Loading,
    ModelLoaded,
    ModelLoading,
    ModelUnloaded,
    Pong,
    PrefillProgress,
    PromptBuilt,
    Queued,
    TextDelta,
    ThinkingDelta,
)
from layadesk.protocol.outbox import COMPACT_AT, MAX_MERGED_CHARS, Outbox, merge_events
from tests.invariants import check_request

MERGEABLE = (PrefillProgress, Loading, ModelLoading, EngineStats, Pong, TextDelta, ThinkingDelta)


def delta(request_id: str, text: str, n: int) -> TextDelta:
    return TextDelta(request_id, text, n)


def finished(request_id: str, text: str) -> Finished:
    return Finished(request_id, text, FinishReason.STOP, Timings())


def loaded(model_id: str) -> ModelLoaded:
    return ModelLoaded(LoadedModel(model_id, "llama", 1, 1, 1, 0, 1, 1, 0.0, "gguf", MemoryUse()))


def test_neighbouring_deltas_of_a_request_become_one_with_the_newest_count() -> None:
    events = [delta("a", "1", 1), delta("b", "x", 1), delta("a", "2", 2), delta("b", "y", 2), delta("a", "3", 3)]
    assert merge_events(events) == [delta("a", "123", 3), delta("b", "xy", 2)]


def test_thinking_is_merged_apart_from_the_answer_that_follows_it() -> None:
    events = [ThinkingDelta("a", "h", 1), ThinkingDelta("a", "m", 2), delta("a", "y", 3), delta("a", "es", 4)]
    assert merge_events(events) == [ThinkingDelta("a", "hm", 2), delta("a", "yes", 4)]


def test_a_delta_never_passes_the_end_of_its_request() -> None:
    events: list[EngineEvent] = [delta("a", "1", 1), finished("a", "1"), delta("a", "late", 1)]
    assert merge_events(events) == events


def test_of_progress_only_the_latest_is_kept_but_not_across_a_change_of_state() -> None:
    load = [ModelLoading("m", 0.1), ModelLoading("m", 0.9), loaded("m"), ModelUnloaded("m"), ModelLoading("m", 0.2)]
    assert merge_events(load) == [ModelLoading("m", 0.9), loaded("m"), ModelUnloaded("m"), ModelLoading("m", 0.2)]
    prefill = [PrefillProgress("a", 1, 9), PrefillProgress("b", 2, 9), PrefillProgress("a", 5, 9)]
    assert merge_events(prefill) == [PrefillProgress("a", 5, 9), PrefillProgress("b", 2, 9)]
    stats = [EngineStats(1, 0, 0, 1, 0.0, n) for n in (1.0, 2.0)]
    assert merge_events([stats[0], delta("a", "x", 1), stats[1]]) == [stats[1], delta("a", "x", 1)]
    assert merge_events([Pong(1, "idle", 0), Pong(2, "idle", 0)]) == [Pong(2, "idle", 0)]


def test_what_marks_a_step_of_life_is_never_merged() -> None:
    lives: list[EngineEvent] = [
        Queued("a", 1),
        Queued("a", 0),
        Failed(None, ErrorReport(ErrorCode.MODEL_LOAD_FAILED), "m"),
        Failed(None, ErrorReport(ErrorCode.MODEL_LOAD_FAILED), "m"),
    ]
    assert merge_events(lives) == lives


def test_merged_text_stays_far_below_the_size_of_a_frame() -> None:
    piece = "漢" * (MAX_MERGED_CHARS // 2)
    merged = merge_events([delta("a", piece, n) for n in range(5)])
    assert [len(one.text) for one in merged] == [MAX_MERGED_CHARS, MAX_MERGED_CHARS, MAX_MERGED_CHARS // 2]
    assert [one.n_decoded for one in merged] == [1, 3, 4]


@st.composite
def lives(draw: st.DrawFn) -> list[EngineEvent]:
    """Lawful lives of a few requests, interleaved, with the engine's own events between them."""
    streams: list[list[EngineEvent]] = []
    for request_id in draw(st.lists(st.sampled_from("abcd"), max_size=4, unique=True)):
        life: list[EngineEvent] = [Queued(request_id, n) for n in draw(st.lists(st.integers(0, 3), max_size=2))]
        life += [Loading(request_id, "m", f) for f in draw(st.lists(st.floats(0, 1), max_size=3))]
        life.append(PromptBuilt(request_id, 9, 0, 0, 64, MemoryUse()))
        life += [PrefillProgress(request_id, n, 9) for n in sorted(draw(st.lists(st.integers(0, 9), max_size=3)))]
        texts = draw(st.lists(st.text(max_size=3), max_size=8))
        life += [delta(request_id, text, n) for n, text in enumerate(texts)]
        streams.append([*life, finished(request_id, "".join(texts))])
    streams.append([EngineStats(1, 1, 1, 1, 0.0, n) for n in draw(st.lists(st.floats(0, 9), max_size=3))])
    streams.append([*(ModelLoading("m", f) for f in draw(st.lists(st.floats(0, 1), max_size=3))), loaded("m")])
    mixed: list[EngineEvent] = []
    while any(streams):
        mixed.append(draw(st.sampled_from([stream for stream in streams if stream])).pop(0))
    return mixed


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(events=lives(), cuts=st.lists(st.integers(0, 60), max_size=4))
def test_merging_in_any_portions_keeps_every_promise(events: list[EngineEvent], cuts: list[int]) -> None:
    merged: list[EngineEvent] = []
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(events)], strict=True):
        merged += merge_events(merge_events(events[start:end]))
    for request_id in "abcd":
        own = [e for e in events if getattr(e, "request_id", None) == request_id]
        if own:
            kept = [e for e in merged if getattr(e, "request_id", None) == request_id]
            check_request(kept, request_id)  # type: ignore[arg-type]  # these have a request
            assert kept[-1] == own[-1]
    lossless, kept_whole = ([e for e in all_ if not isinstance(e, MERGEABLE)] for all_ in (events, merged))
    assert sorted(map(repr, lossless)) == sorted(map(repr, kept_whole))
    newest = [e for e in events if isinstance(e, EngineStats)][-1:]
    assert [e for e in merged if isinstance(e, EngineStats)][-1:] == newest


class FakeChannel:
    """A pipe whose reader sleeps until `wake`."""

    def __init__(self, error: Exception | None = None) -> None:
        self.sent: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.awake = threading.Event()
        self.is_entered = threading.Event()
        self.error = error

    def send(self, message: Any) -> None:
        self.is_entered.set()
        assert self.awake.wait(20)
        if self.error is not None:
            raise self.error
        self.sent.put(message)

    def all_sent(self) -> list[Any]:
        return [self.sent.get_nowait() for _ in range(self.sent.qsize())]


def start_outbox(
    channel: FakeChannel, failures: list[Exception] | None = None, *, text_every_s: float = 0.0
) -> Outbox[EngineEvent]:
    kept = failures if failures is not None else []
    outbox: Outbox[EngineEvent] = Outbox(
        channel,  # type: ignore[arg-type]  # a stand-in
        on_failure=kept.append,
        text_every_s=text_every_s,
    )
    outbox.start()
    return outbox


def test_a_sleeping_reader_holds_up_no_writer_and_loses_nothing() -> None:
    channel = FakeChannel()
    outbox = start_outbox(channel)
    outbox.put(Queued("a", 0))
    assert channel.is_entered.wait(20), "the outbox thread sits in send now, and stays there"
    for n in range(5 * COMPACT_AT):
        outbox.put(delta("a", f"{n} ", n))
        outbox.put(EngineStats(1, 0, 0, 1, 0.0, float(n)))
    assert len(outbox._waiting) < COMPACT_AT + 2, "memory stays flat"
    channel.awake.set()
    assert outbox.flush(20)
    sent = channel.all_sent()
    assert "".join(e.text for e in sent if isinstance(e, TextDelta)) == "".join(f"{n} " for n in range(5 * COMPACT_AT))
    assert len(sent) < 10
    outbox.close(5)


FOR_EVER_S = 1000.0


def test_text_gathers_until_something_else_comes_and_is_sent_as_one() -> None:
    channel = FakeChannel()
    channel.awake.set()
    outbox = start_outbox(channel, text_every_s=FOR_EVER_S)
    outbox.put(delta("a", "one ", 1))
    assert channel.sent.get(timeout=20) == delta("a", "one ", 1), "the first token does not wait"
    outbox.put(delta("a", "two ", 2))
    outbox.put(delta("a", "three", 3))
    outbox.put(Queued("b", 0))
    assert [channel.sent.get(timeout=20) for _ in range(2)] == [delta("a", "two three", 3), Queued("b", 0)]
    outbox.put(delta("a", " four", 4))
    assert channel.sent.get(timeout=20) == delta("a", " four", 4), "nothing of its kind was sent a moment ago"
    outbox.put(delta("b", "first", 1))
    assert channel.sent.get(timeout=20) == delta("b", "first", 1), "nor does that of another answer wait"
    outbox.close(5)


def test_text_that_gathers_is_sent_in_time_and_by_flush_and_by_the_end() -> None:
    for every_s, ends in ((0.001, lambda _: None), (FOR_EVER_S, lambda box: box.flush(20))):
        channel = FakeChannel()
        channel.awake.set()
        outbox = start_outbox(channel, text_every_s=every_s)
        for n, word in enumerate(("one", "two"), 1):
            outbox.put(delta("a", word, n))
            ends(outbox)
            assert channel.sent.get(timeout=20) == delta("a", word, n)
        outbox.put(delta("a", "three", 3))
        outbox.close(20)
        assert channel.all_sent() == [delta("a", "three", 3)]


def test_flush_returns_when_all_is_sent_and_says_when_it_is_not() -> None:
    channel = FakeChannel()
    outbox = start_outbox(channel)
    assert outbox.flush(0.0), "nothing was put"
    outbox.put(Queued("a", 0))
    assert not outbox.flush(0.01)
    channel.awake.set()
    assert outbox.flush(20)
    assert channel.all_sent() == [Queued("a", 0)]
    outbox.close(5)


def test_close_sends_what_is_waiting_and_takes_no_more() -> None:
    channel = FakeChannel()
    outbox = start_outbox(channel)
    outbox.put(Queued("a", 1))
    channel.awake.set()
    outbox.put(Queued("a", 0))
    outbox.close(20)
    outbox.put(Queued("a", 9))
    assert channel.all_sent() == [Queued("a", 1), Queued("a", 0)]


@pytest.mark.parametrize(("error", "n_told"), [(BrokenPipeError(), 0), (TypeError("no message"), 1)])
def test_a_reader_that_is_gone_ends_it_in_silence_and_a_bug_is_told(error: Exception, n_told: int) -> None:
    failures: list[Exception] = []
    channel = FakeChannel(error)
    channel.awake.set()
    outbox = start_outbox(channel, failures)
    outbox.put(Queued("a", 0))
    outbox.close(20)
    assert not outbox.flush(0.0)
    assert failures == [error] * n_told


def test_merge_accepts_any_sequence() -> None:
    nothing: Sequence[EngineEvent] = ()
    assert merge_events(nothing) == []
