"""The check before every load: priced against what is free now, then let through, changed, or refused with numbers.

Whoever wants an answer passes here, window, command line and HTTP server alike. The price is asked of a child process
and the machine is sampled anew, so the check runs on a thread of its own; an expert in memory passes at once.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from layadesk.domain.errors import ErrorCode, ErrorReport, Fact, LayaDeskError
from layadesk.domain.inference import LoadParams
from layadesk.domain.load_choices import apply_choice
from layadesk.domain.memory_fit.bill import CPU
from layadesk.domain.memory_fit.machine import MachineMemory
from layadesk.domain.memory_fit.model_facts import ModelFacts
from layadesk.domain.memory_fit.plans import Other, Outlook, Plan, Resident, default_wish, with_others
from layadesk.domain.memory_fit.verdict import Judgement, Verdict, judge
from layadesk.domain.models import InstalledModel
from layadesk.domain.remote import is_remote
from layadesk.domain.worker_state import ExitKind
from layadesk.protocol.events import EngineStats, ExpertUse
from layadesk.protocol.feed import Feed
from layadesk.usecases.expert_pool import ExpertPool
from layadesk.usecases.machine_now import MachineNow
from layadesk.usecases.price_load import LoadQuestion, PriceLoad
from layadesk.workers.engine_client import EngineClient

log = logging.getLogger(__name__)

Decided = Callable[[ErrorReport | None], None]


@dataclass(frozen=True, slots=True)
class LoadOutlook:
    """What loading an expert would mean now. `is_loaded`: nothing has to be moved, and `outlook` may be missing."""

    model_id: str
    is_loaded: bool
    outlook: Outlook | None
    load_s: float | None = None

    @property
    def is_refused(self) -> bool:
        """Whether a message would be refused."""
        return not self.is_loaded and self.outlook is not None and self.outlook.automatic is None


@dataclass(frozen=True, slots=True)
class LoadChoice:
    """`params` is how an expert is loaded next, `planned` how it would be if nothing had been chosen for it.

    `is_own`: the user has. `n_layers` counts the output as one, None where the file does not say; `has_moe`: it is a
    mixture of experts.
    """

    model: InstalledModel
    params: LoadParams
    planned: LoadParams
    is_own: bool
    is_loaded: bool
    n_layers: int | None = None
    has_moe: bool = False


class LoadGate:
    """Any thread. `admit` and `look` return at once; what they find comes on the thread "load-gate".

    `outlook_feed` tells of every check, and of what changes because experts come and go.
    """

    def __init__(
        self,
        pool: ExpertPool,
        price: PriceLoad,
        machine: MachineNow,
        engine: EngineClient,
        *,
        others: Callable[[InstalledModel, LoadQuestion], Iterable[Other]] = lambda model, question: (),
        is_open: bool = False,
    ) -> None:
        self._pool = pool
        self._price = price
        self._machine = machine
        self._engine = engine
        self._others = others
        self._is_open = is_open
        self._executor = ThreadPoolExecutor(1, "load-gate")
        self._lock = threading.Lock()
        self._outlooks: dict[str, LoadOutlook] = {}
        self._waived: set[str] = set()
        self._waives_next = False
        self._use: Mapping[str, ExpertUse] = {}
        self.outlook_feed: Feed[LoadOutlook] = Feed()
        engine.stats_feed.subscribe(self._on_stats)

    def admit(self, model_id: str, decided: Decided) -> None:
        """Call `decided` with None when the expert may be asked, or with why not. Idle experts may have to go first."""
        if self._is_open or is_remote(model_id) or model_id in self._engine.loaded:
            decided(None)
            return
        try:
            self._executor.submit(self._admit, model_id, decided)
        except RuntimeError:  # the program is ending
            decided(ErrorReport(ErrorCode.ENGINE_DIED, {"kind": ExitKind.STOPPED_BY_US.value, "detail": "stopping"}))

    def look(self, model_id: str) -> Future[LoadOutlook]:
        """What loading it would mean now, without doing it."""
        return self._executor.submit(self._look, model_id)

    def choice(self, model_id: str) -> Future[LoadChoice]:
        """How it is loaded, and how it would be had nobody chosen."""
        return self._executor.submit(self._choice, model_id)

    def price_as(self, model_id: str, params: LoadParams) -> Future[Outlook]:
        """What loading it that way would take now. Fails with BAD_PARAMETER too."""
        return self._executor.submit(self._price_as, model_id, params)

    def last(self, model_id: str) -> LoadOutlook | None:
        """What the last check found; returns at once."""
        with self._lock:
            return self._outlooks.get(model_id)

    def choose(self, model_id: str, plan: Plan) -> None:
        """Load this expert that way from now on, until another way is chosen."""
        self._pool.choose_params(model_id, plan.params)
        for name in plan.evicts:
            self._engine.unload(name)
        with self._lock:
            self._outlooks.pop(model_id, None)

    def waive(self, model_id: str) -> None:
        """Load it whatever the bill says, the next time it is asked; the user knows (reported faults A04, A09)."""
        with self._lock:
            self._waived.add(model_id)

    def waive_next(self) -> None:
        """As `waive`, for whichever expert is asked next."""
        with self._lock:
            self._waives_next = True

    def obstacle(self, model_id: str) -> Mapping[str, Fact] | None:
        """Why an expert cannot be loaded, as far as the last check goes, judged against what is free now; at once."""
        known = self.last(model_id)
        if self._is_open or model_id in self._engine.loaded or known is None or known.outlook is None:
            return None
        with self._lock:
            if model_id in self._waived:
                return None
        found = known.outlook
        if found.verdict is not Verdict.REFUSE or found.automatic is not None:
            return None
        judged = judge(found.asked.bill, self._machine.last())
        return None if judged.may_load or judged.verdict is Verdict.UNKNOWN else refusal_facts(model_id, judged)

    def close(self) -> None:
        """Nothing new is checked; what waits is checked to its end, since each request must end."""
        self._executor.shutdown(wait=True)

    def _admit(self, model_id: str, decided: Decided) -> None:
        try:
            report = self._decide(model_id)
        except LayaDeskError as error:
            report = error.report
        except Exception as error:
            log.exception("the check before a load failed")
            report = ErrorReport(ErrorCode.INTERNAL, {"reason": "load check", "detail": type(error).__name__})
        decided(report)

    def _decide(self, model_id: str) -> ErrorReport | None:
        found = self._look(model_id)
        with self._lock:
            is_waived = model_id in self._waived or self._waives_next
            self._waives_next = False
            self._waived.discard(model_id)
        if found.is_loaded or found.outlook is None or is_waived:
            return None
        plan = found.outlook.automatic
        if plan is None:
            return _refusal(model_id, found.outlook)
        if plan.params != self._pool.load_params(self._pool.installed(model_id)):
            self._pool.choose_params(model_id, plan.params)
        for name in plan.evicts:
            self._engine.unload(name)
        self._pool.note_price(model_id, plan.bill.total_bytes)
        self._pool.configure_engine()
        return None

    def _look(self, model_id: str) -> LoadOutlook:
        model = self._pool.installed(model_id)
        if model_id in self._engine.loaded:
            known = self.last(model_id)
            found = LoadOutlook(model_id, True, None if known is None else known.outlook)
        else:
            question = self._question(model)
            outlook = with_others(self._price.outlook(question), self._others(model, question))
            found = LoadOutlook(model_id, False, outlook, self._pool.load_s(model))
        with self._lock:
            self._outlooks[model_id] = found
        self.outlook_feed.publish(found)
        return found

    def _question(self, model: InstalledModel) -> LoadQuestion:
        facts = self._price.facts_of(model.path)
        machine = self._machine.read()
        wish = self._pool.chosen_params(model)
        if wish is None:
            wish = apply_choice(self._planned(model, facts, machine), self._pool.own_load(model.model_id))
        return LoadQuestion(facts, model.path, wish, machine, self.residents())

    def _planned(self, model: InstalledModel, facts: ModelFacts, machine: MachineMemory) -> LoadParams:
        """How it is loaded on this machine where nobody has chosen for it."""
        usual = self._pool.usual_params(model)
        return default_wish(
            weights_bytes=facts.weights_bytes,
            machine=machine,
            n_ctx=usual.n_ctx,
            n_parallel=usual.n_parallel,
            base=usual,
        )

    def _choice(self, model_id: str) -> LoadChoice:
        model = self._pool.installed(model_id)
        facts = self._price.facts_of(model.path)
        own = self._pool.own_load(model_id)
        planned = self._planned(model, facts, self._machine.read())
        return LoadChoice(
            model,
            self._pool.chosen_params(model) or apply_choice(planned, own),
            planned,
            is_own=bool(own),
            is_loaded=model_id in self._engine.loaded,
            n_layers=len(facts.layers) + 1 if facts.layers else None,
            has_moe=facts.moe_bytes > 0,
        )

    def _price_as(self, model_id: str, params: LoadParams) -> Outlook:
        """With the memory that it holds already, where it is loaded: that comes back first."""
        question = replace(self._question(self._pool.installed(model_id)), wish=params)
        found = self._price.outlook(question)
        if model_id not in self._engine.loaded or found.asked.judgement.may_load:
            return found
        again = judge(found.asked.bill, question.machine, freed=self._bytes_of(model_id))
        return replace(found, asked=replace(found.asked, judgement=again), verdict=again.verdict)

    def residents(self) -> tuple[Resident, ...]:
        """The experts in memory, the longest unused first."""
        loaded = self._engine.loaded
        use = {name: one for name, one in self._use.items() if name in loaded}
        names = sorted(loaded, key=lambda name: -use[name].idle_s if name in use else 0.0)
        return tuple(
            Resident(name, self._bytes_of(name), name not in use or use[name].n_running + use[name].n_waiting == 0)
            for name in names
        )

    def _bytes_of(self, model_id: str) -> dict[str, int]:
        known = self.last(model_id)
        if known is not None and known.outlook is not None:
            plan = known.outlook.automatic or known.outlook.asked
            return {device.device: device.buffers_bytes for device in plan.bill.devices}
        reported = self._engine.loaded[model_id].memory.total_bytes
        return {} if reported is None else {CPU: reported}

    def _on_stats(self, stats: EngineStats) -> None:
        self._use = {one.model_id: one for one in stats.experts}


def _refusal(model_id: str, outlook: Outlook) -> ErrorReport:
    judged = outlook.asked.judgement
    code = ErrorCode.LOAD_PRICE_UNKNOWN if judged.verdict is Verdict.UNKNOWN else ErrorCode.LOAD_REFUSED
    return ErrorReport(code, refusal_facts(model_id, judged))


def refusal_facts(model_id: str, judged: Judgement) -> dict[str, Fact]:
    """Three numbers and the largest item, of the device that decides (reported fault A34)."""
    worst = judged.worst
    return {
        "expert": model_id,
        "device": worst.device,
        "needs_bytes": worst.needed_bytes,
        "free_bytes": worst.available_bytes,
        "reserve_bytes": worst.reserve_bytes,
        "missing_bytes": worst.missing_bytes,
        "item": worst.largest.value,
        "item_bytes": worst.largest_bytes,
    }
