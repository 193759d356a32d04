"""What a person reads, and what the shell gets, when a command of this folder ends early."""

import sys
from collections.abc import Callable
from pathlib import Path

from setup_steps.progress import SetupFailure

_INTERRUPTED = 130


def outcome(action: Callable[[], int], log: Path) -> int:
    """The status of `action`, whose details go to `log`, made anew; 1 where it failed, 130 after Ctrl-C."""
    try:
        log.parent.mkdir(exist_ok=True)
        log.write_text("", encoding="utf-8")
        return action()
    except SetupFailure as failure:
        print(f"\n{failure}", *failure.advice, f"Everything in detail: {log}", sep="\n  ", file=sys.stderr, flush=True)
        return 1
    except OSError as problem:
        print(f"\nIt had to stop: {problem}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. What is done stays; the same command goes on from here.", file=sys.stderr, flush=True)
        return _INTERRUPTED
