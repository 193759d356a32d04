"""Where the time of an answer went, and how near it came to what this machine's memory allows."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from layadesk.domain.answer_time import ComputeProfile, TimePart, time_parts
from layadesk.domain.chat import Message
from layadesk.domain.errors import ErrorCode, fail, from_report
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.token_reads import Ceiling, reads_of
from layadesk.domain.models import ExpertSpec
from layadesk.protocol.events import ExpertProfiled
from layadesk.usecases.load_gate import LoadGate
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.memory_speed import measure_read_bytes_per_s
from layadesk.usecases.place_moe import PlaceMoe
from layadesk.usecases.price_load import PriceLoad
from layadesk.workers.engine_client import EngineClient


@dataclass(frozen=True, slots=True)
class AnswerTime:
    """`parts` are milliseconds, None where not measured. `ceiling` None: nobody knows what its expert reads."""

    parts: tuple[tuple[TimePart, float | None], ...]
    ceiling: Ceiling | None
    decode_tps: float | None

    @property
    def reached(self) -> float | None:
        """The share of the ceiling that the answer came to."""
        return None if self.ceiling is None else self.ceiling.reached(self.decode_tps)


class ExplainTime:
    """Everything returns at once; what has to be read or measured is, on a thread of its own.

    RAM is measured once, when first asked for: 0.1 to 0.5 s. GPUs are as fast as their drivers say. `placing` is about
    where MoE experts had better be.
    """

    def __init__(
        self,
        engine: EngineClient,
        price: PriceLoad,
        machine: MachineNow,
        gate: LoadGate,
        *,
        measure: Callable[[], float] = measure_read_bytes_per_s,
    ) -> None:
        self._engine = engine
        self._facts_of = price.facts_of
        self._machine = machine.last
        self.placing = PlaceMoe(engine, price, machine.read, gate, self.bandwidths)
        self._measure = measure
        self._ram: float | None = None
        self._lock = threading.Lock()
        self._profiling: dict[str, list[Future[ComputeProfile]]] = {}
        self._thread = ThreadPoolExecutor(1, "explain-time")
        engine.inside.profiled.subscribe(self._on_profiled)

    def explain(self, message: Message, *, screen_ms: float | None = None) -> Future[AnswerTime]:
        """Of a finished answer."""
        return self._thread.submit(self._explain, message, screen_ms)

    def profile(self, model_id: str, n_past: int) -> Future[ComputeProfile]:
        """Measure node by node what a token's computing is spent on. It takes seconds, and answers wait meanwhile.

        Fails with EXPERT_BUSY while the expert answers, UNKNOWN_EXPERT where it is not in memory.
        """
        asked: Future[ComputeProfile] = Future()
        with self._lock:
            waiting = self._profiling.setdefault(model_id, [])
            waiting.append(asked)
        if len(waiting) == 1:
            self._engine.inside.profile(model_id, n_past)
        return asked

    def bandwidths(self) -> Mapping[str, float]:
        """Bytes a second by device; what nobody knows is not in it. Blocks the first time."""
        with self._lock:
            if self._ram is None:
                self._ram = self._measure()
        known = {gpu.device: gpu.bandwidth_bytes_per_s for gpu in self._machine().gpus}
        return {CPU: self._ram} | {device: rate for device, rate in known.items() if rate}

    def close(self) -> None:
        """Nothing new is taken; what runs ends by itself."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.placing.close()

    def _explain(self, message: Message, screen_ms: float | None) -> AnswerTime:
        timings = message.timings
        if timings is None:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="message", value=message.message_id, needs="timings")
        route_ms = None if message.route is None else message.route.route_ms
        spec = self._engine.spec(message.expert_id or "")
        n_past = timings.n_prompt + timings.n_decoded // 2  # as many as a token of this answer had before it
        ceiling = None if spec is None else self._ceiling(spec, n_past)
        return AnswerTime(time_parts(timings, route_ms=route_ms, screen_ms=screen_ms), ceiling, timings.decode_tps)

    def _ceiling(self, spec: ExpertSpec, n_past: int) -> Ceiling:
        gpu = self._machine().gpu
        loaded = self._engine.loaded.get(spec.model_id)
        on_gpu = None if gpu is None or (loaded is not None and loaded.n_gpu_layers == 0) else gpu.device
        reads = reads_of(self._facts_of(spec.path), spec.params, n_past=n_past, gpu=on_gpu)
        return Ceiling(reads, self.bandwidths())

    def _on_profiled(self, event: ExpertProfiled) -> None:
        with self._lock:
            waiting = self._profiling.pop(event.model_id, [])
        for asked in waiting:
            if event.profile is not None:
                asked.set_result(event.profile)
            elif event.error is not None:
                asked.set_exception(from_report(event.error))
