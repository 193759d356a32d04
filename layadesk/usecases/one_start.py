"""One window a data folder, also after two double clicks: a later start waits until the first one's window is there."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.model_library.disk import process_lock

log = logging.getLogger(__name__)

PATIENCE_S = 30.0  # a first start from a slow disk, or the end of a program that is still saving
_LOOK_S = 0.1


@contextmanager
def only_start(
    run_dir: Path, has_come_forward: Callable[[], bool], *, patience_s: float = PATIENCE_S
) -> Iterator[bool]:
    """Inside the block: whether this start is to open the window; False where another window has come forward instead.

    The folder is held until the block ends, or the process. Raises ALREADY_RUNNING where somebody holds it for
    `patience_s` and no window answers. Where the folder cannot be held at all, only a window that answers counts.
    """
    end = time.monotonic() + patience_s
    with ExitStack() as held:
        while not (is_open := _answers(has_come_forward, is_last=time.monotonic() > end)):
            try:
                held.enter_context(process_lock(run_dir / "window.lock", timeout_s=0.0))
                break
            except LayaDeskError as error:
                if error.report.code is not ErrorCode.DATABASE_BUSY:
                    log.info("nobody keeps a second window away: %s", error)
                    break
            if time.monotonic() > end:
                raise fail(ErrorCode.ALREADY_RUNNING, path=str(run_dir.parent))
            time.sleep(_LOOK_S)
        yield not is_open


def _answers(has_come_forward: Callable[[], bool], *, is_last: bool) -> bool:
    """A window that does not answer may be one that is closing; only in the end is it one that hangs."""
    try:
        return has_come_forward()
    except LayaDeskError as error:
        if is_last or error.report.code is not ErrorCode.ALREADY_RUNNING:
            raise
        return False
