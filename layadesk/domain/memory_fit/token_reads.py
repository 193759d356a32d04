"""The ceiling of decoding: what must be read for one token, against how fast it can be read.

A token reads all weights that take part in it once, and what the KV cache has of the tokens before. Of MoE experts only
those that are chosen are read, of the table of embeddings one row, which does not count. Several sequences in a step
share the reading of the weights: the ceiling is that of one stream.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.arithmetic import moe_layers_in_ram, n_gpu_layers_of
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.kv_cache import STATE_ELEMENT_BYTES, row_bytes
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts


@dataclass(frozen=True, slots=True)
class DeviceReads:
    """Bytes that one token reads on one device."""

    device: str
    weights_bytes: int
    kv_bytes: int

    @property
    def total_bytes(self) -> int:
        """Both."""
        return self.weights_bytes + self.kv_bytes


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The best there could be. `bandwidths` are bytes a second by device; a device that has none there is unknown."""

    reads: tuple[DeviceReads, ...]
    bandwidths: Mapping[str, float]

    @property
    def tokens_per_s(self) -> float | None:
        """Devices work one after the other on a token. None where the bandwidth of one is not known."""
        if any(one.total_bytes and not self.bandwidths.get(one.device) for one in self.reads):
            return None
        seconds = sum(one.total_bytes / self.bandwidths[one.device] for one in self.reads if one.total_bytes)
        return 1 / seconds if seconds > 0 else None

    def reached(self, decode_tps: float | None) -> float | None:
        """The share of it that an answer came to."""
        best = self.tokens_per_s
        return None if best is None or decode_tps is None else decode_tps / best


def reads_of(facts: ModelFacts, params: LoadParams, *, n_past: int, gpu: str | None = None) -> tuple[DeviceReads, ...]:
    """What a token reads that has `n_past` before it; layers placed as llama.cpp places them."""
    n_on_gpu = n_gpu_layers_of(params, facts) if gpu is not None else 0
    first_on_gpu = len(facts.layers) + 1 - n_on_gpu
    moe_in_ram = moe_layers_in_ram(params, len(facts.layers))
    weights, kv = {True: 0, False: 0}, {True: 0, False: 0}
    for number, layer in enumerate(facts.layers):
        if layer.kind is LayerKind.SKIPPED:
            continue
        is_on_gpu = number >= first_on_gpu
        moe = active_moe_bytes(facts, layer)
        weights[is_on_gpu] += layer.weights_bytes - layer.moe_bytes
        weights[is_on_gpu and number not in moe_in_ram] += moe
        kv[is_on_gpu] += _kv_read(facts, layer, params, n_past)
    weights[n_on_gpu > 0] += facts.output_bytes + facts.tied_output_bytes
    on_gpu = () if gpu is None or not n_on_gpu else (DeviceReads(gpu, weights[True], kv[True]),)
    return (*on_gpu, DeviceReads(CPU, weights[False], kv[False]))


def active_moe_bytes(facts: ModelFacts, layer: LayerFacts) -> int:
    """Of a layer's MoE experts, what one token reads."""
    return layer.moe_bytes * facts.n_expert_used // facts.n_expert if facts.n_expert else 0


def gained_ms(
    before: Sequence[DeviceReads], after: Sequence[DeviceReads], bandwidths: Mapping[str, float]
) -> float | None:
    """By how much a token gets faster when it is read as `after` says, milliseconds; None where that is unknown."""
    rates = [Ceiling(tuple(reads), bandwidths).tokens_per_s for reads in (before, after)]
    return None if rates[0] is None or rates[1] is None else 1000 / rates[0] - 1000 / rates[1]


def _kv_read(facts: ModelFacts, layer: LayerFacts, params: LoadParams, n_past: int) -> int:
    if layer.kind is LayerKind.RECURRENT:
        return layer.state_elements * STATE_ELEMENT_BYTES
    n_seen = min(n_past, facts.n_swa) if layer.kind is LayerKind.WINDOW and facts.n_swa else n_past
    return n_seen * (row_bytes(params.type_k, layer.k_row) + row_bytes(params.type_v, layer.v_row))
