"""The cells of the scripted backend: what a sequence holds, what it has forgotten, and what must follow."""

from layadesk.domain.errors import ErrorCode, fail

BOS, EOG, TURN, END = 256, 257, 258, 259  # beyond the 256 bytes
ANSWER_HEAD = [TURN, *b"assistant\n"]


class ScriptedCells:
    """The tokens of one sequence, and how much of the answer in them has been compared with the script.

    `numbers` are its cells; sequences that share one have the same number there. Of the first `n_forgotten`, layers
    with a sliding window have nothing left.
    """

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.numbers: list[int] = []
        self.n_forgotten = 0
        self._begin: int | None = None  # where the answer begins
        self._script = b""
        self._n_right = 0

    def copy(self) -> "ScriptedCells":
        """The same cells for another sequence."""
        twin = ScriptedCells()
        twin.tokens, twin.numbers, twin.n_forgotten = self.tokens[:], self.numbers[:], self.n_forgotten
        return twin

    def append(self, token: int, number: int, *, n_swa: int) -> None:
        """One more. INTERNAL where the window before it is gone: its logits would be wrong."""
        at = len(self.tokens)
        if n_swa and self.n_forgotten > max(0, at - n_swa):
            raise fail(ErrorCode.INTERNAL, reason="the window before this token is gone")
        if token == TURN:
            self._begin, self._n_right = None, 0
        self.tokens.append(token)
        self.numbers.append(number)
        if n_swa:
            self.n_forgotten = max(self.n_forgotten, at + 1 - n_swa)

    def cut(self, length: int) -> None:
        """Keep the first `length` tokens; nothing is kept where the window before the cut is gone."""
        length = 0 if length <= self.n_forgotten else length
        del self.tokens[length:], self.numbers[length:]
        self.n_forgotten = min(self.n_forgotten, length)
        if self._begin is not None and length < self._begin:
            self._begin = None
            self._n_right = 0
        elif self._begin is not None:
            self._n_right = min(self._n_right, length - self._begin)

    def next_token(self, text: str | None) -> int:
        """What follows. INTERNAL where the cells hold another answer than the one that was given."""
        if self._begin is None:
            self._begin = last_end(self.tokens, ANSWER_HEAD)
            self._script = _said_last(self.tokens[: self._begin]) if text is None else text.encode()
        new = self.tokens[self._begin + self._n_right :]
        if new != list(self._script[self._n_right : self._n_right + len(new)]):
            raise fail(ErrorCode.INTERNAL, reason="the cells hold another answer than the one that was given")
        self._n_right += len(new)
        return self._script[self._n_right] if self._n_right < len(self._script) else EOG


def _said_last(prompt: list[int]) -> bytes:
    """The last user message of a prompt."""
    begin = last_end(prompt, [TURN, *b"user\n"])
    end = prompt.index(END, begin) if END in prompt[begin:] else len(prompt)
    return bytes(token for token in prompt[begin:end] if token < 256)


def last_end(tokens: list[int], pattern: list[int]) -> int:
    """Where the last occurrence of `pattern` ends; the end of `tokens` where there is none."""
    for start in range(len(tokens) - len(pattern), -1, -1):
        if tokens[start : start + len(pattern)] == pattern:
            return start + len(pattern)
    return len(tokens)
