"""Which node of a graph is computed where, and what has to be copied for it, as llama.cpp's scheduler decides.

Source: `ggml_backend_sched_split_graph` of ggml/src/ggml-backend.cpp (llama-cpp-python 0.3.36), for one GPU and CPU.
A long prompt is computed on the GPU even where the weights lie in RAM: each matrix is copied into the compute buffer
for its product, and so are the keys and values of such layers. That is why the buffer of a GPU that holds few layers
may be larger than that of one that holds all.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from layadesk.domain.memory_fit.graph import Graph, Place, Tensor, copy_of
from layadesk.domain.memory_fit.vulkan_order import VulkanOrder

LEAST_OFFLOADED_BATCH = 32  # GGML_OP_OFFLOAD_MIN_BATCH of CUDA, Vulkan and the others


@dataclass(frozen=True, slots=True)
class Step:
    """One node in its place. `is_reference`: it only keeps its parent in memory until here."""

    node: Tensor
    place: Place
    is_reference: bool = False


def schedule(graph: Graph, backend: str | None) -> list[Step]:
    """The nodes in their order, with the copies that cross over; changes the parents of nodes to these copies.

    `backend` is that of the GPU, None where there is none.
    """
    if backend is None:
        return [Step(node, Place.HOST) for node in graph.nodes]
    _assign(graph.nodes)
    return _split(graph.nodes, is_reordered=backend == "Vulkan")


def _assign(nodes: Sequence[Tensor]) -> None:
    own = [node for node in nodes if node.view_of is None]
    for node in own:
        if node.place is None:
            node.place = _by_weights(node)
    for order, spreads_host in ((own, False), (own[::-1], False), (own, True), (own[::-1], True)):
        _spread(order, spreads_host=spreads_host)
    for node in nodes:
        if node.view_of is not None:
            node.place = node.view_of.place


def _by_weights(node: Tensor) -> Place | None:
    weight = next((parent for parent in node.parents if parent.is_weight), None)
    if weight is None or weight.place is Place.GPU:
        return None if weight is None else Place.GPU
    return Place.GPU if node.n_batch >= LEAST_OFFLOADED_BATCH else Place.HOST


def _spread(nodes: Iterable[Tensor], *, spreads_host: bool) -> None:
    """To neighbours that nothing binds: first from the GPU in both directions, then from anywhere."""
    current: Place | None = None
    for node in nodes:
        if node.place is None:
            node.place = current
        else:
            current = node.place if spreads_host or node.place is Place.GPU else None


def _split(nodes: Sequence[Tensor], *, is_reordered: bool) -> list[Step]:
    """Runs of nodes in one place; what a run needs from elsewhere is copied when it begins, once a graph."""
    steps: list[Step] = []
    run: list[Tensor] = []
    needed: list[Tensor] = []
    copies: dict[tuple[Tensor, Place], Tensor] = {}
    current: Place | None = None

    def end() -> None:
        assert current is not None
        for tensor in needed:
            steps.append(Step(Tensor(0, (tensor,), is_external=True), tensor.place or current, is_reference=True))
            steps.append(Step(copies[tensor, current], current))
        steps.extend(_run(run, is_reordered=is_reordered and current is Place.GPU))
        run.clear()
        needed.clear()

    for node in nodes:
        if node.view_of is not None or node.place is None:
            run.append(node)
            continue
        current = node.place if current is None else current
        brings_weight = any(one.is_weight and one.place is not current for one in node.parents)
        if node.place is not current or (needed and brings_weight):  # so that earlier copies of weights make room
            end()
            current = node.place
        for parent in node.parents:
            if parent.place is not current and (parent, current) not in copies:
                copies[parent, current] = copy_of(parent, current)
                needed.append(parent)
        node.parents = tuple(copies.get((parent, current), parent) for parent in node.parents)
        run.append(node)
    end()
    return steps


def _run(nodes: Sequence[Tensor], *, is_reordered: bool) -> Iterator[Step]:
    order = VulkanOrder(nodes) if is_reordered else None
    for node in nodes if order is None else order.order:
        yield Step(node, node.place or Place.HOST)
        if order is not None and node in order.kept:
            yield Step(Tensor(0, order.kept[node], is_external=True), Place.GPU, is_reference=True)
