"""Truth after a load: what was predicted, what llama.cpp reported and what was measured, kept for each load."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace

from layadesk.domain.hardware import HardwareSample, Why
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import Gpu
from layadesk.domain.memory_fit.bill import CPU, MemoryBill
from layadesk.domain.memory_fit.load_record import LoadRecord, learned_corrections, offload_miss
from layadesk.domain.models import LoadedModel
from layadesk.protocol.events import ModelLoaded, ModelLoading, ModelUnloaded
from layadesk.protocol.feed import Feed
from layadesk.store.store import Store
from layadesk.telemetry.sampler import Sampler
from layadesk.usecases.load_gate import LoadGate
from layadesk.workers.engine_client import EngineClient

log = logging.getLogger(__name__)

SETTLE_S = 1.0  # a driver tells of new memory a little later
N_REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class _Pending:
    """A load whose growth of VRAM is told by a sample after `due`, monotonic seconds."""

    record: LoadRecord
    vram_before: int | None
    due: float


class LoadLedger:
    """Any thread. Records are made on the engine client's thread, or where a GPU has layers on the sampler's."""

    def __init__(
        self,
        store: Store,
        engine: EngineClient,
        gate: LoadGate,
        sampler: Sampler,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._engine = engine
        self._gate = gate
        self._sampler = sampler
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._newest_first: deque[LoadRecord] = deque(maxlen=N_REMEMBERED)
        self._in_memory: dict[str, LoadRecord] = {}
        self._pending: dict[str, _Pending] = {}
        self.feed: Feed[LoadRecord] = Feed()
        store.load_records(limit=N_REMEMBERED).add_done_callback(self._on_past)
        engine.model_feed.subscribe(self._on_model)
        sampler.feed.subscribe(self._on_sample)

    def in_memory(self) -> Mapping[str, LoadRecord]:
        """The record of each expert that is in memory now, by model id."""
        with self._lock:
            return dict(self._in_memory)

    def corrections(self) -> Mapping[tuple[str, str], int]:
        """What loads were found to take beyond their bill, by (architecture, device)."""
        with self._lock:
            return learned_corrections(tuple(self._newest_first))

    def _on_past(self, future: Future[tuple[LoadRecord, ...]]) -> None:
        if future.exception() is not None:
            log.info("earlier loads cannot be read: %s", future.exception())
            return
        with self._lock:
            self._newest_first.extend(future.result())

    def _on_model(self, event: ModelLoading | ModelLoaded | ModelUnloaded) -> None:
        match event:
            case ModelLoaded(loaded=loaded):
                self._take(loaded)
            case ModelUnloaded(model_id=model_id):
                with self._lock:
                    self._in_memory.pop(model_id, None)
                    pending = self._pending.pop(model_id, None)
                if pending is not None:
                    self._keep(pending.record)
            case _:
                pass

    def _take(self, loaded: LoadedModel) -> None:
        record = self._record(loaded)
        with self._lock:
            self._in_memory[loaded.model_id] = record
            if record.backend != CPU:
                began = self._clock() - loaded.load_ms / 1000
                pending = _Pending(record, self._vram_before(began), self._clock() + SETTLE_S)
                self._pending[loaded.model_id] = pending
                return
        self._keep(record)

    def _record(self, loaded: LoadedModel) -> LoadRecord:
        spec, ready = self._engine.spec(loaded.model_id), self._engine.ready
        params = None if spec is None else spec.params
        predicted = self._predicted(loaded.model_id, params)
        asked = layers_asked(params, predicted, n_layers=loaded.n_layer + 1)
        gpus = [one.device for one in loaded.measure.devices if one.device != CPU and one.total_bytes > 0]
        miss = offload_miss(
            asked=asked,
            on_gpu=loaded.n_gpu_layers,
            vram_bytes=None,
            supports_gpu=ready is None or ready.supports_gpu_offload,
            has_gpu=ready is None or any(device != CPU for device in ready.devices),
        )
        return LoadRecord(
            self._now(),
            loaded.model_id,
            loaded.architecture,
            Gpu(gpus[0]).backend if gpus else CPU,
            loaded.n_vocab,
            params,
            predicted,
            loaded.measure,
            asked,
            loaded.n_gpu_layers,
            miss=miss,
        )

    def _predicted(self, model_id: str, params: LoadParams | None) -> MemoryBill | None:
        """The bill for just these parameters, if the load was priced."""
        known = self._gate.last(model_id)
        if known is None or known.outlook is None:
            return None
        plans = (known.outlook.asked, *known.outlook.plans)
        return next((plan.bill for plan in plans if plan.params == params), None)

    def _vram_before(self, began: float) -> int | None:
        before = [sample for sample in self._sampler.history() if sample.taken_at <= began]
        return vram_bytes(before[-1]) if before else None

    def _on_sample(self, sample: HardwareSample) -> None:
        if not self._pending or sample.reasons.get("gpus") == Why.NOT_YET:
            return
        with self._lock:
            due = {model_id: one for model_id, one in self._pending.items() if sample.taken_at >= one.due}
            for model_id in due:
                del self._pending[model_id]
        for one in due.values():
            after = vram_bytes(sample)
            grown = None if after is None or one.vram_before is None else max(0, after - one.vram_before)
            miss = one.record.miss or offload_miss(
                asked=one.record.layers_asked,
                on_gpu=one.record.layers_on_gpu,
                vram_bytes=grown,
                supports_gpu=True,
                has_gpu=True,
            )
            self._keep(replace(one.record, vram_bytes=grown, miss=miss))

    def _keep(self, record: LoadRecord) -> None:
        with self._lock:
            self._newest_first.appendleft(record)
            if record.model_id in self._in_memory:
                self._in_memory[record.model_id] = record
        if record.miss is not None:
            log.warning("%s: asked %s layers on a GPU, %s", record.model_id, record.layers_asked, record.miss)
        self._store.save_load_record(record)
        self.feed.publish(record)


def layers_asked(params: LoadParams | None, predicted: MemoryBill | None, *, n_layers: int) -> int | None:
    """How many layers were meant for a GPU; "all" means those that the plan could place. None where nobody knows."""
    if params is None:
        return None
    if params.n_gpu_layers >= 0:
        return min(params.n_gpu_layers, n_layers)
    return None if predicted is None else predicted.n_gpu_layers


def vram_bytes(sample: HardwareSample) -> int | None:
    """The engine's share on all GPUs, in what they share with the RAM too; None where no driver tells."""
    known = [n for gpu in sample.gpus for n in (gpu.engine_bytes, gpu.engine_shared_bytes) if n is not None]
    return sum(known) if known else None
