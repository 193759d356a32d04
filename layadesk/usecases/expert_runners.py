"""Who makes an expert's answer: the engine for those on this disk, the remote client for those elsewhere."""

from collections.abc import Callable, Mapping
from typing import Protocol

from layadesk.domain.models import LoadedModel
from layadesk.domain.remote import is_remote
from layadesk.protocol.commands import Generate
from layadesk.protocol.events import RequestEvent


class Runner(Protocol):
    """Every request it is given ends in exactly one Finished or Failed. Any thread; returns at once."""

    def generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        """Have a request answered; `on_event` gets its events on the runner's own thread."""

    def cancel(self, request_id: str) -> None:
        """End a request early; silent for ids that are unknown or have ended."""


class Engine(Runner, Protocol):
    """The runner of local experts, which may have to be loaded first."""

    @property
    def loaded(self) -> Mapping[str, LoadedModel]:
        """The experts in memory by model id."""


class ExpertRunners:
    """Itself a runner: whoever asks need not know where an expert runs."""

    def __init__(self, engine: Engine, remote: Runner | None = None) -> None:
        """`remote` None: there are no remote experts."""
        self._engine = engine
        self._remote = remote

    def generate(self, request: Generate, on_event: Callable[[RequestEvent], None]) -> None:
        """As Runner."""
        self._runner_of(request.model_id).generate(request, on_event)

    def cancel(self, request_id: str) -> None:
        """As Runner."""
        self._engine.cancel(request_id)
        if self._remote is not None:
            self._remote.cancel(request_id)

    def is_ready(self, model_id: str) -> bool:
        """Whether it could begin at once: it is in memory, or needs none here."""
        return is_remote(model_id) or model_id in self._engine.loaded

    def _runner_of(self, model_id: str) -> Runner:
        return self._remote if self._remote is not None and is_remote(model_id) else self._engine
