"""Load parameters in llama.cpp's terms, checked before it sees them: some of its refusals are aborts."""

import os
import re
from dataclasses import dataclass

import psutil

from layadesk.domain.errors import ErrorCode, LayaDeskError, fail
from layadesk.domain.inference import LoadParams, TensorOverride
from layadesk.domain.memory_fit.context_shape import MAX_PARALLEL, n_batch, n_ubatch

MAX_KEPT = 128
MAX_N_CTX = 2**24
MAX_CPU_MOE = 1024  # llama.cpp takes 4096 overrides
MAX_OVERRIDES = 256
MAX_PATTERN_CHARS = 512

# enum ggml_type
_KV_TYPES = {"f32": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "bf16": 30}
_QUANTIZED = frozenset({"q4_0", "q4_1", "q5_0", "q5_1", "q8_0"})
# enum llama_flash_attn_type
_FLASH_ATTENTION = {"auto": -1, "off": 0, "on": 1}


@dataclass(frozen=True, slots=True)
class ContextNumbers:
    """What goes into llama_context_params and llama_model_params."""

    n_ctx: int
    n_batch: int
    n_ubatch: int
    n_parallel: int
    n_kept: int
    n_threads: int
    type_k: int
    type_v: int
    flash_attn_type: int
    swa_full: bool
    n_gpu_layers: int
    n_cpu_moe: int
    uses_mmap: bool | None
    tensor_overrides: tuple[TensorOverride, ...]
    devices: tuple[str, ...]


def context_numbers(params: LoadParams, *, has_gpu: bool = False) -> ContextNumbers:
    """`params` for the library. Raises BAD_PARAMETER.

    A quantised V cache needs flash attention: with `auto` it is switched on, with `off` the pair is refused.
    """
    _in_range("n_ctx", params.n_ctx, 64, MAX_N_CTX)
    _in_range("n_parallel", params.n_parallel, 1, MAX_PARALLEL)
    _in_range("n_kept", params.n_kept, 0, MAX_KEPT)
    _in_range("n_batch", params.n_batch, 32, 2**20)
    _in_range("n_ubatch", params.n_ubatch, 0, 2**20)
    _in_range("n_threads", params.n_threads, 0, 1024)
    _in_range("n_cpu_moe", params.n_cpu_moe, 0, MAX_CPU_MOE)
    _check_overrides(params.tensor_overrides)
    flash = _one_of("flash_attn", params.flash_attn, _FLASH_ATTENTION)
    type_k = _one_of("type_k", params.type_k, _KV_TYPES)
    type_v = _one_of("type_v", params.type_v, _KV_TYPES)
    if params.type_v in _QUANTIZED:
        if params.flash_attn == "off":
            raise fail(ErrorCode.BAD_PARAMETER, parameter="type_v", value=params.type_v, needs="flash_attn")
        flash = _FLASH_ATTENTION["on"]
    return ContextNumbers(
        n_ctx=params.n_ctx,
        n_batch=n_batch(params),
        n_ubatch=n_ubatch(params, has_gpu=has_gpu),
        n_parallel=params.n_parallel,
        n_kept=params.n_kept,
        n_threads=params.n_threads or n_physical_cores(),
        type_k=type_k,
        type_v=type_v,
        flash_attn_type=flash,
        swa_full=params.swa_full,
        n_gpu_layers=params.n_gpu_layers,
        n_cpu_moe=params.n_cpu_moe,
        uses_mmap=params.use_mmap,
        tensor_overrides=params.tensor_overrides,
        devices=params.devices,
    )


def n_physical_cores() -> int:
    """Cores this process may use. Two threads on one core only take each other's time in matrix products."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


def _check_overrides(overrides: tuple[TensorOverride, ...]) -> None:
    _in_range("tensor_overrides", len(overrides), 0, MAX_OVERRIDES)
    for one in overrides:
        _in_range("tensor override length", len(one.pattern), 1, MAX_PATTERN_CHARS)
        try:
            re.compile(one.pattern)  # much the same grammar; what C++ alone refuses comes back as a failed load
        except re.error as error:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="tensor_overrides", value=one.pattern) from error


def _in_range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, minimum=least, maximum=most)


def _one_of(name: str, value: str, known: dict[str, int]) -> int:
    if value not in known:
        raise _unknown(name, value, known)
    return known[value]


def _unknown(name: str, value: str, known: dict[str, int]) -> LayaDeskError:
    return fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, known=", ".join(known))
