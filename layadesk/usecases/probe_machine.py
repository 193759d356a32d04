"""Every figure of this machine with its value or the reason why there is none: for bug reports from other machines."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from layadesk.domain.hardware import GPU_FIELDS, HOST_FIELDS, GpuSample, HardwareSample, Why
from layadesk.telemetry.sampler import Sampler
from layadesk.telemetry.sensor_list import Observed

N_SAMPLES = 6  # the processor is asked every 2 s, and a rate needs two readings
LIMIT_S = 8.0


def probe_machine(
    observed: Observed, make_sampler: Callable[[Observed], Sampler] = Sampler, *, limit_s: float = LIMIT_S
) -> HardwareSample:
    """One sample that is as complete as this machine allows. Blocks for one to `limit_s` seconds."""
    sampler = make_sampler(observed)
    complete = threading.Event()
    newest: list[HardwareSample] = []

    def on_sample(sample: HardwareSample) -> None:
        newest.append(sample)
        if len(newest) >= N_SAMPLES and sample.reasons.get("gpus") != Why.NOT_YET:
            complete.set()

    sampler.feed.subscribe(on_sample)
    sampler.start()
    complete.wait(limit_s)
    sampler.stop()
    return newest[-1] if newest else HardwareSample(0.0, reasons=dict.fromkeys((*HOST_FIELDS, "gpus"), Why.TIMEOUT))


def described(sample: HardwareSample) -> dict[str, Any]:
    """As plain values: `host` and each GPU's `fields` map a name to `{value, why}`; `why` may be a remark."""
    return {
        "host": _fields(sample, HOST_FIELDS, sample.reasons),
        "gpus": [_gpu(gpu) for gpu in sample.gpus],
        "gpus_why": sample.reasons.get("gpus"),
        "took_ms": sample.took_ms,
    }


def _gpu(gpu: GpuSample) -> dict[str, Any]:
    return {
        "gpu_id": gpu.gpu_id,
        "name": gpu.name,
        "kind": gpu.kind,
        "source": gpu.source,
        "fields": _fields(gpu, GPU_FIELDS, gpu.reasons),
    }


def _fields(sample: object, names: tuple[str, ...], reasons: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {name: {"value": getattr(sample, name), "why": reasons.get(name)} for name in names}
