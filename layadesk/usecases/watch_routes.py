"""What can be learned from what was said about routes, for the window."""

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from layadesk.usecases.router_learning import Calibrated, RouterLearning


class WatchRoutes:
    """Any thread; everything returns at once and runs on a thread of its own."""

    def __init__(self, learning: RouterLearning) -> None:
        self._learning = learning
        self._thread = ThreadPoolExecutor(1, "routes")

    def calibrate(self) -> Future[Calibrated]:
        """Fit the router to the corrections; see `RouterLearning.calibrate`."""
        return self._thread.submit(self._learning.calibrate)

    def undo_calibration(self) -> Future[None]:
        """Take the last calibration back."""
        return self._thread.submit(self._learning.undo)

    def export_corrections(self, file: Path) -> Future[int]:
        """Write the corrections in Laya's fine-tuning format; the result is how many."""
        return self._thread.submit(self._learning.export, file)

    def close(self) -> None:
        """Nothing new is taken; what runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)
