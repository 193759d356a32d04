"""The compute buffer: llama.cpp's graph of one full prompt step, laid out as its allocator would.

The order of the nodes and what may be written in place decide the size, so the graphs follow llama-graph.cpp and
src/models/*.cpp of the llama.cpp vendored in llama-cpp-python 0.3.36 node by node. Only a few layers are laid out: the
buffer of the third layer of a kind is that of the thirtieth.
"""

from collections.abc import Callable
from dataclasses import dataclass

from layadesk.domain.inference import LoadParams
from layadesk.domain.memory_fit.graph_allocator import Graph, Tensor
from layadesk.domain.memory_fit.kv_cache import QUANTIZED, n_cells, pad_256, uses_flash_attention
from layadesk.domain.memory_fit.model_facts import LayerFacts, LayerKind, ModelFacts
from layadesk.domain.memory_fit.recurrent_graph import RecurrentBlock

MAX_LAYERS_LAID_OUT = 10
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

    def __init__(self, facts: ModelFacts, params: LoadParams, *, n_seq_max: int) -> None:
        self.facts = facts
        self.params = params
        self.n_seq_max = n_seq_max
        n_tokens = min(pad_256(params.n_ctx), params.n_ubatch)
        self.n_outputs = min(n_tokens, n_seq_max)
        self.n_tokens = (n_tokens + n_seq_max - 1) // n_seq_max * n_seq_max  # as many for each sequence
        self.graph = Graph()
        self._block: RecurrentBlock | None = None
        self.has_flash = uses_flash_attention(params)

    def peak_bytes(self) -> int:
        graph, facts = self.graph, self.facts
        tokens = graph.input(4 * self.n_tokens)
        graph.input(self._row(facts.n_embd))  # for prompts of vectors; there in any case
        inputs = self._inputs()
        stream = graph.op(self._row(facts.n_embd), tokens)
        if facts.has_scaled_input:
            stream = graph.inplace(self._row(facts.n_embd), stream)
        layers = _shortened(facts.layers)
        self._prepare(layers[0])
        for number, layer in enumerate(layers):
            following = layers[number + 1] if number + 1 < len(layers) else None
            stream = self._layer(layer, stream, inputs, following)
        normed = self._norm(stream)
        if self._picks_outputs_last:
            normed = graph.op(4 * facts.n_embd * self.n_outputs, normed, inputs.out_ids)
        graph.op(4 * facts.n_vocab * self.n_outputs, normed, is_output=True)
        return graph.peak_bytes()

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
            graph.input(4 * self.n_seq_max)  # which state belongs to which sequence
        present = {layer.kind for layer in facts.layers}
        kinds: list[LayerKind] = [kind for kind in (LayerKind.FULL, LayerKind.WINDOW) if kind in present]
        masks: dict[LayerKind, Tensor] = {}
        k_cells: dict[LayerKind, Tensor] = {}
        v_cells: dict[LayerKind, Tensor] = {}
        for kind in kinds:
            n_kv = n_cells(facts, kind, params, n_seq_max=self.n_seq_max)
            widest = max(layer.v_row for layer in facts.layers)
            k_cells[kind] = graph.input(8 * self.n_tokens)
            v_cells[kind] = graph.input(8 * self.n_tokens * (1 if self.has_flash else widest))
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

    def _norm(self, x: Tensor) -> Tensor:
        return self.graph.inplace(x.n_bytes, self.graph.inplace(x.n_bytes, x))

    def _prepare(self, layer: LayerFacts | None) -> None:
        """The state of a short convolution is fetched in the middle of the layer before it."""
        if layer is not None and layer.kind is LayerKind.RECURRENT:
            self._block = RecurrentBlock(self.graph, self.facts, n_tokens=self.n_tokens, n_seq_max=self.n_seq_max)

    def _layer(self, layer: LayerFacts, stream: Tensor, inputs: _Inputs, following: LayerFacts | None) -> Tensor:
        graph, facts = self.graph, self.facts
        if layer.kind is LayerKind.RECURRENT:
            assert self._block is not None
            out = self._block.output(stream, self._norm, lambda: self._prepare(following))
        else:
            out = self._attention(layer, self._norm(stream), inputs, following)
        n_rows = self.n_tokens
        residual = stream
        if following is None and not self._picks_outputs_last:
            n_rows = self.n_outputs
            out = graph.op(4 * facts.n_embd * n_rows, out, inputs.out_ids)
        if facts.has_post_norm:
            out = self._norm(out)
        if n_rows != self.n_tokens:
            residual = graph.op(4 * facts.n_embd * n_rows, stream, inputs.out_ids)
        after = self._sum(out, residual)
        mixed = self._feed_forward(layer, self._norm(after), n_rows)
        if facts.has_post_norm:
            mixed = self._norm(mixed)
        return self._sum(mixed, after)

    def _sum(self, added: Tensor, residual: Tensor) -> Tensor:
        """Written over the first of the two that is needed no more."""
        terms = (residual, added) if self._block is not None and self._block.is_short_conv else (added, residual)
        return self.graph.inplace(added.n_bytes, *terms)

    def _attention(self, layer: LayerFacts, normed: Tensor, inputs: _Inputs, following: LayerFacts | None) -> Tensor:
        graph, facts = self.graph, self.facts
        q, gate = self._query(layer, normed, inputs)
        if facts.has_scaled_input:  # Gemma: Q, K, V; the others: Q, V, K
            k, v = self._key(layer, normed, inputs), self._value(layer, normed, inputs)
        else:
            v, k = self._value(layer, normed, inputs), self._key(layer, normed, inputs)
        kind = layer.kind if layer.kind in inputs.masks else next(iter(inputs.masks))
        if k is not None and v is not None:
            graph.store(graph.view(k), inputs.k_cells[kind])
            graph.store(graph.view(v), inputs.v_cells[kind])
        out = self._attend(layer, graph.view(graph.view(q)), inputs.masks[kind])
        self._prepare(following)
        if kind in inputs.v_rotations:
            out = graph.view(graph.op(out.n_bytes, inputs.v_rotations[kind], graph.view(out)))
        if gate is not None:
            gate = graph.op(out.n_bytes, graph.view(gate, out.n_bytes))
            out = graph.inplace(out.n_bytes, out, graph.inplace(gate.n_bytes, gate))
        return graph.op(self._row(facts.n_embd), out)

    def _attend(self, layer: LayerFacts, q: Tensor, mask: Tensor) -> Tensor:
        graph = self.graph
        n_out = self._row(layer.n_head * layer.head_v)
        if self.has_flash:
            return graph.view(graph.op(n_out, q, mask))
        n_kv = mask.n_bytes // 4 // self.n_tokens
        scores = graph.op(self._row(n_kv * layer.n_head), q)
        weighted = graph.op(n_out, graph.inplace(scores.n_bytes, scores, mask))
        return graph.op(n_out, graph.view(weighted))

    def _query(self, layer: LayerFacts, normed: Tensor, inputs: _Inputs) -> tuple[Tensor, Tensor | None]:
        graph, facts = self.graph, self.facts
        size = self._row(layer.n_head * layer.head_k)
        full = graph.op(size * (2 if facts.has_gated_attention else 1), normed)
        q = self._rope(graph.view(full, size), inputs)
        if facts.has_scaled_input:
            q = graph.inplace(size, q)
        if layer.kind in inputs.k_rotations:
            q = graph.view(graph.op(size, inputs.k_rotations[layer.kind], graph.view(q)))
        return q, full if facts.has_gated_attention else None

    def _key(self, layer: LayerFacts, normed: Tensor, inputs: _Inputs) -> Tensor | None:
        if layer.kind is LayerKind.SHARED:
            return None
        size = self._row(layer.k_row)
        k = self._rope(self.graph.view(self.graph.op(size, normed)), inputs)
        if layer.kind in inputs.k_rotations:
            k = self.graph.view(self.graph.op(size, inputs.k_rotations[layer.kind], self.graph.view(k)))
        return k

    def _value(self, layer: LayerFacts, normed: Tensor, inputs: _Inputs) -> Tensor | None:
        if layer.kind is LayerKind.SHARED or not layer.v_row:
            return None
        size = self._row(layer.v_row)
        v = self.graph.view(self.graph.op(size, normed))
        if layer.kind in inputs.v_rotations:
            v = self.graph.view(self.graph.op(size, inputs.v_rotations[layer.kind], self.graph.view(v)))
        return v

    def _rope(self, x: Tensor, inputs: _Inputs) -> Tensor:
        if self.facts.has_qk_norm:
            x = self._norm(x)
        return self.graph.inplace(x.n_bytes, x, inputs.positions)

    def _feed_forward(self, layer: LayerFacts, normed: Tensor, n_rows: int) -> Tensor:
        facts = self.facts
        if not layer.moe_bytes:
            return self._gated(normed, layer.n_ff, n_rows)
        out = self._moe(normed, n_rows)
        if facts.n_ff_shared:
            shared = self._gated(normed, facts.n_ff_shared, n_rows)
            gate = self.graph.inplace(4 * n_rows, self.graph.op(4 * n_rows, normed))
            out = self.graph.inplace(out.n_bytes, out, self.graph.inplace(shared.n_bytes, shared, gate))
        return out

    def _gated(self, normed: Tensor, n_ff: int, n_rows: int) -> Tensor:
        graph, size = self.graph, 4 * n_ff * n_rows
        gate, up = graph.op(size, normed), graph.op(size, normed)
        return graph.op(4 * self.facts.n_embd * n_rows, graph.op(size, gate, up))

    def _moe(self, normed: Tensor, n_rows: int) -> Tensor:
        graph, facts = self.graph, self.facts
        n_used = facts.n_expert_used
        logits = graph.op(4 * facts.n_expert * n_rows, normed)
        probs = graph.inplace(logits.n_bytes, logits)
        looked = graph.view(probs)
        chosen = graph.view(graph.op(4 * facts.n_expert * n_rows, probs), 4 * n_used * n_rows)
        weights = graph.view(graph.op(4 * n_used * n_rows, looked, chosen))
        total = graph.op(4 * n_rows, weights)
        weights = graph.view(graph.inplace(weights.n_bytes, weights, graph.inplace(total.n_bytes, total)))
        x = graph.view(normed)
        size = 4 * facts.n_ff_expert * n_used * n_rows
        gate, up = graph.op(size, x, chosen), graph.op(size, x, chosen)
        down = graph.op(4 * facts.n_embd * n_used * n_rows, graph.op(size, gate, up), chosen)
        weighted = graph.inplace(down.n_bytes, down, weights)
        parts = [graph.view(weighted, 4 * facts.n_embd * n_rows) for _ in range(n_used)]
        out = parts[0]
        for part in parts[1:]:
            out = graph.inplace(4 * facts.n_embd * n_rows, out, part)
        return out


def compute_bytes(facts: ModelFacts, params: LoadParams, *, n_seq_max: int) -> int:
    """Bytes of the compute buffer where everything is computed on one device."""
    return _Builder(facts, params, n_seq_max=n_seq_max).peak_bytes()


def output_bytes(facts: ModelFacts, *, n_seq_max: int) -> int:
    """The logits as they are handed out, in RAM (llama-context.cpp:2116)."""
    return 4 * facts.n_vocab * n_seq_max


def _shortened(layers: tuple[LayerFacts, ...]) -> tuple[LayerFacts, ...]:
    """The loaded layers, without those in the middle that only repeat what was before."""
    loaded = tuple(layer for layer in layers if layer.kind is not LayerKind.SKIPPED)
    if len(loaded) <= MAX_LAYERS_LAID_OUT:
        return loaded
    half = MAX_LAYERS_LAID_OUT // 2
    return loaded[:half] + loaded[-half:]
