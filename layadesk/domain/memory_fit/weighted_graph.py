"""A graph whose products and norms know their matrices and rows, and where these lie."""

from dataclasses import dataclass

from layadesk.domain.memory_fit.graph import Graph, Op, Place, Tensor
from layadesk.domain.memory_fit.model_facts import LayerFacts


@dataclass(frozen=True, slots=True)
class Placement:
    """Which layers lie in RAM: the first `n_host`, and of the first `n_cpu_moe` at least the MoE experts."""

    n_host: int = 0
    n_cpu_moe: int = 0
    backend: str | None = None  # of the GPU; None: everything lies in RAM

    @property
    def has_gpu(self) -> bool:
        """Whether anything lies on a GPU."""
        return self.backend is not None

    def of_layer(self, number: int) -> Place:
        """Where a layer's weights and cache lie."""
        return Place.GPU if self.has_gpu and number >= self.n_host else Place.HOST

    def of_moe(self, number: int) -> Place:
        """Where its MoE experts lie."""
        return Place.HOST if number < self.n_cpu_moe else self.of_layer(number)

    @property
    def of_output(self) -> Place:
        """Where the output's matrix lies: on the GPU as soon as anything does."""
        return Place.GPU if self.has_gpu else Place.HOST


@dataclass(frozen=True, slots=True)
class PlacedLayer:
    """A layer, and where its weights and those of its MoE experts lie."""

    facts: LayerFacts
    place: Place
    moe_place: Place


class WeightedGraph(Graph):
    """`n_embd` is the width of the residual stream, that of a row where nothing else is said."""

    def __init__(self, n_embd: int) -> None:
        super().__init__()
        self._n_embd = n_embd

    def product(
        self, layer: PlacedLayer, name: str, n_out: int, x: Tensor, n_in: int = 0, *, n_sequences: int = 1
    ) -> Tensor:
        """`x`, rows of `n_in` elements in `n_sequences` batches, times a matrix of the layer."""
        n_in = n_in or self._n_embd
        n_rows = x.n_bytes // (4 * n_in)
        weight = self.weight(layer.facts.matrix_bytes(name, n_in * n_out), layer.place)
        return self.op(4 * n_out * n_rows, weight, x, op=Op.MUL_MAT, n_batch=n_rows // n_sequences)

    def scaled(self, x: Tensor, place: Place, n_row: int = 0, *, op: Op = Op.MUL) -> Tensor:
        """`x` times, or plus, a row of the model."""
        n_row = n_row or self._n_embd
        return self.inplace(x.n_bytes, x, self.weight(4 * n_row, place), op=op, n_batch=x.n_bytes // (4 * n_row))

    def norm(self, x: Tensor, place: Place, n_row: int = 0) -> Tensor:
        """The root-mean-square norm with its weights."""
        return self.scaled(self.inplace(x.n_bytes, x, op=Op.RMS_NORM), place, n_row)
