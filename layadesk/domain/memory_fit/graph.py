"""A compute graph as far as memory goes: tensors with their sizes, what they are made from, and where weights lie."""

from dataclasses import dataclass, replace
from enum import Enum, IntEnum, auto


class Place(IntEnum):
    """Whose memory. None is 0, which would count as unknown."""

    GPU = 1
    HOST = 2


class Op(Enum):
    """What a node computes, as far as it decides anything; NONE is a leaf, VIEW all that only looks differently."""

    NONE = auto()
    OTHER = auto()
    VIEW = auto()
    ADD = auto()
    ARGSORT = auto()
    CLAMP = auto()
    DIV = auto()
    GET_ROWS = auto()
    MUL = auto()
    MUL_MAT = auto()
    MUL_MAT_ID = auto()
    RMS_NORM = auto()
    ROPE = auto()
    SET_ROWS = auto()
    SOFT_MAX = auto()
    SSM_CONV = auto()
    SUM_ROWS = auto()
    UNARY = auto()


@dataclass(eq=False, slots=True)
class Tensor:
    """One node or leaf. `view_of` is the tensor into whose memory it looks; `is_external` lies elsewhere (weights, KV).

    `place` is known from the start for what is external, else it is the scheduler's. `n_batch`: the tokens it is made
    for, by which a GPU decides whether it computes with weights that lie in RAM. `writes` is the cache that it changes.
    """

    n_bytes: int
    parents: tuple["Tensor", ...] = ()
    view_of: "Tensor | None" = None
    may_replace_parent: bool = False
    is_output: bool = False
    is_external: bool = False
    is_weight: bool = False
    is_input: bool = False
    n_batch: int = 0
    place: Place | None = None
    op: Op = Op.NONE
    writes: "Tensor | None" = None

    @property
    def root(self) -> "Tensor":
        """Whose memory it is."""
        return self.writes or self.view_of or self


class Graph:
    """Built node by node in the order in which llama.cpp computes them."""

    def __init__(self) -> None:
        self.inputs: list[Tensor] = []
        self.nodes: list[Tensor] = []

    def input(self, n_bytes: int) -> Tensor:
        """A tensor that is filled before the graph runs, such as positions or a mask. It lies in RAM."""
        tensor = Tensor(n_bytes, is_input=True, place=Place.HOST)
        self.inputs.append(tensor)
        return tensor

    def weight(self, n_bytes: int, place: Place) -> Tensor:
        """A matrix or a row of the model."""
        return Tensor(n_bytes, is_external=True, is_weight=True, place=place)

    def kept(self, n_bytes: int, place: Place) -> Tensor:
        """What is read of a KV cache or a recurrent state."""
        return Tensor(n_bytes, is_external=True, place=place)

    def op(
        self, n_bytes: int, *parents: Tensor, op: Op = Op.OTHER, is_output: bool = False, n_batch: int = 0
    ) -> Tensor:
        """A node with memory of its own, such as a matrix product."""
        return self._add(Tensor(n_bytes, parents, is_output=is_output, n_batch=n_batch, op=op))

    def inplace(self, n_bytes: int, *parents: Tensor, op: Op = Op.OTHER, n_batch: int = 0) -> Tensor:
        """A node that may be written over a parent of the same size, such as a sum or a norm."""
        return self._add(Tensor(n_bytes, parents, may_replace_parent=True, n_batch=n_batch, op=op))

    def view(self, source: Tensor, n_bytes: int | None = None) -> Tensor:
        """Another look at a tensor: a reshape, a permutation, a part."""
        root = source.view_of or source
        return self._add(Tensor(source.n_bytes if n_bytes is None else n_bytes, (source,), view_of=root, op=Op.VIEW))

    def store(self, cache: Tensor, *parents: Tensor, op: Op = Op.OTHER) -> Tensor:
        """A node that writes into a cache; what it returns lies there."""
        return self._add(Tensor(0, parents, is_external=True, place=cache.place, op=op, writes=cache))

    def _add(self, node: Tensor) -> Tensor:
        self.nodes.append(node)
        return node


def copy_of(tensor: Tensor, place: Place) -> Tensor:
    """The same content in another memory, without what it was made from."""
    return replace(
        tensor,
        parents=(),
        view_of=None,
        is_external=False,
        is_weight=False,
        is_input=False,
        place=place,
        op=Op.NONE,
        writes=None,
    )
