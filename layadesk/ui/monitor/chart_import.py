"""Bring in pyqtgraph and numpy on a thread of their own: in the GUI thread the window would stand still for 0.3 s."""

import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from layadesk.ui.monitor.timeline_view import TimelineView


def load() -> "Future[type[TimelineView]]":
    """The class of the charts, when it is there. The import makes no Qt object, so the thread touches none."""
    future: Future[type[TimelineView]] = Future()
    threading.Thread(target=_run, args=(future,), name="chart-import", daemon=True).start()
    return future


def _run(future: "Future[type[TimelineView]]") -> None:
    try:
        from layadesk.ui.monitor.timeline_view import TimelineView  # noqa: PLC0415 - the reason for this module

        future.set_result(TimelineView)
    except Exception as error:  # noqa: BLE001 - the panel shows figures without curves then
        future.set_exception(error)
