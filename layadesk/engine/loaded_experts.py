"""Which experts are in memory, which comes next, and which has to go for it."""

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import replace

from layadesk.domain.errors import ErrorCode, ErrorReport, LayaDeskError, fail
from layadesk.domain.models import ExpertSpec, LoadedModel
from layadesk.engine.cell_keeper import CellKeeper
from layadesk.engine.expert_runner import ExpertRunner
from layadesk.engine.model_loader import LoadEnded, ModelLoader
from layadesk.engine.moe_watch import MoeWatch
from layadesk.engine.request_events import RequestEvents
from layadesk.engine.residency import Limits, Resident, serves, who_goes
from layadesk.protocol.events import EngineEvent, Failed, ModelLoaded, ModelLoading, ModelUnloaded

log = logging.getLogger(__name__)

MAX_LOADED = 2


class LoadedExperts:
    """Experts by model id. Decode thread; the loading itself is `model_loader.py`.

    Where one more is wanted than the limits allow, the least recently used idle one goes; where none is idle, the least
    recently used takes no new requests and goes when its last one has ended (`residency.py`).
    """

    def __init__(
        self,
        loader: ModelLoader,
        put: Callable[[EngineEvent], None],
        events: RequestEvents,
        moe: MoeWatch,
        *,
        clock: Callable[[], float],
        refused: Callable[[str, ErrorReport], None],
        keeper: CellKeeper | None = None,
    ) -> None:
        self._keeper = keeper
        self._refused = refused
        self._loader = loader
        self._put = put
        self._events = events
        self._moe = moe
        self._clock = clock
        self._limits = Limits(MAX_LOADED)
        self._specs: dict[str, ExpertSpec] = {}
        self._wanted: list[str] = []
        self._asked_for: set[str] = set()  # by LoadModel: wanted even if no request waits, and told when it fails
        self._unload_asked: set[str] = set()
        self._loading_spec: ExpertSpec | None = None
        self.loading: str | None = None
        self.runners: dict[str, ExpertRunner] = {}

    def configure(self, experts: Iterable[ExpertSpec], limits: Limits) -> list[str]:
        """Take the list of what may be loaded; returns the ids in use or wanted that are no longer on it.

        An expert whose file or parameters have changed answers what it has begun, goes, and comes back when asked. One
        with a larger context than is wanted now stays.
        """
        self._limits = limits
        self._specs = {spec.model_id: spec for spec in experts}
        for runner in self.runners.values():
            spec = self._specs.get(runner.model_id)
            if spec is None or not serves(runner.spec, spec):
                runner.is_leaving = True
            else:
                runner.spec = replace(spec, params=runner.spec.params)
        if self.loading is not None and not self._is_still_wanted(self._loading_spec):
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

    def forget_conversation(self, conversation_id: str) -> None:
        """Keep nothing that was computed for it, neither in memory nor on disk."""
        for runner in self.runners.values():
            runner.kept.forget(conversation_id)
        if self._keeper is not None:
            self._keeper.forget(conversation_id)

    def is_busy(self, model_id: str) -> bool:
        """Whether it is being loaded, waited for or answering."""
        runner = self.runners.get(model_id)
        return model_id in (self.loading, *self._wanted) or (runner is not None and not runner.is_idle)

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
            if runner.is_idle and (runner.is_leaving or self._is_forgotten(runner)):
                self._close(runner)
        while self.loading is None and self._wanted:
            model_id = self._wanted[0]
            if model_id not in self._specs:
                self._wanted.pop(0)
                continue
            try:
                if model_id in self.runners or not self._make_place(self._specs[model_id]):
                    return
            except LayaDeskError as refusal:
                self._refuse(model_id, refusal.report)
                continue
            self._wanted.pop(0)
            self.loading = model_id
            self._loading_spec = self._specs[model_id]
            self._put(ModelLoading(model_id, 0.0))
            self._loader.start(self._loading_spec)

    @property
    def next_due(self) -> float | None:
        """When the next idle expert goes by itself, by the clock; None where none does."""
        keep_alive_s = self._limits.keep_alive_s
        if keep_alive_s is None:
            return None
        return min((one.last_used + keep_alive_s for one in self.runners.values() if one.is_idle), default=None)

    def ended(self, end: LoadEnded) -> ErrorReport | None:
        """Take the result of a load; returns the error its waiting requests must hear of."""
        model_id = end.spec.model_id
        self.loading = None
        was_asked_for = model_id in self._asked_for
        if end.expert is not None:
            self._asked_for.discard(model_id)
            self._take_in(end)
        elif end.error is not None:
            if model_id in self._specs and not self._is_still_wanted(end.spec):
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
            end.spec, end.expert, self._events, self._moe, clock=self._clock, load_s=end.seconds, keeper=self._keeper
        )
        runner.is_leaving = not self._is_still_wanted(end.spec) or model_id in self._unload_asked
        self.runners[model_id] = runner
        if model_id in self._wanted and not runner.is_leaving:
            self._wanted.remove(model_id)
        log.info("loaded %s in %.1f s", model_id, end.seconds)
        self._put(ModelLoaded(_describe(runner)))

    def _make_place(self, spec: ExpertSpec) -> bool:
        """Let go who has to; whether there is room now. Raises OUT_OF_MEMORY."""
        residents = [
            Resident(one.model_id, one.size_bytes, one.last_used, one.is_idle) for one in self.runners.values()
        ]
        going = who_goes(residents, _needs(spec), self._limits, expert=spec.model_id)
        if all(one.is_idle for one in going):
            for one in going:
                self._close(self.runners[one.model_id])
            return True
        if not any(runner.is_leaving for runner in self.runners.values()):
            for one in going:
                self.runners[one.model_id].is_leaving = True
        return False

    def _refuse(self, model_id: str, error: ErrorReport) -> None:
        self._wanted.remove(model_id)
        log.warning("no room for %s: %s", model_id, error.facts)
        if model_id in self._asked_for:
            self._asked_for.discard(model_id)
            self._put(Failed(None, error, model_id))
        self._refused(model_id, error)

    def _is_still_wanted(self, spec: ExpertSpec | None) -> bool:
        wanted = None if spec is None else self._specs.get(spec.model_id)
        return spec is not None and wanted is not None and serves(spec, wanted)

    def _is_forgotten(self, runner: ExpertRunner) -> bool:
        keep_alive_s = self._limits.keep_alive_s
        is_wanted = runner.model_id in self._wanted
        return keep_alive_s is not None and not is_wanted and self._clock() - runner.last_used >= keep_alive_s

    def _close(self, runner: ExpertRunner) -> None:
        del self.runners[runner.model_id]
        runner.close()
        log.info("unloaded %s", runner.model_id)
        self._put(ModelUnloaded(runner.model_id))


def _needs(spec: ExpertSpec) -> int | None:
    """What an expert will take: its price, or at least its file."""
    if spec.needs_bytes is not None:
        return spec.needs_bytes
    try:
        return os.path.getsize(spec.path)
    except OSError:
        return None  # the load itself will say why


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
        thinking=runner.prompts.switches,
        measure=facts.measure,
        moe=facts.moe,
    )
