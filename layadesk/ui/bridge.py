"""The only hop from other threads into the GUI thread: feeds and futures of the use cases.

Three promises: everything arrives in order and nothing is lost; the text of answers is merged and handed over at most
30 times a second; nothing of an answer comes after its TurnEnded, unless it is started again.
"""

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from typing import TypeVar

import shiboken6
from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError
from layadesk.protocol.feed import Feed
from layadesk.usecases.turns import TurnEnded, TurnEvent, TurnProgress, TurnStarted, TurnText, TurnThinking

log = logging.getLogger(__name__)

FLUSH_MS = 33
N_ENDED_KEPT = 256

ValueT = TypeVar("ValueT")


class Bridge(QObject):
    """Lives in the GUI thread; one for the window. Receivers are methods of QObjects, called on the GUI thread only.

    A receiver whose QObject is gone is skipped. After `close` nothing is delivered any more.
    """

    _woken = Signal()
    _text_came = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._is_open = True
        self._inbox: deque[Callable[[], None]] = deque()
        self._is_awake = False
        self._turns = _TurnQueue()
        self._turn_receiver: Callable[[TurnEvent], None] | None = None
        self._unsubscribe: list[Callable[[], None]] = []
        self._flush_timer = QTimer(self)
        self._flush_timer.setSingleShot(True)
        self._flush_timer.setInterval(FLUSH_MS)
        self._flush_timer.timeout.connect(self._on_flush)
        # Queued also for what is published on the GUI thread itself, so that no receiver is entered twice.
        self._woken.connect(self._on_woken, Qt.ConnectionType.QueuedConnection)
        self._text_came.connect(self._on_text_came, Qt.ConnectionType.QueuedConnection)

    def follow(self, feed: Feed[ValueT], receiver: Callable[[ValueT], None]) -> None:
        """Call `receiver` with every event of `feed`, one by one."""
        self._unsubscribe.append(feed.subscribe(lambda event: self._post(partial(_call, receiver, event))))

    def follow_turns(self, feed: Feed[TurnEvent], receiver: Callable[[TurnEvent], None]) -> None:
        """Call `receiver` with every turn event, the text merged. One receiver for the window."""
        self._turn_receiver = receiver
        self._unsubscribe.append(feed.subscribe(self._take_turn))

    def deliver(
        self,
        future: Future[ValueT],
        on_result: Callable[[ValueT], None],
        *,
        on_error: Callable[[ErrorReport], None],
    ) -> None:
        """Call one of the two when `future` is done. Nothing for a cancelled one."""
        future.add_done_callback(lambda done: self._post(partial(_settle, done, on_result, on_error)))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits to be handed over."""
        with self._lock:
            return not self._inbox and not self._turns.has_events and not self._is_awake

    def close(self) -> None:
        """Deliver what is there, then end all subscriptions. GUI thread."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        self._flush_timer.stop()
        self._on_woken()
        with self._lock:
            self._is_open = False
            self._inbox.clear()

    def _post(self, call: Callable[[], None]) -> None:
        with self._lock:
            if not self._is_open:
                return
            self._inbox.append(call)
            wake, self._is_awake = not self._is_awake, True
            if wake:
                self._woken.emit()  # under the lock, so that the bridge cannot be deleted in between

    def _take_turn(self, event: TurnEvent) -> None:
        with self._lock:
            if not self._is_open:
                return
            if not self._turns.add(event):
                return
            if isinstance(event, TurnText | TurnThinking | TurnProgress):
                if self._turns.ask_for_flush():
                    self._text_came.emit()
                return
            wake, self._is_awake = not self._is_awake, True
            if wake:
                self._woken.emit()

    @Slot()
    def _on_text_came(self) -> None:
        if not self._flush_timer.isActive():
            self._flush_timer.start()

    @Slot()
    def _on_flush(self) -> None:
        self._deliver_turns()

    @Slot()
    def _on_woken(self) -> None:
        self._deliver_turns()
        with self._lock:
            calls = list(self._inbox)
            self._inbox.clear()
            self._is_awake = False
        for call in calls:
            _guarded(call)

    def _deliver_turns(self) -> None:
        with self._lock:
            events = self._turns.take()
        for event in events:
            if self._turn_receiver is not None:
                _guarded(partial(_call, self._turn_receiver, event))


class _TurnQueue:
    """Turn events that wait for the GUI thread. Not thread-safe: the bridge's lock is held."""

    def __init__(self) -> None:
        self._events: list[TurnEvent] = []
        self._last: dict[str, int] = {}  # message id → index of its newest waiting event
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._flush_asked = False

    def add(self, event: TurnEvent) -> bool:
        """Append, or merge with the newest event of the same answer; false when that answer has ended."""
        message_id = _message_id(event)
        if isinstance(event, TurnStarted):
            self._ended.pop(message_id, None)  # an answer that is gone on with
        if message_id in self._ended:
            return False
        if isinstance(event, TurnEnded):
            self._ended[message_id] = None
            if len(self._ended) > N_ENDED_KEPT:
                self._ended.popitem(last=False)
        index = self._last.get(message_id)
        merged = None if index is None else _merge(self._events[index], event)
        if index is not None and merged is not None:
            self._events[index] = merged
        else:
            self._last[message_id] = len(self._events)
            self._events.append(event)
        return True

    def ask_for_flush(self) -> bool:
        """True for the first one who asks since the last `take`."""
        first, self._flush_asked = not self._flush_asked, True
        return first

    @property
    def has_events(self) -> bool:
        """Whether something waits."""
        return bool(self._events)

    def take(self) -> list[TurnEvent]:
        """All waiting events, in order."""
        events, self._events = self._events, []
        self._last.clear()
        self._flush_asked = False
        return events


def _message_id(event: TurnEvent) -> str:
    return event.message_id if hasattr(event, "message_id") else event.answer.message_id


def _merge(old: TurnEvent, new: TurnEvent) -> TurnEvent | None:
    """One event for two, where nothing is lost by it."""
    if isinstance(old, TurnText) and isinstance(new, TurnText):
        return replace(old, text=old.text + new.text, n_decoded=new.n_decoded)
    if isinstance(old, TurnThinking) and isinstance(new, TurnThinking):
        return replace(old, text=old.text + new.text, n_decoded=new.n_decoded)
    if isinstance(old, TurnProgress) and isinstance(new, TurnProgress):
        return new
    return None


def _call(receiver: Callable[[ValueT], None], value: ValueT) -> None:
    method = receiver.func if isinstance(receiver, partial) else receiver
    owner = getattr(method, "__self__", None)
    if isinstance(owner, QObject) and not shiboken6.isValid(owner):
        return
    receiver(value)


def _settle(done: Future[ValueT], on_result: Callable[[ValueT], None], on_error: Callable[[ErrorReport], None]) -> None:
    try:
        result = done.result()
    except CancelledError:
        return
    except LayaDeskError as error:
        _call(on_error, error.report)
        return
    except Exception as error:
        log.exception("a use case failed")
        _call(on_error, ErrorReport(ErrorCode.INTERNAL, {"detail": type(error).__name__}))
        return
    _call(on_result, result)


def _guarded(call: Callable[[], object]) -> None:
    """One receiver that fails must not cost the others their events."""
    try:
        call()
    except Exception:
        log.exception("a receiver in the window failed")
