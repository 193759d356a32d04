"""How many bytes llama.cpp's compute buffer has: its graph allocator, played through without any memory.

Source: ggml/src/ggml-alloc.c of the llama.cpp vendored in llama-cpp-python 0.3.36 (`ggml_gallocr_alloc_graph_impl`,
`ggml_dyn_tallocr_alloc`). Tensors are placed best-fit among freed blocks and may take the place of a parent that is
needed no more, so the result is no sum and no formula; small changes of a size can move it either way.
"""

from dataclasses import dataclass, field

ALIGNMENT = 32  # of the CPU's buffers; a GPU's is 128 or 256, which matters to no figure that is shown


@dataclass(eq=False, slots=True)
class Tensor:
    """One node. `view_of` is the tensor into whose memory it looks; `is_external` lies elsewhere (weights, KV)."""

    n_bytes: int
    parents: tuple["Tensor", ...] = ()
    view_of: "Tensor | None" = None
    may_replace_parent: bool = False
    is_output: bool = False
    is_external: bool = False
    offset: int = 0
    is_allocated: bool = False
    n_children: int = 0
    n_views: int = 0


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


class Graph:
    """Built node by node in the order in which llama.cpp computes them; `peak_bytes` may be asked once."""

    def __init__(self) -> None:
        self._inputs: list[Tensor] = []
        self._nodes: list[Tensor] = []
        self._space = _Space()

    def input(self, n_bytes: int) -> Tensor:
        """A tensor that is filled before the graph runs, such as positions or a mask."""
        tensor = Tensor(n_bytes)
        self._inputs.append(tensor)
        return tensor

    def op(self, n_bytes: int, *parents: Tensor, is_output: bool = False) -> Tensor:
        """A node with memory of its own, such as a matrix product."""
        return self._add(Tensor(n_bytes, parents, is_output=is_output))

    def inplace(self, n_bytes: int, *parents: Tensor) -> Tensor:
        """A node that may be written over a parent of the same size, such as a sum or a norm."""
        return self._add(Tensor(n_bytes, parents, may_replace_parent=True))

    def view(self, source: Tensor, n_bytes: int | None = None) -> Tensor:
        """Another look at a tensor: a reshape, a permutation, a part."""
        root = source.view_of or source
        return self._add(Tensor(source.n_bytes if n_bytes is None else n_bytes, (source,), view_of=root))

    def store(self, *parents: Tensor) -> Tensor:
        """A node that writes into memory outside of the graph, such as the KV cache; what it returns lies there."""
        return self._add(Tensor(0, parents, is_external=True))

    def peak_bytes(self) -> int:
        """The size of the buffer."""
        self._place_inputs()
        for node in self._nodes:
            if node.view_of is not None:
                node.view_of.n_views += 1
            for parent in node.parents:
                parent.n_children += 1
        for node in self._nodes:
            self._place(node)
            for parent in node.parents:
                parent.n_children -= 1
                self._free_if_unused(parent)
        return self._space.high_water

    def _place_inputs(self) -> None:
        """Before all nodes, in the order of their first use; one that is never used stays for good."""
        used = dict.fromkeys(id(parent) for node in self._nodes for parent in node.parents)
        order = {key: i for i, key in enumerate(used)}
        for tensor in sorted(self._inputs, key=lambda one: order.get(id(one), 0)):
            self._place(tensor)

    def _add(self, node: Tensor) -> Tensor:
        self._nodes.append(node)
        return node

    def _place(self, node: Tensor) -> None:
        if node.is_external or node.view_of is not None or node.is_allocated:
            return
        node.is_allocated = True
        replaced = next((one for one in map(self._replaceable, [node] * 9, node.parents) if one), None)
        if node.may_replace_parent and replaced is not None:
            node.offset = replaced.offset
            replaced.is_allocated = False
            extra = _aligned(replaced.n_bytes) - _aligned(node.n_bytes)
            if extra > 0:
                self._space.give_back(node.offset + _aligned(node.n_bytes), extra)
            return
        node.offset = self._space.take(_aligned(node.n_bytes))

    @staticmethod
    def _replaceable(node: Tensor, parent: Tensor) -> Tensor | None:
        """The tensor whose memory `node` may take over from `parent`, if any."""
        if parent.view_of is not None or parent.is_external or parent.is_output or not parent.is_allocated:
            return None
        is_free = parent.n_children == 1 and parent.n_views == 0 and parent.n_bytes == node.n_bytes
        return parent if is_free else None

    def _free_if_unused(self, parent: Tensor) -> None:
        if parent.n_children != 0 or parent.n_views != 0:
            return
        root = parent.view_of or parent
        if root is not parent:
            root.n_views -= 1
        if root.n_views == 0 and root.n_children == 0 and root.is_allocated and not root.is_output:
            root.is_allocated = False
            self._space.give_back(root.offset, _aligned(root.n_bytes))


def _aligned(n_bytes: int) -> int:
    return (n_bytes + ALIGNMENT - 1) & -ALIGNMENT
