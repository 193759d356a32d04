"""What this installation has learned, on disk: `{"format": 1, "offsets": {...}, "factors": {...}, "raises": {...}}`.

Written by the app (`usecases/calibrate_router.py`), read by the router at its start. One that cannot be used is as good
as none.
"""

import json
import logging
from pathlib import Path
from typing import Final

from layadesk.domain.routing_labels import TASKS
from layadesk.router.calibration import NOTHING_LEARNED, Learned

log = logging.getLogger(__name__)

FORMAT: Final = 1
_MOST_OFFSET: Final = 4.0


def read_learned(file: Path) -> Learned:
    """The file's content, within bounds; nothing learned where there is no file or it cannot be used."""
    try:
        fields = json.loads(file.read_text("utf-8"))
        _check_format(fields["format"])
        return Learned(
            _numbers(fields.get("offsets", {}), TASKS, -_MOST_OFFSET, _MOST_OFFSET),
            _numbers(fields.get("factors", {}), ("task",), 0.2, 5.0),
            _numbers(fields.get("raises", {}), TASKS, 0.0, 2.0),
        )
    except FileNotFoundError:
        return NOTHING_LEARNED
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        log.warning("what the router has learned cannot be read: %s", type(error).__name__)
        return NOTHING_LEARNED


def _check_format(found: object) -> None:
    if found != FORMAT:
        raise ValueError("format")


def _numbers(value: dict[str, float], known: tuple[str, ...], low: float, high: float) -> dict[str, float]:
    return {name: min(high, max(low, float(number))) for name, number in value.items() if name in known}
