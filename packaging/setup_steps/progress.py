"""What the newcomer reads: numbered steps with their time, and one sentence when something cannot go on."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class SetupFailure(Exception):
    """One sentence for the newcomer; `advice` are lines to type or to read, shown below it."""

    def __init__(self, sentence: str, *advice: str) -> None:
        super().__init__(sentence)
        self.advice = advice


def show_duration(seconds: float) -> str:
    """`8.2 s`, `75 s`, `9 min 30 s`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def show_size(n_bytes: int) -> str:
    """GiB with one decimal, or MiB below half a GiB."""
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**29 else f"{n_bytes / 2**20:.0f} MiB"


class Progress:
    """Prints `[2/6] title`, notes below it, and the time each step took."""

    def __init__(
        self, n_steps: int, *, write: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._n_steps = n_steps
        self._write = write or (lambda line: print(line, flush=True))
        self._clock = clock
        self._n_done = 0
        self._started = clock()

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """One numbered step; a failure inside passes through and is told by the caller."""
        self._n_done += 1
        self._write(f"[{self._n_done}/{self._n_steps}] {title}")
        started = self._clock()
        yield
        self._write(f"      took {show_duration(self._clock() - started)}")

    def note(self, text: str) -> None:
        """A line inside the step."""
        self._write(f"      {text}")

    def say(self, text: str) -> None:
        """A line outside of all steps."""
        self._write(text)

    @property
    def elapsed(self) -> str:
        """Since this object was made."""
        return show_duration(self._clock() - self._started)
