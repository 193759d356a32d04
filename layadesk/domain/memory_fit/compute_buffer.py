"""The compute buffers: llama.cpp's graph of one full prompt step, laid out as its allocator would.

The order of the nodes and what may be written in place decide the size, so the graphs follow llama-graph.cpp and
src/models/*.cpp of the llama.cpp vendored in llama-cpp-python 0.3.36 node by node. Only a few layers are laid out: the
buffer of the third layer of a kind is that of the thirtieth.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.graph import Op, Place, Tensor
from layadesk.domain.memory_fit.graph_allocator import buffer_bytes
from layadesk.domain.memory_fit.kv_cache import QUANTIZED, n_cells, pad_256, row_bytes, uses_flash_attention
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from layadesk.domain.memory_fit.recurrent_graph import RecurrentBlock, StateIds
from layadesk.domain.memory_fit.weighted_graph import PlacedLayer, Placement, WeightedGraph

MAX_LAYERS_LAID_OUT = 10
MAX_LAYERS_LAID_OUT_ON_TWO = 16  # two periods of sliding windows: what is copied for the rare layers must be seen
_ROTATION = 64  # the smallest Hadamard matrix by which quantised keys and values are turned


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What is filled in before the graph runs. `masks` and `cells` are by kind of layer."""

    positions: Tensor
    out_ids: Tensor
    masks: dict[LayerKind, Tensor]
    k_cells: dict[LayerKind, Tensor]
    v_cells: dict[LayerKind, Tensor]
    k_rotations: dict[LayerKind, Tensor]
    v_rotations: dict[LayerKind, Tensor]


class _Builder:
    """Builds the graph of `n_tokens` tokens, `n_outputs` of which ask for logits."""

    def __init__(self, facts: ModelFacts, params: LoadParams, placement: Placement, *, n_seq_max: int) -> None:
        self.facts = facts
        self.params = params
        self.placement = placement
        self.n_seq_max = n_seq_max
        n_tokens = min(pad_256(params.n_ctx), params.n_ubatch)
        self.n_outputs = min(n_tokens, n_seq_max)
        self.n_tokens = (n_tokens + n_seq_max - 1) // n_seq_max * n_seq_max  # as many for each sequence
        self.graph = WeightedGraph(facts.n_embd)
        self._widest_k = max(layer.k_row for layer in facts.layers)
        self._widest_v = max(layer.v_row for layer in facts.layers)
        self._block: RecurrentBlock | None = None
        self._state_ids: StateIds | None = None
        self.has_flash = uses_flash_attention(params)

    def sizes(self) -> dict[Place, int]:
        graph, facts = self.graph, self.facts
        tokens = graph.input(4 * self.n_tokens)
        graph.input(self._row(facts.n_embd))  # for prompts of vectors; there in any case
        inputs = self._inputs()
        stream = graph.op(self._row(facts.n_embd), graph.weight(facts.input_bytes, Place.HOST), tokens, op=Op.GET_ROWS)
        if facts.has_scaled_input:
            stream = graph.inplace(self._row(facts.n_embd), stream)
        layers = _shortened(facts.layers, self.placement)
        self._prepare(layers[0])
        for number, layer in enumerate(layers):
            following = layers[number + 1] if number + 1 < len(layers) else None
            stream = self._layer(layer, stream, inputs, following)
        normed = graph.norm(stream, self.placement.of_output)
        if self._picks_outputs_last:
            normed = graph.op(4 * facts.n_embd * self.n_outputs, normed, inputs.out_ids, op=Op.GET_ROWS)
        output = graph.weight(facts.output_bytes or facts.tied_output_bytes, self.placement.of_output)
        graph.op(
            4 * facts.n_vocab * self.n_outputs, output, normed, op=Op.MUL_MAT, is_output=True, n_batch=self.n_outputs
        )
        return buffer_bytes(graph, self.placement.backend)

    @property
    def _picks_outputs_last(self) -> bool:
        recurrent = self.facts.recurrent
        return recurrent is not None and recurrent.kind == "delta_net"

    def _row(self, n: int) -> int:
        return 4 * n * self.n_tokens

    def _inputs(self) -> _Inputs:
        graph, facts, params = self.graph, self.facts, self.params
        positions = graph.input(facts.rope_bytes_per_token * self.n_tokens)
        if facts.recurrent is not None:
            self._state_ids = StateIds(graph, self.n_seq_max)
        present = {layer.kind for layer in facts.layers}
        kinds: list[LayerKind] = [kind for kind in (LayerKind.FULL, LayerKind.WINDOW) if kind in present]
        masks: dict[LayerKind, Tensor] = {}
        k_cells: dict[LayerKind, Tensor] = {}
        v_cells: dict[LayerKind, Tensor] = {}
        for kind in kinds:
            n_kv = n_cells(facts, kind, params, n_seq_max=self.n_seq_max)
            k_cells[kind] = graph.input(8 * self.n_tokens)
            v_cells[kind] = graph.input(8 * self.n_tokens * (1 if self.has_flash else self._widest_v))
            masks[kind] = graph.input((2 if self.has_flash else 4) * n_kv * self.n_tokens)
        return _Inputs(
            positions=positions,
            out_ids=graph.input(4 * self.n_outputs),
            masks=masks,
            k_cells=k_cells,
            v_cells=v_cells,
            k_rotations=self._rotations(kinds, params.type_k, lambda layer: layer.head_k if layer.k_row else 0, True),
            v_rotations=self._rotations(kinds, params.type_v, lambda layer: layer.head_v if layer.v_row else 0, False),
        )

    def _rotations(
        self, kinds: list[LayerKind], type_name: str, head_of: Callable[[LayerFacts], int], grows: bool
    ) -> dict[LayerKind, Tensor]:
        """A matrix for each cache whose heads all have one size, a multiple of 64; for keys the largest that fits."""
        made: dict[LayerKind, Tensor] = {}
        for kind in kinds if type_name in QUANTIZED else ():
            heads = {head_of(layer) for layer in self.facts.layers if layer.kind is kind} - {0}
            if len(heads) != 1 or next(iter(heads)) % _ROTATION:
                continue
            n = _ROTATION
            while grows and next(iter(heads)) % (2 * n) == 0:
                n *= 2
            made[kind] = self.graph.input(4 * n * n)
        return made

    def _prepare(self, layer: PlacedLayer | None) -> None:
        """The state of a short convolution is fetched in the middle of the layer before it."""
        if layer is not None and layer.facts.kind is LayerKind.RECURRENT:
            assert self._state_ids is not None
            self._block = RecurrentBlock(
                self.graph, self.facts, layer, self._state_ids, n_tokens=self.n_tokens, n_seq_max=self.n_seq_max
            )

    def _layer(self, layer: PlacedLayer, stream: Tensor, inputs: _Inputs, following: PlacedLayer | None) -> Tensor:
        graph, facts, place = self.graph, self.facts, layer.place
        if layer.facts.kind is LayerKind.RECURRENT:
            assert self._block is not None
            out = self._block.output(stream, lambda: self._prepare(following))
        else:
            out = self._attention(layer, graph.norm(stream, place), inputs, following)
        n_rows = self.n_tokens
        residual = stream
        if following is None and not self._picks_outputs_last:
            n_rows = self.n_outputs
            out = graph.op(4 * facts.n_embd * n_rows, out, inputs.out_ids, op=Op.GET_ROWS)
        if facts.has_post_norm:
            out = graph.norm(out, place)
        if n_rows != self.n_tokens:
            residual = graph.op(4 * facts.n_embd * n_rows, stream, inputs.out_ids, op=Op.GET_ROWS)
        after = self._sum(out, residual)
        mixed = self._feed_forward(layer, graph.norm(after, place), n_rows)
        if facts.has_post_norm:
            mixed = graph.norm(mixed, place)
        return self._sum(mixed, after)

    def _sum(self, added: Tensor, residual: Tensor) -> Tensor:
        """Written over the first of the two that is needed no more."""
        terms = (residual, added) if self._block is not None and self._block.is_short_conv else (added, residual)
        return self.graph.inplace(added.n_bytes, *terms, op=Op.ADD)

    def _attention(self, layer: PlacedLayer, normed: Tensor, inputs: _Inputs, following: PlacedLayer | None) -> Tensor:
        graph, facts, one = self.graph, self.facts, layer.facts
        q, gate = self._query(layer, normed, inputs)
        if facts.has_scaled_input:  # Gemma: Q, K, V; the others: Q, V, K
            k, v = self._key(layer, normed, inputs), self._value(layer, normed, inputs)
        else:
            v, k = self._value(layer, normed, inputs), self._key(layer, normed, inputs)
        kind = one.kind if one.kind in inputs.masks else next(iter(inputs.masks))
        k_cache, v_cache = self._caches(layer, inputs.masks[kind])
        if k is not None and v is not None:
            graph.store(k_cache, graph.view(k), inputs.k_cells[kind], op=Op.SET_ROWS)
            graph.store(v_cache, graph.view(v), inputs.v_cells[kind], op=Op.SET_ROWS)
        q, k, v = (graph.view(graph.view(one)) for one in (q, k_cache, v_cache))
        out = self._attend(layer, q, k, v, inputs.masks[kind])
        self._prepare(following)
        if kind in inputs.v_rotations:
            out = graph.view(graph.op(out.n_bytes, inputs.v_rotations[kind], graph.view(out), op=Op.MUL_MAT))
        if gate is not None:
            gate = graph.op(out.n_bytes, graph.view(gate, out.n_bytes))
            out = graph.inplace(out.n_bytes, out, graph.inplace(gate.n_bytes, gate, op=Op.UNARY), op=Op.MUL)
        return graph.product(layer, "attn_output", facts.n_embd, out, one.n_head * one.head_v)

    def _n_kv(self, mask: Tensor) -> int:
        return mask.n_bytes // (2 if self.has_flash else 4) // self.n_tokens

    def _caches(self, layer: PlacedLayer, mask: Tensor) -> tuple[Tensor, Tensor]:
        k_row, v_row = layer.facts.k_row or self._widest_k, layer.facts.v_row or self._widest_v
        rows = row_bytes(self.params.type_k, k_row), row_bytes(self.params.type_v, v_row)
        k, v = (self.graph.kept(row * self._n_kv(mask), layer.place) for row in rows)
        return k, v

    def _attend(self, layer: PlacedLayer, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        graph, one = self.graph, layer.facts
        n_out = self._row(one.n_head * one.head_v)
        if self.has_flash:
            return graph.view(graph.op(n_out, q, k, v, mask))
        scores = graph.op(self._row(self._n_kv(mask) * one.n_head), k, q, op=Op.MUL_MAT)
        weighted = graph.op(n_out, v, graph.inplace(scores.n_bytes, scores, mask, op=Op.SOFT_MAX), op=Op.MUL_MAT)
        return graph.op(n_out, graph.view(weighted))

    def _query(self, layer: PlacedLayer, normed: Tensor, inputs: _Inputs) -> tuple[Tensor, Tensor | None]:
        graph, facts, one = self.graph, self.facts, layer.facts
        n = one.n_head * one.head_k
        size = self._row(n)
        full = graph.product(layer, "attn_q", n * (2 if facts.has_gated_attention else 1), normed)
        q = self._rope(layer, graph.view(full, size), inputs)
        if facts.has_scaled_input:
            q = graph.inplace(size, q)
        if one.kind in inputs.k_rotations:
            q = graph.view(graph.op(size, inputs.k_rotations[one.kind], graph.view(q), op=Op.MUL_MAT))
        return q, full if facts.has_gated_attention else None

    def _key(self, layer: PlacedLayer, normed: Tensor, inputs: _Inputs) -> Tensor | None:
        graph, one = self.graph, layer.facts
        if one.kind is LayerKind.SHARED:
            return None
        k = self._rope(layer, graph.view(graph.product(layer, "attn_k", one.k_row, normed)), inputs)
        if one.kind in inputs.k_rotations:
            k = graph.view(graph.op(k.n_bytes, inputs.k_rotations[one.kind], graph.view(k), op=Op.MUL_MAT))
        return k

    def _value(self, layer: PlacedLayer, normed: Tensor, inputs: _Inputs) -> Tensor | None:
        graph, one = self.graph, layer.facts
        if one.kind is LayerKind.SHARED or not one.v_row:
            return None
        v = graph.view(graph.product(layer, "attn_v", one.v_row, normed))
        if one.kind in inputs.v_rotations:
            v = graph.view(graph.op(v.n_bytes, inputs.v_rotations[one.kind], graph.view(v), op=Op.MUL_MAT))
        return v

    def _rope(self, layer: PlacedLayer, x: Tensor, inputs: _Inputs) -> Tensor:
        if self.facts.has_qk_norm:
            x = self.graph.norm(x, layer.place, layer.facts.head_k)
        return self.graph.inplace(x.n_bytes, x, inputs.positions, op=Op.ROPE)

    def _feed_forward(self, layer: PlacedLayer, normed: Tensor, n_rows: int) -> Tensor:
        facts = self.facts
        if not layer.facts.moe_bytes:
            return self._gated(layer, "", normed, layer.facts.n_ff)
        out = self._moe(layer, normed, n_rows)
        if facts.n_ff_shared:
            shared = self._gated(layer, "_shexp", normed, facts.n_ff_shared)
            gate = self.graph.product(layer, "ffn_gate_inp_shexp", 1, normed)
            gate = self.graph.inplace(gate.n_bytes, gate, op=Op.UNARY)
            shared = self.graph.inplace(shared.n_bytes, shared, gate, op=Op.MUL)
            out = self.graph.inplace(out.n_bytes, out, shared, op=Op.ADD)
        return out

    def _gated(self, layer: PlacedLayer, suffix: str, normed: Tensor, n_ff: int) -> Tensor:
        graph = self.graph
        gate = graph.product(layer, f"ffn_gate{suffix}", n_ff, normed)
        up = graph.product(layer, f"ffn_up{suffix}", n_ff, normed)
        both = graph.op(gate.n_bytes, gate, up)
        return graph.product(layer, f"ffn_down{suffix}", self.facts.n_embd, both, n_ff)

    def _moe(self, layer: PlacedLayer, normed: Tensor, n_rows: int) -> Tensor:
        graph, facts = self.graph, self.facts
        n_used = facts.n_expert_used
        logits = graph.product(layer, "ffn_gate_inp", facts.n_expert, normed)
        probs = graph.inplace(logits.n_bytes, logits, op=Op.SOFT_MAX)
        looked = graph.view(probs)
        chosen = graph.view(graph.op(4 * facts.n_expert * n_rows, probs, op=Op.ARGSORT), 4 * n_used * n_rows)
        weights = graph.view(graph.op(4 * n_used * n_rows, looked, chosen, op=Op.GET_ROWS))
        total = graph.op(4 * n_rows, weights, op=Op.SUM_ROWS)
        total = graph.inplace(total.n_bytes, total, op=Op.CLAMP)
        weights = graph.view(graph.inplace(weights.n_bytes, weights, total, op=Op.DIV))
        x = graph.view(normed)
        n_ff = facts.n_ff_expert
        gate = self._of_experts(layer, "ffn_gate_exps", n_ff, x, chosen)
        up = self._of_experts(layer, "ffn_up_exps", n_ff, x, chosen)
        down = self._of_experts(layer, "ffn_down_exps", facts.n_embd, graph.op(gate.n_bytes, gate, up), chosen)
        weighted = graph.inplace(down.n_bytes, down, weights, op=Op.MUL)
        parts = [graph.view(weighted, 4 * facts.n_embd * n_rows) for _ in range(n_used)]
        out = parts[0]
        for part in parts[1:]:
            out = graph.inplace(4 * facts.n_embd * n_rows, out, part, op=Op.ADD)
        return out

    def _of_experts(self, layer: PlacedLayer, name: str, n_out: int, x: Tensor, chosen: Tensor) -> Tensor:
        """`x` times the matrices of the chosen MoE experts, all of which are copied where the GPU borrows them."""
        facts, graph = self.facts, self.graph
        n_rows = chosen.n_bytes // (4 * facts.n_expert_used)
        n_elements = facts.n_embd * facts.n_ff_expert * facts.n_expert
        weight = graph.weight(layer.facts.matrix_bytes(name, n_elements), layer.moe_place)
        return graph.op(4 * n_out * facts.n_expert_used * n_rows, weight, x, chosen, op=Op.MUL_MAT_ID, n_batch=n_rows)


@dataclass(frozen=True, slots=True)
class ComputeBytes:
    """Of the compute buffer on the GPU, and of that in RAM."""

    gpu: int
    host: int


@dataclass(frozen=True, slots=True)
class _Question:
    """What the buffers depend on: a search for the layers that fit asks the same again and again."""

    layers: tuple[PlacedLayer, ...]
    rest: ModelFacts
    kinds: frozenset[tuple[LayerKind, int, int, int, int]]
    params: LoadParams
    n_seq_max: int
    backend: str | None
    facts: ModelFacts = field(compare=False)
    placement: Placement = field(compare=False)


def compute_bytes(facts: ModelFacts, params: LoadParams, placement: Placement, *, n_seq_max: int) -> ComputeBytes:
    """The compute buffers of a load that puts layers where `placement` says. The latest answers are remembered."""
    return _laid_out(
        _Question(
            tuple(_shortened(facts.layers, placement)),
            replace(facts, layers=()),
            frozenset((one.kind, one.k_row, one.v_row, one.head_k, one.head_v) for one in facts.layers),
            replace(params, n_gpu_layers=0, n_cpu_moe=0),
            n_seq_max,
            placement.backend,
            facts,
            placement,
        )
    )


@lru_cache(maxsize=256)
def _laid_out(question: _Question) -> ComputeBytes:
    one = question
    sizes = _Builder(one.facts, one.params, one.placement, n_seq_max=one.n_seq_max).sizes()
    return ComputeBytes(sizes[Place.GPU], sizes[Place.HOST])


def output_bytes(facts: ModelFacts, *, n_seq_max: int) -> int:
    """The logits as they are handed out, in RAM (llama-context.cpp:2116)."""
    return 4 * facts.n_vocab * n_seq_max


def _shortened(layers: tuple[LayerFacts, ...], placement: Placement) -> list[PlacedLayer]:
    """The loaded layers, without those in the middle that only repeat what was before."""
    loaded = [
        PlacedLayer(layer, placement.of_layer(number), placement.of_moe(number))
        for number, layer in enumerate(layers)
        if layer.kind is not LayerKind.SKIPPED
    ]
    n_most = MAX_LAYERS_LAID_OUT_ON_TWO if placement.has_gpu else MAX_LAYERS_LAID_OUT
    if len(loaded) <= n_most:
        return loaded
    half = n_most // 2
    return loaded[:half] + loaded[-half:]
