"""What keeps a child from ever waiting for a slow reader: its events leave through a thread that merges them.

Three kinds of event, three promises: text is lossless and mergeable; progress and statistics are "latest wins"; the
rest is lossless and in order. Used by `child.py` in both children.

Text alone leaves at most 30 times a second, which nobody can read faster. To send a token, and to be woken for it on
the other side, takes 0.3 ms of the two cores that compute the next one: of SmolLM2's, a twentieth.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from layadesk.protocol.channel import Channel
from layadesk.protocol.events import EngineStats, Loading, ModelLoading, Pong, PrefillProgress, TextDelta, ThinkingDelta

SentT = TypeVar("SentT")

COMPACT_AT = 1024  # waiting messages; keeps memory flat while the reader sleeps
MAX_MERGED_CHARS = 2**20  # far below the frame limit of the channel, whatever the characters are
TEXT_EVERY_S = 1 / 30

_TEXTS = (TextDelta, ThinkingDelta)
_LATEST_WINS = (PrefillProgress, Loading, ModelLoading, EngineStats, Pong)


def merge_events(waiting: Sequence[SentT]) -> list[SentT]:
    """`waiting` as fewer messages that say the same.

    Only neighbours are joined, where neighbours are events about the same request (or model) with no other event about
    it between them. So nothing passes anything of its own request: a delta stays before its terminal event.
    """
    merged: list[SentT] = []
    newest: dict[str, int] = {}  # subject -> place of its last event in `merged`
    texts: dict[int, list[str]] = {}  # place -> parts; joined once, since repeated addition is quadratic
    n_chars: dict[int, int] = {}
    for event in waiting:
        subject = _subject(event)
        at = newest.get(subject)
        before = None if at is None else merged[at]
        if at is None or type(before) is not type(event):
            pass
        elif isinstance(event, _TEXTS) and isinstance(before, _TEXTS):
            if n_chars.setdefault(at, len(before.text)) + len(event.text) <= MAX_MERGED_CHARS:
                texts.setdefault(at, [before.text]).append(event.text)
                n_chars[at] += len(event.text)
                merged[at] = event
                continue
        elif isinstance(event, _LATEST_WINS):
            merged[at] = event
            continue
        newest[subject] = len(merged)
        merged.append(event)
    for at, parts in texts.items():
        merged[at] = msgspec.structs.replace(merged[at], text="".join(parts))  # type: ignore[type-var]  # one of _TEXTS
    return merged


def _subject(event: object) -> str:
    """What an event is about; the order of events about one thing is kept."""
    request_id = getattr(event, "request_id", None)
    if request_id is not None:
        return f"request {request_id}"
    model_id = getattr(event, "model_id", None)
    if model_id is not None:
        return f"model {model_id}"
    loaded = getattr(event, "loaded", None)
    if loaded is not None:
        return f"model {loaded.model_id}"
    return type(event).__name__


class Outbox(Generic[SentT]):
    """Sends messages on its own thread, "outbox". `put` may be called from any thread and never waits for the reader.

    Text that comes within `text_every_s` of other text is held until then, or until anything else is put. The first
    token of an answer and its end never wait.

    A reader that is gone ends the thread in silence: the child's inbox thread sees that too, and leaves. Any other
    failure (a message that cannot be encoded) goes to `on_failure`, on the outbox thread, which then ends.
    """

    def __init__(
        self,
        channel: Channel[SentT, Any],
        *,
        merge: Callable[[Sequence[SentT]], list[SentT]] = merge_events,
        on_failure: Callable[[Exception], None],
        text_every_s: float = TEXT_EVERY_S,
    ) -> None:
        self._channel = channel
        self._text_every_s = text_every_s
        self._is_urgent = False  # something waits that is no text
        self._merge = merge
        self._on_failure = on_failure
        self._waiting: list[SentT] = []
        self._compact_at = COMPACT_AT
        self._n_put = 0
        self._n_sent = 0
        self._is_resting = False
        self._is_closing = False
        self._has_ended = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="outbox", daemon=True)

    def start(self) -> None:
        """Start sending."""
        self._thread.start()

    def put(self, message: SentT) -> None:
        """Queue one message; dropped when the other end is gone or `close` was called."""
        with self._changed:
            if self._is_closing or self._has_ended:
                return
            self._waiting.append(message)
            self._n_put += 1
            self._is_urgent |= not isinstance(message, _TEXTS) or message.n_decoded <= 1
            if len(self._waiting) >= self._compact_at:
                self._waiting = self._merge(self._waiting)
                self._compact_at = max(COMPACT_AT, 2 * len(self._waiting))
            if self._is_urgent or not self._is_resting:
                self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything put so far is in the pipe; False when that did not happen in time.

        Call it before native code that may end the process, so that the app knows what the child was doing.
        """
        with self._changed:
            target = self._n_put
            self._is_urgent = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._n_sent >= target or self._has_ended, timeout_s)
            return self._n_sent >= target

    def close(self, timeout_s: float) -> None:
        """Send what is waiting, then stop; gives up after `timeout_s`."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            while self._send_waiting():
                pass
        except OSError:
            pass
        except Exception as error:  # noqa: BLE001  # a thread's top: told, never swallowed
            self._on_failure(error)
        finally:
            with self._changed:
                self._has_ended = True
                self._changed.notify_all()

    def _send_waiting(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closing)
            if not self._waiting:
                return False
            batch, self._waiting = self._waiting, []
            self._compact_at = COMPACT_AT
            self._is_urgent = False
            n_put = self._n_put
        began = time.monotonic()
        for message in self._merge(batch):
            self._channel.send(message)
        with self._changed:
            self._n_sent = n_put
            self._changed.notify_all()
            if isinstance(batch[-1], _TEXTS):
                self._rest(began + self._text_every_s)
        return True

    def _rest(self, until: float) -> None:
        """Let text gather. Nobody wakes this thread for it meanwhile: that alone costs more than sending it."""
        self._is_resting = True
        self._changed.wait_for(lambda: self._is_urgent or self._is_closing, max(0.0, until - time.monotonic()))
        self._is_resting = False
