"""Which experts are in memory, which are on their way, and which brought the engine down on their way."""

from collections.abc import Mapping
from types import MappingProxyType

from layadesk.domain.errors import ErrorCode
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.protocol.events import Failed, Loading, ModelLoaded, ModelLoading, ModelUnloaded

_SAYS_NOTHING = frozenset({ErrorCode.QUEUE_FULL, ErrorCode.DUPLICATE_REQUEST})


class LoadWatch:
    """Written on the client thread, `want` excepted; may be read from any, since the mappings are only replaced."""

    def __init__(self) -> None:
        self.loaded: Mapping[str, LoadedModel] = MappingProxyType({})
        self._wanted: Mapping[str, ExpertSpec] = {}
        self._sent: Mapping[str, ExpertSpec] = {}
        self._suspects: Mapping[str, ExpertSpec] = {}
        self._loading: set[str] = set()

    @property
    def is_loading(self) -> bool:
        """Whether an expert is on its way into memory."""
        return bool(self._loading)

    def spec(self, model_id: str) -> ExpertSpec | None:
        """With which file and parameters the engine was told to load an expert."""
        return self._sent.get(model_id)

    def want(self, experts: tuple[ExpertSpec, ...]) -> None:
        """Note the parameters each expert shall have; from now on `is_suspect` is about these. Any thread."""
        self._wanted = {spec.model_id: spec for spec in experts}

    def sent(self, experts: tuple[ExpertSpec, ...]) -> None:
        """Note the parameters with which the engine now loads."""
        self._sent = {spec.model_id: spec for spec in experts}

    def is_suspect(self, model_id: str) -> bool:
        """Whether the engine died while it loaded this expert with the file and parameters it is to have now."""
        suspect = self._suspects.get(model_id)
        return suspect is not None and suspect == self._wanted.get(model_id)

    def clear_suspect(self, model_id: str) -> None:
        """Give it another chance."""
        self._suspects = {key: spec for key, spec in self._suspects.items() if key != model_id}

    def take(self, event: ModelLoading | ModelLoaded | ModelUnloaded | Loading) -> None:
        """Follow one event."""
        match event:
            case ModelLoading(model_id=model_id) | Loading(model_id=model_id):
                if model_id not in self.loaded:
                    self._loading.add(model_id)
            case ModelLoaded(loaded=loaded):
                self._loading.discard(loaded.model_id)
                self.loaded = MappingProxyType({**self.loaded, loaded.model_id: loaded})
            case ModelUnloaded(model_id=model_id):
                self._loading.discard(model_id)
                self.loaded = MappingProxyType({key: one for key, one in self.loaded.items() if key != model_id})

    def take_failure(self, event: Failed, model_id: str | None) -> None:
        """A load that failed in words is over: the engine lives, so nothing is suspect."""
        if model_id is not None and event.error.code not in _SAYS_NOTHING:
            self._loading.discard(model_id)

    def assume_load(self, *model_ids: str) -> None:
        """The engine crashed while nothing was asked of it but these, before it could say that it loads one: it did.

        A crash in the first millisecond of a load takes the word of that load with it.
        """
        if not self._loading:
            self._loading = {model_id for model_id in model_ids if model_id not in self.loaded}

    def engine_died(self, *, by_itself: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Nothing is loaded any more; returns what was, and what was being loaded, which is suspect from now on."""
        lost, dropped = tuple(self.loaded), tuple(sorted(self._loading))
        if by_itself:
            fallen = {model_id: self._sent[model_id] for model_id in dropped if model_id in self._sent}
            self._suspects = {**self._suspects, **fallen}
        self.loaded = MappingProxyType({})
        self._loading = set()
        return lost, dropped
