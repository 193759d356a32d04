"""Token bytes to text that may be shown: whole characters only, never any part of a stop string, thoughts apart."""

import codecs
from collections.abc import Sequence

from layadesk.domain.inference import ToolCall
from layadesk.engine.thinking import ThinkingMarks, ThoughtSplitter, n_at_end
from layadesk.engine.tool_calls import ToolCallSplitter

NO_MARKS = ThinkingMarks.of("", {}, ())


class StopFilter:
    """Lets text through up to the first stop string. The result does not depend on how the text is cut."""

    def __init__(self, stops: Sequence[str] = ()) -> None:
        self._stops = tuple(stops)
        self._held = ""  # may be the beginning of a stop string
        self._released: list[str] = []
        self.is_stopped = False

    @property
    def text(self) -> str:
        """All text released so far."""
        return "".join(self._released)

    def push(self, text: str) -> str:
        """Take new text; returns what may be shown now, perhaps nothing. Nothing comes after a stop."""
        if self.is_stopped:
            return ""
        self._held += text
        cut = self._first_stop()
        if cut is not None:
            self.is_stopped = True
            return self._release(cut, keep=0)
        n_keep = max((n_at_end(self._held, stop) for stop in self._stops), default=0)
        return self._release(len(self._held) - n_keep, keep=n_keep)

    def finish(self) -> str:
        """The end: what was held back was no stop string and is returned."""
        return "" if self.is_stopped else self._release(len(self._held), keep=0)

    def _release(self, n: int, *, keep: int) -> str:
        text, self._held = self._held[:n], self._held[n : n + keep]
        if text:
            self._released.append(text)
        return text

    def _first_stop(self) -> int | None:
        """Where the stop string begins that is complete first; of two that end together, the longer one.

        "Complete first", not "begins first": only that is the same for any cutting into tokens.
        """
        found: list[tuple[int, int]] = []
        for stop in self._stops:
            start = self._held.find(stop)
            if start >= 0:
                found.append((start + len(stop), start))
        return min(found)[1] if found else None


class TextStream:
    """The text of one answer and of the thoughts before it. Decode thread.

    `stops` are the request's: they end the answer, and mean nothing in thoughts. `ends` are the template's own: they
    end both. `calls` cuts tool calls out of the answer.
    """

    def __init__(
        self,
        stops: Sequence[str] = (),
        *,
        ends: Sequence[str] = (),
        marks: ThinkingMarks = NO_MARKS,
        is_open: bool = False,
        is_begun: bool = False,
        calls: ToolCallSplitter | None = None,
    ) -> None:
        self._calls = calls
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._splitter = ThoughtSplitter(marks, is_open=is_open, is_begun=is_begun)
        self._thought = StopFilter(ends)
        self._answer = StopFilter((*stops, *ends))

    @property
    def text(self) -> str:
        """All of the answer that was released so far."""
        return self._answer.text if self._calls is None else self._calls.text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls found so far."""
        return () if self._calls is None else tuple(self._calls.calls)

    @property
    def thinking(self) -> str:
        """All of the thoughts that was released so far."""
        return self._thought.text

    @property
    def is_thinking(self) -> bool:
        """Whether the next token is a thought."""
        return self._splitter.is_thinking

    @property
    def is_stopped(self) -> bool:
        """Whether a stop string has come."""
        return self._answer.is_stopped or self._thought.is_stopped

    def push(self, piece: bytes) -> tuple[str, str]:
        """Take the bytes of one token; returns the thought and the answer that may be shown now, perhaps nothing.

        Invalid bytes become U+FFFD; an unfinished character waits for its rest.
        """
        return self._filter(self._splitter.push(self._decoder.decode(piece)))

    def finish(self) -> tuple[str, str]:
        """The end of the answer: what was held back comes; half a character is dropped."""
        thought, answer = self._filter(self._splitter.finish())
        rest = self._answer.finish()
        if self._calls is not None:
            rest = self._calls.push(rest) + self._calls.finish()
        return thought + self._thought.finish(), answer + rest

    def _filter(self, split: tuple[str, str]) -> tuple[str, str]:
        if self.is_stopped:
            return "", ""
        answer = self._answer.push(split[1]) if split[1] else ""
        if answer and self._calls is not None:
            answer = self._calls.push(answer)
        return self._thought.push(split[0]) if split[0] else "", answer
