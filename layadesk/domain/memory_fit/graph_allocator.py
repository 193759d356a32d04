"""How many bytes llama.cpp's compute buffers have: its graph allocator, played through without any memory.

Source: ggml/src/ggml-alloc.c of the llama.cpp vendored in llama-cpp-python 0.3.36 (`ggml_gallocr_alloc_graph_impl`,
`ggml_dyn_tallocr_alloc`). Tensors are placed best-fit among freed blocks and may take the place of a parent that is
needed no more, so the result is no sum and no formula; small changes of a size can move it either way.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from layadesk.domain.memory_fit.graph import Graph, Place, Tensor
from layadesk.domain.memory_fit.graph_scheduler import Step, schedule

ALIGNMENT = 32  # of the CPU's buffers; a GPU's is 16 to 256, which matters to no figure that is shown


@dataclass(slots=True)
class _Block:
    offset: int
    n_bytes: int


@dataclass(slots=True)
class _Space:
    """The free blocks by address; the last one has no end."""

    blocks: list[_Block] = field(default_factory=lambda: [_Block(0, 1 << 62)])
    high_water: int = 0

    def take(self, n_bytes: int) -> int:
        fitting = [block for block in self.blocks[:-1] if block.n_bytes >= n_bytes]
        smallest = min((block.n_bytes for block in fitting), default=0)
        # the last one of equal size, as the original's `<=` has it
        block = next((one for one in reversed(fitting) if one.n_bytes == smallest), self.blocks[-1])
        offset = block.offset
        block.offset += n_bytes
        block.n_bytes -= n_bytes
        if block.n_bytes == 0:
            self.blocks.remove(block)
        self.high_water = max(self.high_water, offset + n_bytes)
        return offset

    def give_back(self, offset: int, n_bytes: int) -> None:
        for i, block in enumerate(self.blocks):
            if block.offset + block.n_bytes == offset:
                block.n_bytes += n_bytes
                if i + 1 < len(self.blocks) and block.offset + block.n_bytes == self.blocks[i + 1].offset:
                    block.n_bytes += self.blocks.pop(i + 1).n_bytes
                return
            if offset + n_bytes == block.offset:
                block.offset = offset
                block.n_bytes += n_bytes
                if i > 0 and self.blocks[i - 1].offset + self.blocks[i - 1].n_bytes == block.offset:
                    self.blocks[i - 1].n_bytes += block.n_bytes
                    del self.blocks[i]
                return
        at = next((i for i, block in enumerate(self.blocks) if block.offset > offset), len(self.blocks))
        self.blocks.insert(at, _Block(offset, n_bytes))


@dataclass(slots=True)
class _Use:
    """What the allocator knows of a tensor while it goes through the graph."""

    n_children: int = 0
    n_views: int = 0
    is_allocated: bool = False
    offset: int = 0
    place: Place = Place.HOST


def buffer_bytes(graph: Graph, backend: str | None = None) -> dict[Place, int]:
    """The size of each compute buffer, with a GPU of that backend or without one. A graph may be asked once."""
    return _Layout(graph, schedule(graph, backend)).sizes()


class _Layout:
    def __init__(self, graph: Graph, steps: Sequence[Step]) -> None:
        self._inputs = graph.inputs
        self._steps = steps
        self._uses: defaultdict[Tensor, _Use] = defaultdict(_Use)
        self._spaces: defaultdict[Place, _Space] = defaultdict(_Space)

    def sizes(self) -> dict[Place, int]:
        self._place_inputs()
        for step in self._steps:
            if step.node.view_of is not None:
                self._uses[step.node.view_of].n_views += 1
            for parent in step.node.parents:
                self._uses[parent].n_children += 1
        for step in self._steps:
            self._put(step.node, step.place)
            for parent in step.node.parents:
                self._uses[parent].n_children -= 1
                self._free_if_unused(parent)
        return {place: self._spaces[place].high_water for place in Place}

    def _place_inputs(self) -> None:
        """Before all nodes, in the order of their first use; one that is never used stays for good."""
        used = dict.fromkeys(one for step in self._steps for one in step.node.parents if one.is_input)
        order = {tensor: i for i, tensor in enumerate(used)}
        for tensor in sorted(self._inputs, key=lambda one: order.get(one, 0)):
            self._put(tensor, Place.HOST)

    def _put(self, node: Tensor, place: Place) -> None:
        use = self._uses[node]
        if node.is_external or node.view_of is not None or use.is_allocated:
            return
        use.is_allocated = True
        replaced = next((one for one in node.parents if self._is_replaceable(node, one)), None)
        if node.may_replace_parent and replaced is not None:
            over = self._uses[replaced]
            use.offset, use.place = over.offset, over.place
            over.is_allocated = False
            return
        use.offset, use.place = self._spaces[place].take(_aligned(node.n_bytes)), place

    def _is_replaceable(self, node: Tensor, parent: Tensor) -> bool:
        """Whether `node` may take over the memory of `parent`."""
        use = self._uses[parent]
        if parent.view_of is not None or parent.is_external or parent.is_output or not use.is_allocated:
            return False
        return use.n_children == 1 and use.n_views == 0 and parent.n_bytes == node.n_bytes

    def _free_if_unused(self, parent: Tensor) -> None:
        use = self._uses[parent]
        if use.n_children != 0 or use.n_views != 0:
            return
        root = parent.view_of or parent
        of_root = self._uses[root]
        if root is not parent:
            of_root.n_views -= 1
        if of_root.n_views == 0 and of_root.n_children == 0 and of_root.is_allocated and not root.is_output:
            of_root.is_allocated = False
            self._spaces[of_root.place].give_back(of_root.offset, _aligned(root.n_bytes))


def _aligned(n_bytes: int) -> int:
    return (n_bytes + ALIGNMENT - 1) & -ALIGNMENT
