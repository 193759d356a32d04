"""The log of the app itself, beside those of its children (native_log.py)."""

import logging
import logging.handlers
import sys
from pathlib import Path

LOG_BYTES = 1_000_000
N_OLD_LOGS = 3
LOG_FORMAT = "%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s"


def start_log(log_dir: Path) -> None:
    """Log to `log_dir/app.log`, never message text; to stderr, errors only, where no file can be written there.

    A windowed program may have neither.
    """
    root = logging.getLogger("layadesk")
    root.setLevel(logging.INFO)
    for old in root.handlers[:]:
        root.removeHandler(old)
        old.close()
    logging.raiseExceptions = False  # a full disk: no traceback for each record that cannot be kept
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            log_dir / "app.log", maxBytes=LOG_BYTES, backupCount=N_OLD_LOGS, encoding="utf-8"
        )
    except OSError:
        if sys.stderr is None:
            return
        handler = logging.StreamHandler()
        handler.setLevel(logging.ERROR)
    handler.setFormatter(logging.Formatter(LOG_FORMAT))
    root.addHandler(handler)
