"""The health of installation and machine, asked for without waiting: checks, diagnoses, and a report to copy."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from layadesk.domain.alert_watch import Alert
from layadesk.domain.diagnosis import Answered, Case, Diagnosis, diagnose
from layadesk.domain.hardware import HardwareSample
from layadesk.usecases.check_installation import Finding
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.memory_speed import measure_memory_bytes_per_s
from layadesk.workers.engine_client import EngineClient


@dataclass(frozen=True, slots=True)
class Health:
    """What was found: diagnoses with serious ones first, findings in the order in which they should be mended."""

    findings: tuple[Finding, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = ()


class GatherCase:
    """All facts of a diagnosis. Measures the speed of RAM once, and only where an answer asks for it."""

    def __init__(
        self,
        engine: EngineClient,
        pool: ExpertPool,
        *,
        samples: Callable[[], Sequence[HardwareSample]],
        answers: Callable[[], Sequence[Answered]] = tuple,
        alerts: Callable[[], Sequence[Alert]] = tuple,
        measure: Callable[[], float] = measure_memory_bytes_per_s,
    ) -> None:
        self._engine = engine
        self._pool = pool
        self._samples = samples
        self._answers = answers
        self._alerts = alerts
        self._measure = measure
        self._bandwidth: float | None = None

    def __call__(self) -> Case:
        """As it is now. May take half a second."""
        ready = self._engine.ready
        loaded = dict(self._engine.loaded)
        models = self._pool.present()
        answers = self._answers()
        computes_on_cpu = any(one.n_gpu_layers < one.n_layer for one in loaded.values())
        if self._bandwidth is None and computes_on_cpu and any(one.timings is not None for one in answers):
            self._bandwidth = self._measure()
        return Case(
            samples=self._samples(),
            answers=answers,
            alerts=self._alerts(),
            loaded=loaded,
            weights_bytes={one.model_id: one.size_bytes for one in models if "moe" not in one.architecture.lower()},
            files_bytes={one.model_id: one.size_bytes for one in models},
            devices=() if ready is None else ready.devices,
            supports_gpu_offload=None if ready is None else ready.supports_gpu_offload,
            n_experts=len(models),
            bandwidth_bytes_per_s=self._bandwidth,
        )


class Diagnose:
    """`check` runs on a thread of its own, because it waits for the children; one check at a time."""

    def __init__(
        self,
        check: Callable[[], tuple[Finding, ...]],
        gather: Callable[[], Case],
        report: Callable[[tuple[Finding, ...], Case, tuple[Diagnosis, ...]], str],
    ) -> None:
        self._check = check
        self._gather = gather
        self._report = report
        self._lock = threading.Lock()
        self._running: Future[Health] | None = None

    def check(self) -> Future[Health]:
        """Everything that can be told. Who asks during a check gets that one."""
        with self._lock:
            if self._running is not None:
                return self._running
            future: Future[Health] = Future()
            self._running = future
        threading.Thread(target=self._run, args=(future,), name="diagnose", daemon=True).start()
        return future

    def now(self) -> Health:
        """The same, for who may wait. Blocks for some seconds."""
        return Health(self._check(), diagnose(self._gather()))

    def report(self, findings: tuple[Finding, ...]) -> Future[str]:
        """To be copied: what was found, and versions, devices, settings, figures, warnings, the engine's last words as
        they are now; no message text.
        """
        future: Future[str] = Future()

        def run() -> None:
            try:
                case = self._gather()
                future.set_result(self._report(findings, case, diagnose(case)))
            except Exception as error:  # noqa: BLE001 - it belongs to who holds the future
                future.set_exception(error)

        threading.Thread(target=run, name="report", daemon=True).start()
        return future

    def _run(self, future: Future[Health]) -> None:
        try:
            health = self.now()
        except Exception as error:  # noqa: BLE001 - it belongs to who holds the future
            self._forget()
            future.set_exception(error)
        else:
            self._forget()
            future.set_result(health)

    def _forget(self) -> None:
        with self._lock:
            self._running = None
