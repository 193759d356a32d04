"""Which experts are in memory, which comes next, and which has to go for it."""

import logging
from collections.abc import Callable, Iterable

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.engine.cell_keeper import CellKeeper
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.model_loader import LoadEnded, ModelLoader
from layadesk.engine.request_events import RequestEvents
from layadesk.protocol.events import EngineEvent, Failed, ModelLoaded, ModelLoading, ModelUnloaded

log = logging.getLogger(__name__)

MAX_LOADED = 2


class LoadedExperts:
    """Experts by model id. Decode thread; the loading itself is `model_loader.py`.

    At most `n_max` are in memory. Where one more is wanted, the least recently used idle one goes; where none is idle,
    the least recently used takes no new requests and goes when its last one has ended. Memory, not number, will decide
    this later; everything about the choice is in `_make_place`.
    """

    def __init__(
        self,
        loader: ModelLoader,
        put: Callable[[EngineEvent], None],
        events: RequestEvents,
        *,
        clock: Callable[[], float],
        n_max: int = MAX_LOADED,
        keeper: CellKeeper | None = None,
    ) -> None:
        self._keeper = keeper
        self._loader = loader
        self._put = put
        self._events = events
        self._clock = clock
        self._n_max = n_max
        self._specs: dict[str, ExpertSpec] = {}
        self._wanted: list[str] = []
        self._asked_for: set[str] = set()  # by LoadModel: wanted even if no request waits, and told when it fails
        self._unload_asked: set[str] = set()
        self._loading_spec: ExpertSpec | None = None
        self.loading: str | None = None
        self.runners: dict[str, ExpertRunner] = {}

    def configure(self, experts: Iterable[ExpertSpec]) -> list[str]:
        """Take the list of what may be loaded; returns the ids in use or wanted that are no longer on it.

        An expert whose file or parameters have changed answers what it has begun, goes, and comes back when asked.
        """
        self._specs = {spec.model_id: spec for spec in experts}
        for runner in self.runners.values():
            if self._specs.get(runner.model_id) != runner.spec:
                runner.is_leaving = True
        if self.loading is not None and self._specs.get(self.loading) != self._loading_spec:
            self._loader.cancel()
            if self.loading in self._specs:
                self.want(self.loading)
        in_use = [*self.runners, *self._wanted, *([self.loading] if self.loading is not None else [])]
        return [model_id for model_id in dict.fromkeys(in_use) if model_id not in self._specs]

    def check_known(self, model_id: str) -> None:
        """Raise UNKNOWN_EXPERT for what is not configured."""
        if model_id not in self._specs:
            raise fail(ErrorCode.UNKNOWN_EXPERT, expert=model_id, known=", ".join(sorted(self._specs)))

    def usable(self, model_id: str) -> ExpertRunner | None:
        """The expert, if it is in memory and takes requests."""
        runner = self.runners.get(model_id)
        return None if runner is None or runner.is_leaving else runner

    def want(self, model_id: str) -> None:
        """A request waits for this expert."""
        is_coming = self.loading == model_id and not self._loader.is_cancelled
        if not is_coming and model_id not in self._wanted and self.usable(model_id) is None:
            self._wanted.append(model_id)

    def unwant(self, model_id: str) -> None:
        """No request waits for it any more: a load that has begun is called off, unless it was asked for by command."""
        if model_id in self._asked_for:
            return
        if model_id in self._wanted:
            self._wanted.remove(model_id)
        if self.loading == model_id:
            self._loader.cancel()

    def load(self, model_id: str) -> None:
        """The command LoadModel; told again for what is loaded already."""
        runner = self.usable(model_id)
        if runner is not None:
            self._put(ModelLoaded(_describe(runner)))
            return
        try:
            self.check_known(model_id)
        except LayaDeskError as refusal:
            self._put(Failed(None, refusal.report, model_id))
            return
        self._asked_for.add(model_id)
        self.want(model_id)

    def unload(self, model_id: str) -> None:
        """The command UnloadModel, or an expert that is no longer configured. Its requests have been cancelled."""
        self._asked_for.discard(model_id)
        self.unwant(model_id)
        runner = self.runners.get(model_id)
        if runner is not None:
            runner.is_leaving = True
        elif self.loading == model_id:
            self._unload_asked.add(model_id)
        else:
            self._put(ModelUnloaded(model_id))

    def advance(self) -> None:
        """Free what may go, and begin the next load. After every change; cheap when there is nothing to do."""
        for runner in list(self.runners.values()):
            if runner.is_leaving and runner.is_idle:
                self._close(runner)
        while self.loading is None and self._wanted:
            model_id = self._wanted[0]
            if model_id not in self._specs:
                self._wanted.pop(0)
                continue
            if model_id in self.runners or not self._make_place():
                return
            self._wanted.pop(0)
            self.loading = model_id
            self._loading_spec = self._specs[model_id]
            self._put(ModelLoading(model_id, 0.0))
            self._loader.start(self._loading_spec)

    def ended(self, end: LoadEnded) -> ErrorReport | None:
        """Take the result of a load; returns the error its waiting requests must hear of."""
        model_id = end.spec.model_id
        self.loading = None
        was_asked_for = model_id in self._asked_for
        if end.expert is not None:
            self._asked_for.discard(model_id)
            self._take_in(end)
        elif end.error is not None:
            if self._specs.get(model_id, end.spec) != end.spec:
                return None  # of a file or parameters that are no longer in use; the load of the new ones follows
            self._asked_for.discard(model_id)
            log.warning("load of %s failed: %s %s", model_id, end.error.code, end.error.facts)
            if was_asked_for:
                self._put(Failed(None, end.error, model_id))
        if end.expert is None and model_id in self._unload_asked:
            self._put(ModelUnloaded(model_id))
        self._unload_asked.discard(model_id)
        return end.error

    def close_all(self) -> None:
        """Free everything, at the end of the process."""
        for runner in list(self.runners.values()):
            self._close(runner)

    def _take_in(self, end: LoadEnded) -> None:
        assert end.expert is not None
        model_id = end.spec.model_id
        runner = ExpertRunner(
            end.spec, end.expert, self._events, clock=self._clock, load_s=end.seconds, keeper=self._keeper
        )
        runner.is_leaving = self._specs.get(model_id) != end.spec or model_id in self._unload_asked
        self.runners[model_id] = runner
        if model_id in self._wanted and not runner.is_leaving:
            self._wanted.remove(model_id)
        log.info("loaded %s in %.1f s", model_id, end.seconds)
        self._put(ModelLoaded(_describe(runner)))

    def _make_place(self) -> bool:
        if len(self.runners) < self._n_max:
            return True
        by_age = sorted(self.runners.values(), key=lambda runner: runner.last_used)
        for runner in by_age:
            if runner.is_idle:
                self._close(runner)
                return True
        if not any(runner.is_leaving for runner in by_age):
            by_age[0].is_leaving = True
        return False

    def _close(self, runner: ExpertRunner) -> None:
        del self.runners[runner.model_id]
        runner.close()
        log.info("unloaded %s", runner.model_id)
        self._put(ModelUnloaded(runner.model_id))


def _describe(runner: ExpertRunner) -> LoadedModel:
    facts = runner.expert.facts
    return LoadedModel(
        model_id=runner.model_id,
        architecture=facts.architecture,
        n_ctx=facts.n_ctx,
        n_ctx_train=facts.n_ctx_train,
        n_layer=facts.n_layer,
        n_gpu_layers=facts.n_gpu_layers,
        n_vocab=facts.n_vocab,
        n_parallel=facts.n_parallel,
        load_ms=runner.load_s * 1000,
        template=runner.prompts.template_name,
        memory=facts.memory,
    )
