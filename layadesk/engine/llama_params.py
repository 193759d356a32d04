"""Load parameters as the structs of llama.cpp, with what they point to. Loader thread."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import TensorOverride
from layadesk.domain.memory_fit.context_shape import n_seq_max
from layadesk.engine.llama_context import ContextNumbers
from layadesk.engine.llama_library import Devices, native

LOAD_MODE_AUTO, LOAD_MODE_NONE = -1, 0

# The names llama.cpp gives to the tensors of MoE experts (common/arg.cpp, LLM_FFN_EXPS_REGEX).
_MOE_EXPERTS = r"blk\.{layer}\.ffn_(up|down|gate|gate_up)_(ch|)exps"


class _Override(ctypes.Structure):
    _fields_ = [("pattern", ctypes.c_char_p), ("buffer_type", ctypes.c_void_p)]


@dataclass(slots=True)
class ModelParams:
    """`struct` for llama.cpp; `kept` is the memory it points to and must live until the model is loaded."""

    struct: Any
    kept: list[Any] = field(default_factory=list)


def model_params(
    numbers: ContextNumbers, devices: Devices, *, uses_mmap: bool, on_progress: Callable[[float, Any], bool]
) -> ModelParams:
    """How the weights come into memory. Raises BAD_PARAMETER for a device that is not there."""
    made = ModelParams(native.llama_model_default_params())
    struct = made.struct
    struct.n_gpu_layers = numbers.n_gpu_layers
    struct.load_mode = LOAD_MODE_AUTO if uses_mmap else LOAD_MODE_NONE
    callback = native.llama_progress_callback(on_progress)
    struct.progress_callback = callback
    made.kept.append(callback)
    if numbers.devices or numbers.n_gpu_layers == 0:
        # The CPU always takes part. Without layers a GPU would still compute prompts, with copies of the weights.
        used = numbers.devices if numbers.n_gpu_layers != 0 else ()
        addresses = [_known(devices, name) for name in used if name != "CPU"]
        chosen = (ctypes.c_void_p * (len(addresses) + 1))(*addresses, None)
        struct.devices = ctypes.cast(chosen, ctypes.c_void_p)
        made.kept.append(chosen)
    overrides = [
        *(TensorOverride(_MOE_EXPERTS.format(layer=layer), "CPU") for layer in range(numbers.n_cpu_moe)),
        *numbers.tensor_overrides,
    ]
    if overrides:
        entries = [
            _Override(one.pattern.encode(), devices.buffer_type(_known(devices, one.device))) for one in overrides
        ]
        table = (_Override * (len(entries) + 1))(*entries, _Override(None, None))
        struct.tensor_buft_overrides = ctypes.cast(table, ctypes.c_void_p)
        made.kept.append(table)
    return made


def context_params(numbers: ContextNumbers, *, has_large_state: bool) -> Any:
    """How a context is made. `has_large_state`: each sequence costs memory of its own, as with recurrent layers."""
    struct = native.llama_context_default_params()
    struct.n_ctx = numbers.n_ctx
    struct.n_batch = numbers.n_batch
    struct.n_ubatch = numbers.n_ubatch
    struct.n_seq_max = n_seq_max(numbers.n_parallel, numbers.n_kept, has_large_state=has_large_state)
    struct.n_outputs_max = (
        struct.n_seq_max
    )  # less is an abort(); left alone, the compute buffer is 5 to 20 times larger
    struct.n_threads = numbers.n_threads
    struct.n_threads_batch = numbers.n_threads
    struct.type_k = numbers.type_k
    struct.type_v = numbers.type_v
    struct.flash_attn_type = numbers.flash_attn_type
    struct.swa_full = numbers.swa_full
    struct.kv_unified = True  # one pool for all sequences instead of an n-th of the context for each
    return struct


def _known(devices: Devices, name: str) -> int:
    address = devices.by_name.get(name)
    if address is None:
        raise fail(ErrorCode.BAD_PARAMETER, parameter="device", value=name, known=", ".join(devices.by_name))
    return address
