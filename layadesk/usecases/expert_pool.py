"""The experts the router may choose, and how each is loaded; keeps the engine's list equal to the inventory."""

from layadesk.domain.errors import ErrorCode, fail
from layadesk.domain.inference import LoadParams, SamplingParams
from layadesk.domain.models import ExpertSpec, InstalledModel, Origin
from layadesk.domain.routing import OutReason, PoolExpert
from layadesk.model_library.inventory import Inventory
from layadesk.settings import definitions
from layadesk.settings.settings import Settings
from layadesk.workers.engine_client import EngineClient


class ExpertPool:
    """The pool as the route policy and the engine see it. Any thread."""

    def __init__(self, inventory: Inventory, settings: Settings, engine: EngineClient) -> None:
        self._inventory = inventory
        self._settings = settings
        self._engine = engine

    def candidates(self) -> tuple[PoolExpert, ...]:
        """Every installed expert, in the order of choice: the default, then the user's own, then the starter."""
        default = self._settings.get(definitions.DEFAULT_EXPERT)
        loaded = self._engine.loaded
        return tuple(
            PoolExpert(
                model.model_id,
                is_default=model.model_id == default,
                is_loaded=model.model_id in loaded,
                out=self._obstacle(model),
            )
            for model in sorted(self._inventory.list(), key=_order_of_choice)
        )

    def _obstacle(self, model: InstalledModel) -> OutReason | None:
        if not model.is_present:
            return OutReason.FILE_MISSING
        if self._engine.is_suspect(model.model_id):
            return OutReason.SUSPECT
        return None

    def installed(self, model_id: str) -> InstalledModel:
        """The installed model with this id; UNKNOWN_EXPERT otherwise."""
        models = self._inventory.list()
        for model in models:
            if model.model_id == model_id:
                return model
        raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id, known=", ".join(m.model_id for m in models))

    def configure_engine(self) -> None:
        """Tell the engine which experts there are; cheap, so it is done before every request."""
        models = [model for model in self._inventory.list() if model.is_present]
        self._engine.configure(tuple(ExpertSpec(m.model_id, m.path, self.load_params(m)) for m in models))

    def load_params(self, model: InstalledModel) -> LoadParams:
        """The load settings, with a context no longer than the expert was trained for."""
        n_ctx = self._settings.get(definitions.N_CTX)
        if model.n_ctx_train is not None:
            n_ctx = min(n_ctx, model.n_ctx_train)
        return LoadParams(
            n_ctx=n_ctx,
            n_gpu_layers=self._settings.get(definitions.N_GPU_LAYERS),
            n_threads=self._settings.get(definitions.N_THREADS),
            n_parallel=self._settings.get(definitions.N_PARALLEL),
        )

    def sampling(self) -> SamplingParams:
        """The sampling settings; a `max_tokens` of 0 there means no ceiling."""
        return SamplingParams(
            temperature=self._settings.get(definitions.TEMPERATURE),
            top_k=self._settings.get(definitions.TOP_K),
            top_p=self._settings.get(definitions.TOP_P),
            min_p=self._settings.get(definitions.MIN_P),
            repeat_penalty=self._settings.get(definitions.REPEAT_PENALTY),
            max_tokens=self._settings.get(definitions.MAX_TOKENS) or None,
        )


def _order_of_choice(model: InstalledModel) -> tuple[bool, float]:
    return (model.origin is Origin.STARTER, -model.installed_at)
