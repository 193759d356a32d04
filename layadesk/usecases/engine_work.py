"""What the engine is at, gathered from its events, for samples of the machine."""

from collections.abc import Mapping

from layadesk.domain.hardware import EngineWork
from layadesk.domain.models import LoadedModel
from layadesk.domain.worker_state import WorkerState
from layadesk.protocol.events import EngineStats
from layadesk.workers.engine_client import EngineClient


class EngineWorkWatch:
    """`now` and `weight_files` answer at once, on the host lane."""

    def __init__(self, engine: EngineClient) -> None:
        self._engine = engine
        self._stats: EngineStats | None = None
        self._seen: Mapping[str, LoadedModel] | None = None
        self._files: tuple[str, ...] = ()
        self._reads_files = False
        engine.stats_feed.subscribe(self._on_stats)

    def now(self) -> EngineWork:
        """At this moment."""
        self._look_at_files()
        stats = self._stats if self._engine.status.state is WorkerState.READY else None
        is_loading = self._engine.is_loading
        if stats is None:
            return EngineWork(is_loading=is_loading, reads_mapped_weights=self._reads_files)
        return EngineWork(
            is_loading=is_loading,
            n_running=stats.n_running,
            n_waiting=stats.n_waiting,
            prefill_tps=stats.prefill_tps,
            decode_tps=stats.decode_tps,
            reads_mapped_weights=self._reads_files,
        )

    def weight_files(self) -> tuple[str, ...]:
        """The files that experts in memory are mapped from."""
        self._look_at_files()
        return self._files

    def _on_stats(self, stats: EngineStats) -> None:
        self._stats = stats

    def _look_at_files(self) -> None:
        loaded = self._engine.loaded
        if loaded is self._seen:  # it is replaced, never changed
            return
        self._seen = loaded
        specs = {model_id: self._engine.spec(model_id) for model_id in loaded}
        mapped = {
            model_id: spec.path
            for model_id, spec in specs.items()
            if spec is not None and spec.params.use_mmap is not False
        }
        self._files = tuple(mapped.values())
        self._reads_files = any(loaded[model_id].n_gpu_layers < loaded[model_id].n_layer for model_id in mapped)
