"""For people who measure: a router opened from its files, with tokenising and forward pass apart.

from layadesk.router import Router
router = Router.from_pretrained("bundled")
inputs = router.tokenize("write a haiku")
scores = router.forward(inputs)
"""

from pathlib import Path
from typing import Final

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.routing import RouterAnswer
from layadesk.paths import assets_dir
from layadesk.router.bundled import BUNDLED, BundledRouter
from layadesk.router.network import Floats, Network
from layadesk.router.pieces import Pieces, cut
from layadesk.router.reading import read

_CPU: Final = ("cpu", None)


class Router:
    """A router of the bundled kind: `bundled`, or a directory with `router.npz` and `router.json`. CPU only."""

    def __init__(self, model: BundledRouter) -> None:
        self._model = model

    @classmethod
    def from_pretrained(cls, name_or_dir: str | Path, device: str | None = None) -> "Router":
        """Open it. Raises ROUTER_MODEL_MISSING, ROUTER_MODEL_DAMAGED; BAD_PARAMETER for a device other than the CPU."""
        if device not in _CPU:
            raise fail(ErrorCode.BAD_PARAMETER, parameter="device", value=device)
        directory = assets_dir() / "router" if str(name_or_dir) == BUNDLED else Path(name_or_dir)
        return cls(BundledRouter(directory))

    @property
    def network(self) -> Network:
        """The weights."""
        return self._model.network

    def tokenize(self, text: str) -> Pieces:
        """Read and cut."""
        return cut(read(text))

    def forward(self, inputs: Pieces) -> Floats:
        """Scores before temperature and softmax: twelve tasks, then nine domains."""
        return self._model.network.forward(inputs)

    def gates(self, inputs: Pieces) -> Floats:
        """How much each sentence counted."""
        return self._model.network.gates(inputs)

    def answer(self, text: str) -> RouterAnswer:
        """All of it, as the program gets it."""
        return self._model.answer(text, ())
