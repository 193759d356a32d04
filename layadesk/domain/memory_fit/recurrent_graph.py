"""The part of the compute graph that takes the place of attention in recurrent layers.

Source: src/models/lfm2.cpp, qwen35.cpp, delta-net-base.cpp and `build_rs` of llama-graph.cpp (llama-cpp-python 0.3.36).
"""

from collections.abc import Callable

from layadesk.domain.memory_fit.graph_allocator import Graph, Tensor
from layadesk.domain.memory_fit.model_facts import ModelFacts, RecurrentKind


class RecurrentBlock:
    """One such block for `n_tokens` tokens; the state of each of `n_seq_max` sequences is loaded, used and stored."""

    def __init__(self, graph: Graph, facts: ModelFacts, *, n_tokens: int, n_seq_max: int) -> None:
        assert facts.recurrent is not None
        self._graph = graph
        self._recurrent = facts.recurrent
        self._n_embd = facts.n_embd
        self._n_seq_max = n_seq_max
        self._n_tokens = n_tokens
        self._row = 4 * n_tokens
        self._kept: Tensor | None = None
        self.is_short_conv = self._recurrent.kind is RecurrentKind.SHORT_CONV
        if self.is_short_conv:
            self._kept = self._load_state(self._n_embd * (self._recurrent.d_conv - 1))

    def output(self, stream: Tensor, norm: Callable[[Tensor], Tensor], prepare_next: Callable[[], None]) -> Tensor:
        """What is added to the stream. `prepare_next` is called where the next block's state is fetched."""
        if self._kept is not None:
            return self._short_conv(self._kept, norm(stream), prepare_next)
        out = self._delta_net(norm(stream))
        prepare_next()
        return out

    def _load_state(self, n_elements: int) -> Tensor:
        state = self._graph.op(4 * n_elements * self._n_seq_max)
        self._graph.store(self._graph.op(0))
        return state

    def _short_conv(self, state: Tensor, normed: Tensor, prepare_next: Callable[[], None]) -> Tensor:
        graph, row = self._graph, self._row * self._n_embd
        n_kept = self._recurrent.d_conv - 1
        projected = graph.op(3 * row, normed)
        product = graph.op(row, graph.view(projected, row), graph.view(projected, row))
        n_joined = self._n_embd * (self._n_tokens + n_kept * self._n_seq_max)
        joined = graph.op(4 * n_joined, graph.view(state), graph.view(product))
        graph.store(graph.view(joined, 4 * self._n_embd * n_kept * self._n_seq_max))
        prepare_next()
        gate = graph.view(projected, row)
        mixed = graph.op(row, joined)
        return graph.view(graph.op(row, graph.inplace(row, gate, mixed)))

    def _delta_net(self, normed: Tensor) -> Tensor:
        graph, recurrent, row = self._graph, self._recurrent, self._row
        d_key, d_value = recurrent.d_state * recurrent.n_group, recurrent.d_inner
        joined = self._convolution(normed, 2 * d_key + d_value)
        state = self._load_state(recurrent.d_state * d_value)
        filtered = graph.op(row * (2 * d_key + d_value), joined)
        filtered = graph.inplace(filtered.n_bytes, filtered)
        q = graph.inplace(row * d_key, graph.op(row * d_key, graph.view(filtered, row * d_key)))
        k = graph.inplace(row * d_key, graph.op(row * d_key, graph.view(filtered, row * d_key)))
        v = graph.view(filtered, row * d_value)
        gate = graph.view(self._small_gate(normed))
        beta = graph.inplace(row * recurrent.n_head, graph.view(graph.op(row * recurrent.n_head, normed)))
        n_state = 4 * recurrent.d_state * d_value * self._n_seq_max
        delta = graph.op(row * d_value + n_state, q, k, v, gate, beta, graph.view(state))
        graph.store(graph.view(delta, n_state))
        out = graph.view(delta, row * d_value)
        out = graph.inplace(out.n_bytes, graph.inplace(out.n_bytes, out))
        z = graph.inplace(out.n_bytes, graph.view(graph.op(out.n_bytes, normed)))
        out = graph.view(graph.inplace(out.n_bytes, out, z))
        return graph.view(graph.op(row * self._n_embd, out))

    def _convolution(self, normed: Tensor, d_conv: int) -> Tensor:
        graph = self._graph
        n_kept = max(self._recurrent.d_conv - 1, 0) * self._n_seq_max
        kept = self._load_state(d_conv * max(self._recurrent.d_conv - 1, 0))
        mixed = graph.op(self._row * d_conv, normed)
        joined = graph.op(4 * d_conv * (self._n_tokens + n_kept), graph.view(kept), graph.view(mixed))
        graph.store(graph.view(joined, 4 * d_conv * n_kept))
        return joined

    def _small_gate(self, normed: Tensor) -> Tensor:
        size = self._row * self._recurrent.n_head
        alpha = self._graph.view(self._graph.op(size, normed))
        return self._graph.inplace(size, self._graph.inplace(size, self._graph.inplace(size, alpha)))
