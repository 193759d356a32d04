"""The part of the compute graph that takes the place of attention in recurrent layers.

Source: src/models/lfm2.cpp, qwen35.cpp, delta-net-base.cpp and `build_rs` of llama-graph.cpp (llama-cpp-python 0.3.36).
"""

from collections.abc import Callable

from layadesk.domain.memory_fit.graph import Op, Tensor
from layadesk.domain.memory_fit.model_facts import ModelFacts, RecurrentKind
from layadesk.domain.memory_fit.weighted_graph import PlacedLayer, WeightedGraph


class StateIds:
    """Which state belongs to which sequence: an input that is looked at in two parts, from the first use on."""

    def __init__(self, graph: WeightedGraph, n_seq_max: int) -> None:
        self._graph = graph
        self._all = graph.input(4 * n_seq_max)
        self._parts: dict[str, Tensor] = {}

    def part(self, name: str) -> Tensor:
        """The sequences of this step, or the rest."""
        if name not in self._parts:
            self._parts[name] = self._graph.view(self._all)
        return self._parts[name]


class RecurrentBlock:
    """One such block for `n_tokens` tokens; the state of each of `n_seq_max` sequences is loaded, used and stored."""

    def __init__(
        self,
        graph: WeightedGraph,
        facts: ModelFacts,
        layer: PlacedLayer,
        ids: StateIds,
        *,
        n_tokens: int,
        n_seq_max: int,
    ) -> None:
        assert facts.recurrent is not None
        self._graph = graph
        self._layer = layer
        self._ids = ids
        self._recurrent = facts.recurrent
        self._n_embd = facts.n_embd
        self._n_seq_max = n_seq_max
        self._n_tokens = n_tokens
        self._row = 4 * n_tokens
        self._kept: Tensor | None = None
        self._caches: list[Tensor] = []
        self.is_short_conv = self._recurrent.kind is RecurrentKind.SHORT_CONV
        if self.is_short_conv:
            self._kept = graph.view(self._load_state(self._n_embd * (self._recurrent.d_conv - 1)))

    def output(self, stream: Tensor, prepare_next: Callable[[], None]) -> Tensor:
        """What is added to the stream. `prepare_next` is called where the next block's state is fetched."""
        normed = self._graph.norm(stream, self._layer.place)
        if self._kept is not None:
            return self._short_conv(self._kept, normed, prepare_next)
        out = self._delta_net(normed)
        prepare_next()
        return out

    def _load_state(self, n_elements: int) -> Tensor:
        n_bytes = 4 * n_elements * self._n_seq_max
        states = self._graph.kept(n_bytes, self._layer.place)
        self._caches.append(states)
        rows = self._graph.view(states)
        self._store(rows)  # the state of a new sequence is cleared
        state = self._graph.op(n_bytes, rows, self._ids.part("main"), op=Op.GET_ROWS)
        self._store(self._graph.op(0, rows, self._ids.part("extra"), op=Op.GET_ROWS))
        return state

    def _store(self, state: Tensor) -> None:
        """Into the cache that was read last."""
        cache = self._caches[-1]
        self._graph.view(cache)
        self._graph.store(cache, state)

    def _short_conv(self, state: Tensor, normed: Tensor, prepare_next: Callable[[], None]) -> Tensor:
        graph, row, n_embd = self._graph, self._row * self._n_embd, self._n_embd
        n_kept = self._recurrent.d_conv - 1
        n = self._n_seq_max
        projected = graph.product(self._layer, "shortconv.in_proj", 3 * n_embd, graph.view(normed), n_sequences=n)
        product = graph.op(row, graph.view(projected), graph.view(projected), op=Op.MUL)  # thirds, which lie apart
        n_joined = n_embd * (self._n_tokens + n_kept * self._n_seq_max)
        joined = graph.op(4 * n_joined, state, graph.view(product))
        self._store(graph.view(joined))  # the last columns only, but a copy of them spans all
        prepare_next()
        gate = graph.view(projected)
        mixed = graph.inplace(row, gate, self._convolved(joined, n_embd), op=Op.MUL)
        return graph.view(graph.product(self._layer, "shortconv.out_proj", n_embd, mixed, n_sequences=n))

    def _convolved(self, joined: Tensor, n_channels: int) -> Tensor:
        kernel = self._graph.weight(4 * self._recurrent.d_conv * n_channels, self._layer.place)
        return self._graph.op(self._row * n_channels, joined, kernel, op=Op.SSM_CONV, n_batch=self._n_tokens)

    def _delta_net(self, normed: Tensor) -> Tensor:
        graph, recurrent, row = self._graph, self._recurrent, self._row
        d_key, d_value = recurrent.d_state * recurrent.n_group, recurrent.d_inner
        joined = self._joined(normed, 2 * d_key + d_value)
        state = self._load_state(recurrent.d_state * d_value)
        filtered = self._convolved(joined, 2 * d_key + d_value)
        filtered = graph.inplace(filtered.n_bytes, filtered, op=Op.UNARY)
        q = graph.inplace(row * d_key, graph.op(row * d_key, graph.view(filtered, row * d_key), op=Op.RMS_NORM))
        k = graph.inplace(row * d_key, graph.op(row * d_key, graph.view(filtered, row * d_key), op=Op.RMS_NORM))
        v = graph.view(filtered, row * d_value)
        gate = graph.view(self._decay(normed))
        beta = graph.product(self._layer, "ssm_beta", recurrent.n_head, normed)
        beta = graph.inplace(row * recurrent.n_head, graph.view(beta), op=Op.UNARY)
        n_state = 4 * recurrent.d_state * d_value * self._n_seq_max
        delta = graph.op(row * d_value + n_state, q, k, v, gate, beta, graph.view(state))
        self._store(graph.view(delta, n_state))
        out = graph.norm(graph.view(delta, row * d_value), self._layer.place, recurrent.d_state)
        z = graph.view(graph.product(self._layer, "attn_gate", d_value, normed))
        out = graph.view(graph.inplace(out.n_bytes, out, graph.inplace(out.n_bytes, z, op=Op.UNARY), op=Op.MUL))
        return graph.view(
            graph.product(self._layer, "ssm_out", self._n_embd, out, d_value, n_sequences=self._n_seq_max)
        )

    def _joined(self, normed: Tensor, d_conv: int) -> Tensor:
        graph = self._graph
        n_kept = max(self._recurrent.d_conv - 1, 0) * self._n_seq_max
        kept = self._load_state(d_conv * max(self._recurrent.d_conv - 1, 0))
        kept = graph.view(kept)
        mixed = graph.view(graph.view(graph.product(self._layer, "attn_qkv", d_conv, normed)))
        joined = graph.op(4 * d_conv * (self._n_tokens + n_kept), kept, mixed)
        self._store(graph.view(joined))  # the last columns only, but a copy of them spans all
        return joined

    def _decay(self, normed: Tensor) -> Tensor:
        n_head, place = self._recurrent.n_head, self._layer.place
        alpha = self._graph.view(self._graph.product(self._layer, "ssm_alpha", n_head, normed))
        biased = self._graph.scaled(alpha, place, n_head, op=Op.ADD)
        return self._graph.scaled(self._graph.inplace(biased.n_bytes, biased, op=Op.UNARY), place, n_head)
