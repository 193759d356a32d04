"""A running child as its supervisor holds it: the process, our end of the pipe, and the ways to end it."""

import os
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

_REAP_STEP_S = 0.001


class ProcessHandle(Protocol):
    """What is used of `multiprocessing.Process`; tests have a second one that runs in a thread."""

    @property
    def sentinel(self) -> int:
        """What `multiprocessing.connection.wait` waits on; on Windows the process handle."""

    @property
    def exitcode(self) -> int | None:
        """None while it runs."""

    def terminate(self) -> None:
        """Ask the system to end it (SIGTERM)."""

    def kill(self) -> None:
        """End it (SIGKILL)."""

    def close(self) -> None:
        """Free the handles; ValueError while it runs."""


@dataclass(frozen=True, slots=True)
class ChildProcess:
    """One started child. `connection` is the app's end; the child's end is already closed on this side."""

    process: ProcessHandle
    connection: "Connection[Any, Any]"
    pid: int

    def end(self) -> None:
        """End it now and free what it holds here; for one that has said all it had to say."""
        self.process.kill()
        self.connection.close()
        if self.wait_exit_code(5.0) is not None:
            self.process.close()

    def wait_exit_code(self, timeout_s: float) -> int | None:
        """The exit code once the sentinel has fired; None if it cannot be had in time.

        Polled, because another thread that starts a child reaps this one in passing (`multiprocessing` does that), and
        for a moment the code is neither with the system nor with us.
        """
        deadline = time.monotonic() + timeout_s
        while (code := self.process.exitcode) is None and time.monotonic() < deadline:
            time.sleep(_REAP_STEP_S)
        return code_of_dying(self.pid) if code is None else code


def code_of_dying(pid: int) -> int | None:
    """The exit code of a process that is on its way out but cannot be waited for yet; None where it cannot be known.

    A GPU driver may take seconds to free what the process held, after its pipes are closed; the user is told before
    that. Linux alone shows the code (proc(5), the last field of `stat`); 0 may also mean that it will not tell.
    """
    try:
        status = int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[-1])
    except (OSError, ValueError, IndexError):
        return None
    return os.waitstatus_to_exitcode(status) or None
