"""The bill from facts alone: for a file that is not here yet, and for a machine that is not this one."""

import re
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.bill import CPU, Basis, DeviceBill, MemoryBill
from layadesk.domain.memory_fit.compute_buffer import compute_bytes, output_bytes
from layadesk.domain.memory_fit.context_shape import n_seq_max, n_ubatch
from layadesk.domain.memory_fit.kv_cache import KV_TYPES, QUANTIZED, layer_kv_bytes
from layadesk.domain.memory_fit.model_facts import LayerKind, ModelFacts
from layadesk.domain.memory_fit.weighted_graph import Placement

MIB = 2**20
# Of a driver and its libraries in the engine's process: code, workspaces, pools for products of matrices.
BACKEND_OVERHEAD_BYTES = {"CUDA": 600 * MIB, "ROCm": 600 * MIB, "Vulkan": 128 * MIB, "Metal": 64 * MIB, "MTL": 64 * MIB}
OTHER_BACKEND_OVERHEAD_BYTES = 256 * MIB
HOST_OVERHEAD_BYTES = 12 * MIB  # graphs, tensors' names, the template
VOCABULARY_BYTES_PER_TOKEN = 144  # texts, their index, the merges
MARGIN_SHARE = 0.02  # of all but the weights
LEAST_MARGIN_BYTES = 16 * MIB


@dataclass(frozen=True, slots=True)
class Gpu:
    """The GPU that layers would go to: its name in llama.cpp, from which its backend follows."""

    device: str

    @property
    def backend(self) -> str:
        """`CUDA` for `CUDA0`."""
        return self.device.rstrip("0123456789")


def check_kv_types(params: LoadParams, facts: ModelFacts | None = None) -> None:
    """Raise BAD_PARAMETER for what llama.cpp would refuse after the weights have been read."""
    for name, value in (("type_k", params.type_k), ("type_v", params.type_v)):
        if value not in KV_TYPES:
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, known=", ".join(KV_TYPES))
    if params.type_v in QUANTIZED and params.flash_attn == "off":
        raise fail(ErrorCode.BAD_PARAMETER, parameter="type_v", value=params.type_v, needs="flash_attn")
    if facts is None:
        return
    for name, value, heads in (
        ("type_k", params.type_k, {layer.head_k for layer in facts.layers if layer.k_row}),
        ("type_v", params.type_v, {layer.head_v for layer in facts.layers if layer.v_row}),
    ):
        if value in QUANTIZED and any(head % KV_TYPES[value][1] for head in heads):
            raise fail(ErrorCode.BAD_PARAMETER, parameter=name, value=value, known="f16, bf16, f32")


def n_gpu_layers_of(params: LoadParams, facts: ModelFacts) -> int:
    """Layers that go to the GPU, the output counted as one."""
    n_all = len(facts.layers) + 1
    return n_all if params.n_gpu_layers < 0 else min(params.n_gpu_layers, n_all)


def moe_layers_in_ram(params: LoadParams, n_layers: int) -> frozenset[int]:
    """Layers whose MoE experts are kept in RAM: the first `n_cpu_moe`, and those that an override names."""
    patterns = [re.compile(one.pattern) for one in params.tensor_overrides if one.device == CPU]
    named = {
        layer
        for layer in range(n_layers)
        if any(pattern.search(f"blk.{layer}.ffn_up_exps.weight") for pattern in patterns)
    }
    return frozenset(named | set(range(min(params.n_cpu_moe, n_layers))))


def has_large_state(facts: ModelFacts, params: LoadParams) -> bool:
    """Whether each sequence costs memory of its own."""
    return facts.recurrent is not None or (facts.n_swa > 0 and not params.swa_full)


def bill_of(facts: ModelFacts, params: LoadParams, gpu: Gpu | None = None) -> MemoryBill:
    """What the load takes. Raises BAD_PARAMETER as the load would. `facts.is_known` must hold."""
    check_kv_types(params, facts)
    n_on_gpu = n_gpu_layers_of(params, facts) if gpu is not None else 0
    params = replace(params, n_ubatch=n_ubatch(params, has_gpu=n_on_gpu > 0))
    n_seq = n_seq_max(params.n_parallel, params.n_kept, has_large_state=has_large_state(facts, params))
    on_gpu, in_ram = _weights_and_kv(facts, params, n_on_gpu=n_on_gpu, n_seq=n_seq)
    n_cpu_moe = len(moe_layers_in_ram(params, len(facts.layers)))
    placement = Placement(len(facts.layers) + 1 - n_on_gpu, n_cpu_moe, gpu.backend if n_on_gpu and gpu else None)
    compute = compute_bytes(facts, params, placement, n_seq_max=n_seq)
    devices = [
        replace(
            in_ram,
            compute_bytes=compute.host,
            output_bytes=output_bytes(facts, n_seq_max=n_seq),
        )
    ]
    if gpu is not None and n_on_gpu > 0:
        devices.insert(0, replace(on_gpu, device=gpu.device, compute_bytes=compute.gpu))
    bill = MemoryBill(tuple(devices), n_on_gpu, len(facts.layers) + 1, Basis.ARITHMETIC)
    return with_overhead(bill, n_vocab=facts.n_vocab)


def with_overhead(bill: MemoryBill, *, n_vocab: int) -> MemoryBill:
    """A bill of buffers alone, with what surrounds them: a driver's context, the vocabulary, and a margin."""
    return replace(bill, devices=tuple(_with_margin(_with_context(device, n_vocab)) for device in bill.devices))


def _with_context(bill: DeviceBill, n_vocab: int) -> DeviceBill:
    if bill.device == CPU:
        return replace(bill, overhead_bytes=HOST_OVERHEAD_BYTES + VOCABULARY_BYTES_PER_TOKEN * n_vocab)
    backend = Gpu(bill.device).backend
    return replace(bill, overhead_bytes=BACKEND_OVERHEAD_BYTES.get(backend, OTHER_BACKEND_OVERHEAD_BYTES))


def _weights_and_kv(
    facts: ModelFacts, params: LoadParams, *, n_on_gpu: int, n_seq: int
) -> tuple[DeviceBill, DeviceBill]:
    first_on_gpu = len(facts.layers) + 1 - n_on_gpu  # the last layers go there (llama-model.cpp, i_gpu_start)
    moe_in_ram = moe_layers_in_ram(params, len(facts.layers))
    gpu_weights = gpu_kv = 0
    ram_weights, ram_kv = facts.input_bytes, 0
    for number, layer in enumerate(facts.layers):
        kv = layer_kv_bytes(facts, layer, params, n_seq_max=n_seq)
        stays = layer.moe_bytes if number in moe_in_ram else 0
        if number >= first_on_gpu and layer.kind is not LayerKind.SKIPPED:
            gpu_weights += layer.weights_bytes - stays
            ram_weights += stays
            gpu_kv += kv
        else:
            ram_weights += layer.weights_bytes
            ram_kv += kv
    if n_on_gpu > 0:
        gpu_weights += facts.output_bytes + facts.tied_output_bytes
    else:
        ram_weights += facts.output_bytes
    return (
        DeviceBill("", weights_bytes=gpu_weights, kv_bytes=gpu_kv),
        DeviceBill(CPU, weights_bytes=ram_weights, kv_bytes=ram_kv),
    )


def _with_margin(bill: DeviceBill) -> DeviceBill:
    varying = bill.kv_bytes + bill.compute_bytes + bill.output_bytes + bill.overhead_bytes
    return replace(bill, margin_bytes=max(LEAST_MARGIN_BYTES, round(varying * MARGIN_SHARE)))
