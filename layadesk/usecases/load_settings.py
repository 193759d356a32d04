"""How each expert is loaded: what the planner would choose, what the user has chosen instead, and what either costs."""

from concurrent.futures import Future

from layadesk.domain.inference import LoadParams
from layadesk.domain.load_choices import choice_between
from layadesk.domain.memory_fit.plans import Outlook
from layadesk.domain.models import InstalledModel
from layadesk.protocol.feed import Feed
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.futures import then
from layadesk.usecases.load_gate import LoadChoice, LoadGate


class LoadSettings:
    """Any thread; returns at once. Prices come from the one planner, on the thread of the load check.

    `changed` carries the id of an expert for which something was chosen or taken back.
    """

    def __init__(self, pool: ExpertPool, gate: LoadGate) -> None:
        self._pool = pool
        self._gate = gate
        self.changed: Feed[str] = Feed()

    def experts(self) -> tuple[tuple[InstalledModel, bool], ...]:
        """Those whose file is there, and whether something was chosen for each."""
        return tuple((model, bool(self._pool.own_load(model.model_id))) for model in self._pool.present())

    def of(self, model_id: str) -> Future[LoadChoice]:
        """How one expert is loaded. Fails with UNKNOWN_EXPERT, GGUF_* and MODEL_FILE_* errors."""
        return self._gate.choice(model_id)

    def price(self, model_id: str, params: LoadParams) -> Future[Outlook]:
        """What loading it that way would take now, without doing it. Fails with BAD_PARAMETER too."""
        return self._gate.price_as(model_id, params)

    def keep(self, model_id: str, params: LoadParams) -> Future[None]:
        """Load it that way from the next load on; only what differs from the planner's own choice is kept."""
        return then(self.of(model_id), lambda found: self._keep(found, params))

    def reset(self, model_id: str) -> None:
        """Leave it to the planner again."""
        self._pool.keep_load(model_id, {})
        self.changed.publish(model_id)

    def _keep(self, found: LoadChoice, params: LoadParams) -> None:
        self._pool.keep_load(found.model.model_id, choice_between(params, found.planned))
        self.changed.publish(found.model.model_id)
