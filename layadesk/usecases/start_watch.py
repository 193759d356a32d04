"""Safe mode: after two starts in a row that never got anywhere, the third leaves graphics cards alone.

What ends a program in its first minute, before anybody has asked it anything, is most often a graphics driver.
"""

import logging
import threading
from collections.abc import MutableMapping
from pathlib import Path

from layadesk.domain.errors import ErrorCode, ErrorReport
from layadesk.protocol.options import BACKEND_MODULES

log = logging.getLogger(__name__)

N_BROKEN = 2
SETTLED_S = 60.0
_MOST_BYTES = 16


class StartWatch:
    """Counts starts that were never over, in a small file. A start is over when it is settled; any thread."""

    def __init__(self, run_dir: Path) -> None:
        self._file = run_dir / "starts"
        self._timer: threading.Timer | None = None

    def begin(self, *, settled_s: float = SETTLED_S) -> bool:
        """Note a start; True where N_BROKEN starts before it were never over, as far as the disk can tell."""
        n_broken = self._read()
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(str(n_broken + 1), encoding="ascii")
        except OSError as error:
            log.info("starts are not counted: %s", error)
            return False
        self._timer = threading.Timer(settled_s, self.settle)
        self._timer.daemon = True
        self._timer.start()
        return n_broken >= N_BROKEN

    def settle(self) -> None:
        """The start is over: the program has run for a while, or has been closed."""
        if self._timer is not None:
            self._timer.cancel()
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            log.info("starts are not counted: %s", error)

    def _read(self) -> int:
        try:
            with self._file.open("rb") as file:
                return max(0, int(file.read(_MOST_BYTES)))
        except (OSError, ValueError):
            return 0


def leave_gpus_alone(environ: MutableMapping[str, str]) -> None:
    """For this process and the children that are started from it: no device of CUDA or Vulkan, no modules."""
    environ["CUDA_VISIBLE_DEVICES"] = ""
    environ["GGML_VK_VISIBLE_DEVICES"] = ""
    environ[BACKEND_MODULES] = ""


def safe_mode_report() -> ErrorReport:
    """What the window says about it."""
    return ErrorReport(ErrorCode.SAFE_MODE, {"n": N_BROKEN})
