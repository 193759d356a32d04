"""The thread "loader": an expert comes into memory while others go on answering; a load can be called off."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import ExpertSpec
from layadesk.engine.backend import Backend, Expert, LoadCancelled

log = logging.getLogger(__name__)

PROGRESS_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """How far the load is, 0-1."""

    model_id: str
    fraction: float


@dataclass(frozen=True, slots=True)
class LoadEnded:
    """The end of a load: an expert, an error, or neither when it was called off."""

    spec: ExpertSpec
    expert: Expert | None
    error: ErrorReport | None
    seconds: float


class ModelLoader:
    """Loads one expert at a time; what happens goes to `post`, on the loader thread. Its methods: decode thread.

    `before_load` is called right before native code that a damaged file may bring down, on the loader thread.
    """

    def __init__(
        self,
        backend: Backend,
        post: Callable[[LoadProgress | LoadEnded], None],
        *,
        clock: Callable[[], float],
        before_load: Callable[[], object],
    ) -> None:
        self._backend = backend
        self._post = post
        self._clock = clock
        self._before_load = before_load
        self._cancelled = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the load in progress was called off."""
        return self._cancelled.is_set()

    def start(self, spec: ExpertSpec) -> None:
        """Begin to load; LoadEnded comes in any case. Only after the last load has ended."""
        self._cancelled = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(spec, self._cancelled), name="loader", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Call off the load in progress; it ends at its next progress report."""
        self._cancelled.set()

    def stop(self, timeout_s: float) -> bool:
        """Call off and wait; False when the thread is still in native code after `timeout_s`."""
        self.cancel()
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, spec: ExpertSpec, cancelled: threading.Event) -> None:
        began = last_told = self._clock()

        def on_progress(fraction: float) -> bool:
            nonlocal last_told
            now = self._clock()
            if now - last_told >= PROGRESS_EVERY_S:
                last_told = now
                self._post(LoadProgress(spec.model_id, fraction))
            return not cancelled.is_set()

        expert: Expert | None = None
        error: ErrorReport | None = None
        self._before_load()
        try:
            expert = _usable(self._backend.load(spec, on_progress))
        except LoadCancelled:
            log.info("load of %s called off", spec.model_id)
        except LayaDeskError as failure:
            error = failure.report
        except Exception as failure:
            log.exception("load of %s failed", spec.model_id)
            error = ErrorReport(ErrorCode.INTERNAL, {"reason": "load", "detail": type(failure).__name__})
        self._post(LoadEnded(spec, expert, error, self._clock() - began))


def _usable(expert: Expert) -> Expert:
    if not expert.facts.has_vocabulary:
        expert.close()
        raise fail(ErrorCode.GGUF_NO_VOCABULARY)
    return expert
