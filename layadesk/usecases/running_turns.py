"""The answers that are being made now: their text so far, saved at least once a second, and where to find them.

The store lags up to SAVE_EVERY_S behind; whoever shows a conversation asks here for the live text.
"""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future

from layadesk.domain.chat import Message

log = logging.getLogger(__name__)

SAVE_EVERY_S = 0.5


class RunningTurn:
    """One unfinished answer; it begins with the text that `message` has already. Written by the worker thread that
    brings its events, read by any.
    """

    def __init__(self, message: Message, request_id: str) -> None:
        self.message = message
        self.request_id = request_id
        self.n_decoded = 0
        self.n_chars = len(message.text)
        self.is_dirty = False
        self.is_stopped = False
        self.n_thinking_chars = len(message.thinking)
        self._parts: list[str] = [message.text]
        self._thinking_parts: list[str] = [message.thinking]

    def append(self, text: str, n_decoded: int) -> None:
        """Add new text at the end."""
        self._parts.append(text)
        self.n_chars += len(text)
        self.n_decoded = n_decoded
        self.is_dirty = True

    def append_thinking(self, text: str, n_decoded: int) -> None:
        """Add new thinking at its end."""
        self._thinking_parts.append(text)
        self.n_thinking_chars += len(text)
        self.n_decoded = n_decoded
        self.is_dirty = True

    def restart(self) -> None:
        """Begin anew, with nothing written."""
        self._parts.clear()
        self._thinking_parts.clear()
        self.n_chars = self.n_thinking_chars = self.n_decoded = 0
        self.is_dirty = True

    @property
    def text(self) -> str:
        """The whole text so far."""
        return _whole(self._parts)

    @property
    def thinking(self) -> str:
        """All thinking so far."""
        return _whole(self._thinking_parts)


def _whole(parts: list[str]) -> str:
    if len(parts) > 1:
        parts[:] = ["".join(parts)]
    return parts[0] if parts else ""


class RunningTurns:
    """All unfinished answers by message id; a thread "turn-saver" stores what is new while there are any."""

    def __init__(self, save: Callable[[str, str, int, str], Future[None]]) -> None:
        self._save = save
        self._lock = threading.Condition()
        self._turns: dict[str, RunningTurn] = {}
        self._thread: threading.Thread | None = None

    def add(self, turn: RunningTurn) -> None:
        """Begin to watch over an answer."""
        with self._lock:
            self._turns[turn.message.message_id] = turn
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="turn-saver", daemon=True)
                self._thread.start()
            self._lock.notify_all()

    def append(self, message_id: str, text: str, n_decoded: int) -> None:
        """Add new text to an answer; silent when it has ended."""
        with self._lock:
            turn = self._turns.get(message_id)
            if turn is not None:
                turn.append(text, n_decoded)

    def append_thinking(self, message_id: str, text: str, n_decoded: int) -> None:
        """Add new thinking to an answer; silent when it has ended."""
        with self._lock:
            turn = self._turns.get(message_id)
            if turn is not None:
                turn.append_thinking(text, n_decoded)

    def restart(self, message_id: str) -> None:
        """Forget what an answer has so far; silent when it has ended."""
        with self._lock:
            turn = self._turns.get(message_id)
            if turn is not None:
                turn.restart()

    def stop(self, message_id: str) -> str | None:
        """Mark an answer as stopped, also one that has not begun; its request id, None when it has ended."""
        with self._lock:
            turn = self._turns.get(message_id)
            if turn is None:
                return None
            turn.is_stopped = True
            return turn.request_id

    def end(self, message_id: str) -> RunningTurn | None:
        """Stop watching over an answer; None when it has ended already."""
        with self._lock:
            turn = self._turns.pop(message_id, None)
            self._lock.notify_all()
            return turn

    def of_request(self, request_id: str) -> RunningTurn | None:
        """The unfinished answer that the engine knows by this id."""
        with self._lock:
            return next((turn for turn in self._turns.values() if turn.request_id == request_id), None)

    def find(self, message_id: str) -> RunningTurn | None:
        """The unfinished answer with this id."""
        with self._lock:
            return self._turns.get(message_id)

    def in_conversation(self, conversation_id: str) -> tuple[RunningTurn, ...]:
        """The unfinished answers of one conversation."""
        with self._lock:
            return tuple(t for t in self._turns.values() if t.message.conversation_id == conversation_id)

    def live_text(self, message_id: str) -> str | None:
        """The text so far of an unfinished answer, None for any other message."""
        with self._lock:
            turn = self._turns.get(message_id)
            return None if turn is None else turn.text

    def live_thinking(self, message_id: str) -> str | None:
        """The thinking so far of an unfinished answer, None for any other message."""
        with self._lock:
            turn = self._turns.get(message_id)
            return None if turn is None else turn.thinking

    def message_ids(self) -> tuple[str, ...]:
        """All unfinished answers."""
        with self._lock:
            return tuple(self._turns)

    def wait_until_none(self, timeout_s: float) -> bool:
        """Wait until every answer has ended; false when the time is up. Blocks."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._turns, timeout_s)

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._lock.wait_for(lambda: bool(self._turns), 10 * SAVE_EVERY_S):
                    self._thread = None
                    return
                self._lock.wait_for(lambda: not self._turns, SAVE_EVERY_S)
                dirty = [
                    (key, turn.text, turn.n_decoded, turn.thinking)
                    for key, turn in self._turns.items()
                    if turn.is_dirty
                ]
                for key, *_ in dirty:
                    self._turns[key].is_dirty = False
            for state in dirty:
                self._save(*state)
